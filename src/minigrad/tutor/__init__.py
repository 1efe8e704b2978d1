"""Help for a student at work: graded hints, and the record of what has been checked so far."""
