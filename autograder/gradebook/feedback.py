"""Reports on feedback pages: the latest ones, as students may see them on the day when the page is made.

The autograded notebook holds the whole report, for Formgrader. `nbgrader generate_feedback` goes through
`CurrentReports`, which takes each report from the ledger, so that examples appear when their day has come, and marks
that were changed later with their reasons, without grading again. At its top a page lists the exercises, in place of
nbgrader's list of test cells without names.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.course import Course
from autograder.gradebook.blueprints import NO_RESPONSE
from autograder.gradebook.nbgrader_hooks import fill
from autograder.grafting.tidying import course_of
from autograder.judging.examples import released
from autograder.results import Submission
from autograder.results.ledger import read_entry
from autograder.telling.report import EXAMPLE_BEGINS, EXAMPLE_ENDS, contents

__all__ = ["Contents", "CurrentReports"]

_EXAMPLE = re.compile(f"{re.escape(EXAMPLE_BEGINS)}.*?{re.escape(EXAMPLE_ENDS)}", re.DOTALL)


class CurrentReports(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader ships no types
    """Puts the ledger's reports into an autograded notebook that becomes a feedback page."""

    # nbconvert configures this trait of every preprocessor, and nbgrader's base class does not say that it may.
    display_data_priority = List(NbGraderPreprocessor.display_data_priority.default()).tag(config=True)

    def preprocess(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any]
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        """Renew the reports of one notebook."""
        root, names = Path(self.parent.parent.coursedir.root), resources["nbgrader"]
        course, today = course_of(root), dt.date.today()
        entry = read_entry(root, names["student"], names["assignment"], names["notebook"])
        if entry is not None:
            shown = released(entry.submission, course, today)
            fill(nb, shown, course)
            _drop_numbers(nb)
            names["shown"] = shown
        else:
            assignment = course.assignments[names["assignment"]]
            if _waits(assignment.quotes_open, today):
                _drop_reports(nb, assignment.quotes_open)
            elif _waits(assignment.examples_open, today):
                _drop_examples(nb)
        return nb, resources


class Contents(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader ships no types
    """Lists the exercises at the top of a feedback page, with the points that the gradebook has by then."""

    display_data_priority = List(NbGraderPreprocessor.display_data_priority.default()).tag(config=True)

    def preprocess(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any]
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        """Put the list into one notebook, if its reports are known."""
        shown: Submission | None = resources["nbgrader"].pop("shown", None)
        if shown is not None:
            course = course_of(Path(self.parent.parent.coursedir.root))
            nb.cells.insert(0, _contents(nb, shown, course))
        return nb, resources


def _contents(notebook: nbformat.NotebookNode, submission: Submission, course: Course) -> nbformat.NotebookNode:
    """A cell that shows nothing but the list of exercises."""
    anchors = {each.exercise: course.exercise(each.exercise).graded_id for each in submission.exercises}
    cells = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    # Points that were given by hand stand in the gradebook alone; nbgrader writes them into its cells.
    scores = {cell["grade_id"]: float(cell["score"]) for cell in cells if "grade_id" in cell and "score" in cell}
    empty = [f"comment-{cell['grade_id']}" for cell in cells if cell.get("comment") == NO_RESPONSE]
    listed = contents(submission, anchors, scores, empty)
    shown = nbformat.v4.new_output("display_data", data={"text/html": listed})
    made: nbformat.NotebookNode = nbformat.v4.new_code_cell(
        "", outputs=[shown], metadata={"transient": {"remove_source": True}}, id="exercises"
    )
    return made


def _drop_numbers(notebook: nbformat.NotebookNode) -> None:
    """Take the bare numbers from under the reports: the gradebook has them by now, and the reports say them."""
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]


def _waits(opens: dt.date | None, today: dt.date) -> bool:
    return opens is not None and today < opens


def _drop_reports(notebook: nbformat.NotebookNode, opens: dt.date | None) -> None:
    """Leave the points and take the reports out, where nothing is known but what stands in them."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                sentence = f"The report is shown from {opens}, when the answers are open."
                output["data"] = nbformat.from_dict({"text/html": f"<p>{sentence}</p>", "text/plain": sentence})


def _drop_examples(notebook: nbformat.NotebookNode) -> None:
    """Take the examples out of reports of which the ledger knows nothing."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if EXAMPLE_BEGINS in data.get("text/html", ""):
                data["text/html"] = _EXAMPLE.sub("", data["text/html"])
                data.pop("text/plain", None)
