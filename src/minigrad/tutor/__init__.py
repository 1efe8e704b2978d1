"""Help for a student at work: graded hints, and the record of earlier checks."""
