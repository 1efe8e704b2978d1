"""Helpers that every room of the grader uses: files written aside, bounded effort, Python text, wording."""
