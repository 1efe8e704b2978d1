"""The commands of `minigrad`, by theme; what is heavy is imported by the command that needs it."""
