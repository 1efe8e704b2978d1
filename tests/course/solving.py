"""Notebooks with right answers typed in, and what is put beside them to hurry them."""

import re

import nbformat

from autograder.building.slicing import slice_exercise

HURRIED = """
import time

def hurried(clock=time.perf_counter):
    return 60.0 * clock()

time.perf_counter = hurried
"""
"""A clock by which the lessons' trainings, which end after so many seconds, end early."""


def solved(course, lesson, left_out=()):
    """Return a lesson's notebook with the right answers typed in."""
    notebook = nbformat.read(course.notebooks / f"{lesson}.ipynb", as_version=4)
    for cell in notebook.cells:
        placed = re.match(r"# exercise: (\S+)\n", cell.source)
        if placed and placed[1] not in left_out:
            cell.source = slice_exercise(course, placed[1]).reference_cell
    return notebook


def cells(*sources):
    """Code cells."""
    return [nbformat.v4.new_code_cell(source) for source in sources]
