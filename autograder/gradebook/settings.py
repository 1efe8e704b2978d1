"""nbgrader's own configuration of a course, and the gradebook that it names; nothing is run."""

from __future__ import annotations

import logging
from contextlib import chdir
from pathlib import Path
from typing import Any

from autograder.course import Course


def load_app(root: Path, assignment: str) -> Any:
    """nbgrader's own program with a course's configuration, before it does anything."""
    from nbgrader.apps import AutogradeApp  # loads the database library, which not every command needs

    with chdir(root):
        app = AutogradeApp()
        app.initialize(["--assignment", assignment])
    return app


def quiet(app: Any) -> Any:
    """nbgrader's converter, which decides on penalties, without a line in the log for each."""
    from nbgrader.converters import Autograde

    converter = Autograde(coursedir=app.coursedir, parent=app)
    converter.log = logging.getLogger("autograder.penalties")
    return converter


def has_gradebook(course: Course, url: str) -> bool:
    """Return whether a gradebook is there; of a server's that is not known before it is asked."""
    return not url.startswith("sqlite:///") or (course.directory / url.removeprefix("sqlite:///")).is_file()


def gradebook_url(course: Course) -> str:
    """Return the gradebook's address from nbgrader's configuration of a course."""
    return str(load_app(course.directory, next(iter(course.assignments))).coursedir.db_url)
