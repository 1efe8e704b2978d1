"""Pages for students and instructors: the report of one submission, and the page about a class."""
