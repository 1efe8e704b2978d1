"""What feedback pages show of reports: the latest, as students may see it on the day when the page is made.

The autograded notebook holds the whole report, for Formgrader. `nbgrader generate_feedback` goes through
`CurrentReports`, which takes each report from the ledger, so that examples appear when their day has come, and marks
that were changed later with their reasons, without grading again.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course import Course, load_course
from autograder.examples import released
from autograder.ledger import read_entry
from autograder.nbgrader_hooks import fill
from autograder.report import EXAMPLE_BEGINS, EXAMPLE_ENDS

__all__ = ["CurrentReports"]

_EXAMPLE = re.compile(f"{re.escape(EXAMPLE_BEGINS)}.*?{re.escape(EXAMPLE_ENDS)}", re.DOTALL)


class CurrentReports(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader ships no types
    """Puts the ledger's reports into an autograded notebook that becomes a feedback page."""

    def preprocess(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any]
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        """Renew the reports of one notebook."""
        root, names = Path(self.parent.parent.coursedir.root), resources["nbgrader"]
        course, today = load_course(root, tree=False), dt.date.today()
        entry = read_entry(root, names["student"], names["assignment"], names["notebook"])
        if entry is not None:
            fill(nb, released(entry.submission, course, today), course)
        elif _wait(course, names["assignment"], today):
            _drop_examples(nb)
        return nb, resources


def _wait(course: Course, assignment: str, today: dt.date) -> bool:
    opens = course.assignments[assignment].examples_open
    return opens is not None and today < opens


def _drop_examples(notebook: nbformat.NotebookNode) -> None:
    """Take the examples out of reports of which the ledger knows nothing."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if EXAMPLE_BEGINS in data.get("text/html", ""):
                data["text/html"] = _EXAMPLE.sub("", data["text/html"])
                data.pop("text/plain", None)
