"""The instructor's commands, a file for each kind of question that they answer."""
