"""Reports on feedback pages: the latest ones, as students may see them on the day when the page is made.

The autograded notebook holds the whole report, for Formgrader. `nbgrader generate_feedback` goes through
`CurrentReports`, which takes each report from the ledger, so that examples appear when their day has come, and marks
that were changed later with their reasons, without grading again. At its top a page lists the exercises, in place of
nbgrader's list of test cells without names.

`autograder feedback` takes the same steps, in parallel, with a gradebook that stays open (`keep_open`). A student who
was removed from the gradebook gets no page, and nbgrader's output says so.
"""

from __future__ import annotations

import datetime as dt
import html
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from autograder.building.translating import translate_with, translated, translation
from autograder.common.atomic import remove
from autograder.course import Course
from autograder.gradebook import tries
from autograder.gradebook.blueprints import NO_RESPONSE
from autograder.gradebook.dates import Dates
from autograder.gradebook.diagnosing import opened, refuse_an_unusable_gradebook
from autograder.gradebook.formulas import in_mathml
from autograder.gradebook.nbgrader_hooks import Preprocessed, fill
from autograder.gradebook.settings import has_gradebook, load_app
from autograder.grafting.tidying import course_of
from autograder.judging.examples import released
from autograder.library.speaking import told
from autograder.reading.student_files import one_line
from autograder.results import Submission, format_points
from autograder.results.ledger import read_entry
from autograder.results.shortening import when_all
from autograder.telling.report import EXAMPLE_BEGINS, EXAMPLE_ENDS, contents
from autograder.telling.tongue import language_of, speaking_of

_EXAMPLE = re.compile(f"{re.escape(EXAMPLE_BEGINS)}.*?{re.escape(EXAMPLE_ENDS)}", re.DOTALL)


_open: dict[str, Gradebook] = {}


def keep_open(url: str, course_id: str) -> Gradebook:
    """Open a gradebook for all pages that this process makes: to open it costs more than the rest of a page."""
    _open[url] = Gradebook(url, course_id)
    return _open[url]


@contextmanager
def _gradebook(url: str, course_id: str) -> Iterator[Gradebook]:
    if url in _open:
        yield _open[url]
    else:
        with opened(url, course_id) as gradebook:
            yield gradebook


@dataclass(frozen=True)
class Rows:
    """What the gradebook has of one submitted notebook.

    Attributes:
        score: Its points.
        max_score: The points that it is worth.
        penalty: The points that it loses for lateness.
        waiting: Whether a person has still to mark an answer.
        scores: The points of each graded cell, and those that it is worth, by the cell's name.
        comments: The comment on each answer, by the cell's name.
    """

    score: float
    max_score: float
    penalty: float
    waiting: bool
    scores: dict[str, tuple[float, float]]
    comments: dict[str, str | None]


def rows_of(gradebook: Gradebook, notebook: Any) -> Rows:
    """Read the rows of a submitted notebook, which is nbgrader's row itself, in one query for each kind."""
    # By way of the lesson's cells, since the tables have an index for a cell of a notebook and none for a notebook:
    # nbgrader's own sums search the grades of the whole class.
    own = BaseCell.notebook_id == notebook.notebook_id
    marked = (BaseCell.name, Grade.score, Grade.max_score, Grade.needs_manual_grade)
    query = gradebook.db.query(*marked).join(Grade, Grade.cell_id == BaseCell.id)
    grades = query.filter(own, Grade.notebook_id == notebook.id).all()
    comments = gradebook.db.query(BaseCell.name, Comment.comment).join(Comment, Comment.cell_id == BaseCell.id)
    return Rows(
        sum((score for _, score, _, _ in grades), 0.0),
        notebook.max_score,
        notebook.late_submission_penalty or 0,
        any(waits for *_, waits in grades),
        {name: (score, points) for name, score, points, _ in grades},
        dict(comments.filter(own, Comment.notebook_id == notebook.id).all()),
    )


class _Step(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader ships no types
    # nbconvert configures this trait of every preprocessor, and nbgrader's base class does not say that it may.
    display_data_priority = List(NbGraderPreprocessor.display_data_priority.default()).tag(config=True)


class Grades(_Step):
    """Puts the gradebook's points and comments into a notebook, as nbgrader's GetGrades does cell by cell.

    Formulas of a comment become MathML, as those of the lesson do.
    """

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Put them into one notebook."""
        names, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        with _gradebook(names["db_url"], coursedir.course_id) as gradebook:
            found = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
            rows = rows_of(gradebook, found)
        for cell in nb.cells:
            marked = utils.is_grade(cell) or utils.is_task(cell)
            answered = utils.is_solution(cell) or utils.is_task(cell)
            try:
                if answered:
                    comment = rows.comments[cell.metadata.nbgrader.grade_id]
                    cell.metadata.nbgrader["comment"] = comment and in_mathml(comment)
                if marked:
                    score, points = rows.scores[cell.metadata.nbgrader.grade_id]
                    cell.metadata.nbgrader.update(score=score, points=points)
            except KeyError as error:
                raise MissingEntry(f"the gradebook has no cell {error} of {names['notebook']}") from error
        names.update(score=rows.score - rows.penalty, max_score=rows.max_score, late_penalty=rows.penalty)
        return nb, resources


class CurrentReports(_Step):
    """Puts the ledger's reports into an autograded notebook that becomes a feedback page."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Renew the reports of one notebook."""
        coursedir, names = self.parent.parent.coursedir, resources["nbgrader"]
        refuse_an_unusable_gradebook(coursedir.db_url)  # of which the next step, nbgrader's own, would not say why
        root = Path(coursedir.root)
        course, today = course_of(root), dt.date.today()
        part = tries.shown(Dates(course), names["assignment"])
        entry = read_entry(root, names["student"], names["assignment"], names["notebook"])
        if entry is not None:
            shown = tries.as_shown(released(entry.submission, course, today), part)
            with speaking_of([shown], course):
                fill(nb, shown, course, is_for_page=True)
            _drop_numbers(nb)
            _translate(nb, shown, course)
            names["shown"] = shown
        else:
            assignment = course.assignments[names["assignment"]]
            if _waits(assignment.quotes_open, today):
                _drop_reports(nb, when_all(assignment.quotes_open, is_dated=False))
            elif part.rest:
                _drop_reports(nb, part.rest)
            elif _waits(assignment.examples_open, today):
                _drop_examples(nb)
        return nb, resources


class Contents(_Step):
    """Lists the exercises at the top of a feedback page, with the points that the gradebook has by then."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Put the list into one notebook, if its reports are known."""
        names, course = resources["nbgrader"], course_of(Path(self.parent.parent.coursedir.root))
        shown: Submission | None = names.pop("shown", None)
        with speaking_of(filter(None, [shown]), course):
            sentences = [told(sentence) for sentence in self._standing(names)]
            if sentences:
                said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
                nb.cells.insert(0, cell_showing(f'<div class="mg-report">{said}</div>', "standing"))
            if shown is not None:
                nb.cells.insert(0, _contents(nb, shown, course))
        return nb, resources

    def _standing(self, names: dict[str, Any]) -> list[str]:
        """The sentences for the student about lateness, and about answers that nobody has marked yet."""
        coursedir = self.parent.parent.coursedir
        if not has_gradebook(course_of(Path(coursedir.root)), coursedir.db_url):
            return []
        with _gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            try:
                notebook = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
            except MissingEntry:
                return []
            late = Dates(course_of(Path(coursedir.root))).of(notebook.assignment)
            penalty, waiting = notebook.late_submission_penalty or 0.0, bool(notebook.needs_manual_grade)
        said = [f"Your submission is {late}."] if late.due is not None or late.seconds else []
        if penalty:
            said.append(f"Penalty for lateness: {format_points(penalty)} points of this notebook.")
        if waiting:
            said.append("Answers of this notebook are still to be marked by a person; the mark is not final.")
        return said


_passed_over: list[Path] = []


def pass_over_leavers(assignment: str, student: str, notebooks: list[str]) -> None:
    """Make no page of a submission that the gradebook no longer has: nbgrader would stop there with a traceback.

    nbgrader calls this in the course's directory, before it goes through the notebooks of one submission.
    """
    if not notebooks:
        return
    folder, coursedir = Path(notebooks[0]).parent, _coursedir(Path.cwd())
    whose, what = folder.parent.name, folder.name
    with opened(coursedir.db_url, coursedir.course_id) as gradebook:
        try:
            gradebook.find_submission(what, whose)
        except MissingEntry:
            said = "%s: no page for %s, which the gradebook no longer has; `autograder forget %s` deletes the rest, "
            said += "`autograder autograde %s` records it again"
            logging.getLogger(__name__).warning(said, one_line(whose), what, one_line(whose), what)
            notebooks.clear()  # nbgrader goes on with this very list
            _passed_over.append(Path(coursedir.format_path(coursedir.feedback_directory, whose, what)))


def remove_empty_folders(assignment: str, student: str, notebooks: list[str]) -> None:
    """Remove the folder that nbgrader makes for a submission that was passed over."""
    while _passed_over:
        folder = _passed_over.pop()
        remove(folder)
        with suppress(OSError):  # another assignment's pages lie there
            folder.parent.rmdir()


@cache
def _coursedir(root: Path) -> Any:
    """nbgrader's names of a course's folders and gradebook."""
    return load_app(root, next(iter(course_of(root).assignments))).coursedir


def cell_showing(content: str, name: str) -> nbformat.NotebookNode:
    """A cell that shows nothing but HTML."""
    output = nbformat.v4.new_output("display_data", data={"text/html": content})
    hidden = {"transient": {"remove_source": True}}
    made: nbformat.NotebookNode = nbformat.v4.new_code_cell("", outputs=[output], metadata=hidden, id=name)
    return made


def _contents(notebook: nbformat.NotebookNode, submission: Submission, course: Course) -> nbformat.NotebookNode:
    """A cell that shows nothing but the list of exercises."""
    anchors = {each.exercise: course.exercise(each.exercise).graded_id for each in submission.exercises}
    cells = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    # Points that were given by hand stand in the gradebook alone; nbgrader writes them into its cells.
    scores = {cell["grade_id"]: float(cell["score"]) for cell in cells if "grade_id" in cell and "score" in cell}
    empty = [f"comment-{cell['grade_id']}" for cell in cells if cell.get("comment") == NO_RESPONSE]
    return cell_showing(contents(submission, anchors, scores, empty), "exercises")


def _drop_numbers(notebook: nbformat.NotebookNode) -> None:
    """Take the bare numbers from under the reports: the gradebook has them by now, and the reports say them."""
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]


def _translate(notebook: nbformat.NotebookNode, submission: Submission, course: Course) -> None:
    """Put the lesson's text into the language of the submission; what the student wrote stays."""
    if language := language_of([submission], course):
        known = translation(course, language, submission.lesson)
        translate = translate_with({in_mathml(english): in_mathml(other) for english, other in known.items()})
        notebook.cells = translated(notebook, language, translate).cells


def _waits(opens: dt.date | None, today: dt.date) -> bool:
    return opens is not None and today < opens


def _drop_reports(notebook: nbformat.NotebookNode, sentence: str) -> None:
    """Leave the points and take the reports out, where nothing is known but what stands in them."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output["data"] = nbformat.from_dict({"text/html": f"<p>{sentence}</p>", "text/plain": sentence})


def _drop_examples(notebook: nbformat.NotebookNode) -> None:
    """Take the examples out of reports of which the ledger knows nothing."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if EXAMPLE_BEGINS in data.get("text/html", ""):
                data["text/html"] = _EXAMPLE.sub("", data["text/html"])
                data.pop("text/plain", None)
