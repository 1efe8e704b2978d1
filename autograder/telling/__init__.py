"""What students and instructors read: the report of one submission, and the page about a class."""
