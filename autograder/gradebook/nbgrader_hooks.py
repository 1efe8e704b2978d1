"""The parts that make a stock nbgrader course grade by hidden tests, in a sandbox, and survive any submission.

`course/nbgrader_config.py` calls `configure`. nbgrader then does what it always does, with these parts
exchanged at the places that it offers for that:

- `generate_assignment`, `release_assignment` and the rest copy due dates and extensions into the gradebook;
- `collect` takes a submission into a clean tree of grafted notebooks and keeps the original aside;
- `autograde` reads through `GraftExporter`, so that nothing but text comes from the student;
- `JudgePreprocessor` stands where `Execute` was: it executes nothing in this process, and puts into every
  graded cell the report and exactly one number, which nbgrader's own SaveAutoGrades stores.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Unicode

from autograder.course import Course, CourseError
from autograder.gradebook.dates import Dates, penalty_change, penalty_of
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.exchange import dater, exchange_of, told
from autograder.gradebook.group_marks import share_marks
from autograder.gradebook.harmless import FILTERS
from autograder.grafting.collecting import handed_in_at, regraft
from autograder.grafting.grafted import Grafted, grafted_from
from autograder.grafting.tidying import ORIGINALS, course_of, tidy
from autograder.grafting.written import Marks, answers_of
from autograder.reading.student_files import one_line
from autograder.results import Graded, Submission
from autograder.results.causes import SEEN
from autograder.results.changes import afresh, is_recorded_already
from autograder.results.ledger import Entry, write_recorded
from autograder.results.regrade_log import AFRESH, logged
from autograder.telling.report import as_html, as_text

if TYPE_CHECKING:
    from autograder.judging.judge import Judge

GRADES = ".grades"

Preprocessed = tuple[nbformat.NotebookNode, dict[str, Any]]
"""What a step of nbgrader's returns: the notebook, and what the next steps need to know."""


STANDS = (
    "it was given by other tests, points, limits or another library; `autograder regrade --diff` lists what today's "
    "would change"
)
"""Why a recorded mark is not another one, after something else has changed."""

_HERE = "autograder.gradebook.nbgrader_hooks"
EXPORTER = f"{_HERE}.GraftExporter"
STEPS = [
    f"{_HERE}.JudgePreprocessor",
    f"{_HERE}.SaveGrades",
    f"{_HERE}.LatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""The steps of `nbgrader autograde` with a sanitized notebook."""


def configure(config: Any, root: Path) -> None:
    """Exchange nbgrader's parts.

    Args:
        config: nbgrader's configuration, `c` in nbgrader_config.py.
        root: The course's directory.
    """
    # SQLAlchemy 2.1 remarks on the order in which nbgrader makes its own rows; they are made all the same.
    warnings.filterwarnings("ignore", message="Object of type <Submitted", module="nbgrader.api")
    if "root" not in config.Exchange:
        config.Exchange.root = str(exchange_of(root))
    config.ExchangeFactory.collect = "autograder.gradebook.exchange.GraftingCollect"
    config.ExchangeFactory.release_assignment = "autograder.gradebook.exchange.DatedRelease"
    config.GenerateAssignment.post_convert_hook = dater(root)
    config.Autograde.exporter_class = EXPORTER
    config.Autograde.pre_convert_hook = tidier(root)
    config.Autograde.autograde_preprocessors = list(STEPS)
    config.GenerateFeedback.exporter_class = "autograder.gradebook.page_exporter.PageExporter"
    config.GenerateFeedback.preprocessors = [
        "autograder.gradebook.feedback.CurrentReports",
        "autograder.gradebook.feedback.Grades",
        "autograder.gradebook.feedback.Contents",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    config.GenerateFeedback.pre_convert_hook = "autograder.gradebook.feedback.pass_over_leavers"
    config.GenerateFeedback.post_convert_hook = "autograder.gradebook.feedback.remove_empty_folders"
    beside = "autograder.gradebook.marking.ModelAnswers"  # of Formgrader's pages alone
    config.HTMLExporter.preprocessors = [beside, *config.HTMLExporter.get("preprocessors", [])]
    config.ModelAnswers.root = str(root)
    share_marks(root)
    # Formgrader and feedback pages show what students wrote.
    config.HTMLExporter.filters = dict(FILTERS)


def tidier(root: Path) -> Callable[..., None]:
    """A hook of `nbgrader autograde` that takes in submissions which came another way than by `collect`."""

    def hook(assignment: str, student: str, notebooks: list[str]) -> None:
        if notebooks:
            directory = (root / notebooks[0]).parent
            with told():
                course_of(root)  # what is wrong with it is wrong for everybody
            tidy(root, directory)
            # nbgrader goes on with this very list.
            notebooks[:] = sorted(str(Path(notebooks[0]).parent / path.name) for path in directory.glob("*.ipynb"))

    return hook


class GraftExporter(NotebookExporter):
    """Reads a submitted notebook by grafting it; everything else as nbconvert does."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """Export a notebook file."""
        info = (resources or {}).get("nbgrader")
        if info is None or not self._is_submitted(filename, info):
            return super().from_filename(filename, resources, **kw)
        root = Path(self._coursedir.root)
        originals = root / ORIGINALS / info["student"] / info["assignment"]
        grafted = regraft(course_of(root), info["notebook"], Path(filename), originals)
        for note in grafted.notes:
            self.log.warning("%s: %s", info["student"], one_line(note.text))
        resources["metadata"] = {"name": info["notebook"], "path": str(Path(filename).parent)}
        export: Any = self.from_notebook_node
        return export(grafted.notebook, resources, **kw)

    @property
    def _coursedir(self) -> Any:
        converter: Any = self.parent
        return converter.coursedir

    def _is_submitted(self, filename: str, info: dict[str, str]) -> bool:
        coursedir = self._coursedir
        submitted = coursedir.format_path(coursedir.submitted_directory, info["student"], info["assignment"])
        return Path(filename).absolute().parent == Path(coursedir.root, submitted).absolute()


class JudgePreprocessor(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader ships no types
    """Fills a grafted notebook's graded cells with reports and points."""

    isolation = Unicode(
        "auto",
        help="The sandbox's kind; 'auto' takes the best there is, and refuses to grade where there is none.",
    ).tag(config=True)
    hidden = Unicode(
        "",
        help="The directory of hidden tests, as seen from the course; by default the course's own.",
    ).tag(config=True)
    fresh = Bool(
        False,
        help="Whether to grade again what is recorded already, by today's tests; marks that change are logged.",
    ).tag(config=True)

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Judge one notebook, unless it was judged before by the same tests: then say what was found."""
        # Imported when it is needed: pytest and hypothesis would slow every other command of nbgrader.
        from autograder.classes.work import Work, grade_notebook, refuse_lost_references

        info = resources["nbgrader"]
        root, work = Path(self.parent.parent.coursedir.root), Work(info["student"], info["assignment"])
        entry = _found.get((work.student, work.assignment, info["notebook"]))
        if entry is None:
            judge = _judge(root, self.isolation, hidden_tests_of(root, self.hidden))

            def graft() -> Grafted:  # it is called where there is something to grade
                if (state := judge.fingerprint.state(info["notebook"])) not in _checked:
                    refuse_lost_references(judge, [info["notebook"]])
                    _checked.add(state)
                return self._graft(nb, info)

            keep = not self.fresh
            entry, kept = grade_notebook(judge, work, info["notebook"], keep=keep, write=True, graft=graft)
            if kept and entry.state != judge.fingerprint.state(info["notebook"]):
                self.log.warning("%s: %s keeps its mark: %s", info["student"], info["notebook"], STANDS)
            for said in entry.submission.ungraded:
                self.log.error("%s: %s", info["student"], one_line(said))
            if self._is_saved_later:
                info["found"] = entry
            else:  # by a step of the course's own, of which nobody hears when it is done
                with logged(root, afresh(root, [entry]), AFRESH):
                    write_recorded(root, entry)
        fill(nb, entry.submission, course_of(root))
        return nb, resources

    @property
    def _is_saved_later(self) -> bool:
        """True if a later step stores the grades, and the ledger after them."""
        return any(isinstance(step, SaveGrades) and step.enabled for step in self.parent._preprocessors)

    def _graft(self, nb: nbformat.NotebookNode, info: dict[str, str]) -> Grafted:
        """Return the notebook to grade, and log it first: grading may take long, and nothing else is heard of it."""
        count = len(course_of(Path(self.parent.parent.coursedir.root)).of_lesson(info["notebook"]))
        what = f"{count} exercise{'s' * (count != 1)}"
        self.log.info("%s: %s: %s, in the sandbox", info["student"], info["notebook"], what)
        return grafted_from(nb)


class SaveGrades(SaveAutoGrades):  # type: ignore[misc]  # nbgrader ships no types
    """Stores grades as nbgrader does, and then in the ledger, which is never ahead of the gradebook.

    A mark of an answer in words that has not changed needs no second look.
    """

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Store the grades of one notebook."""
        info = resources["nbgrader"]
        root = Path(self.parent.parent.coursedir.root)
        marks, now = Marks(root, info["student"], info["assignment"], info["notebook"]), answers_of(nb)
        self._marked = marks.unchanged(now)
        found: Entry | None = info.pop("found", None)
        if found is not None:
            info["again"] = is_recorded_already(root, found)
        with logged(root, afresh(root, [found] if found else []), AFRESH):
            done: Preprocessed = super().preprocess(nb, resources)
            marks.write(now)
            if found is not None:
                write_recorded(root, found)
        return done

    def _add_score(self, cell: nbformat.NotebookNode, resources: dict[str, Any]) -> None:
        grade_id = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(grade_id, self.notebook_id, self.assignment_id, self.student_id)
        waits = grade.needs_manual_grade
        super()._add_score(cell, resources)
        if grade_id in self._marked and grade.manual_score is not None:
            grade.needs_manual_grade = waits
            self.gradebook.db.commit()


class LatePenalties(AssignLatePenalties):  # type: ignore[misc]  # nbgrader ships no types
    """Takes off what the course's own rule says, by the dates of course.toml and the extensions."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Preprocessed:
        """Set the penalty of one notebook; nothing in the notebook changes."""
        info, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        root, self.plugin_inst = Path(coursedir.root), self.plugin_class(parent=self)
        dates = Dates(course_of(root))
        with opened(info["db_url"], coursedir.course_id) as gradebook:
            submission = gradebook.find_submission(info["assignment"], info["student"])
            folder = Path(coursedir.format_path(coursedir.submitted_directory, info["student"], info["assignment"]))
            submission.timestamp = handed_in_at(root / folder)  # nbgrader keeps an earlier one where none is known
            dates.put(gradebook, info["assignment"], [info["student"]])
            notebook = gradebook.find_submission_notebook(info["notebook"], info["assignment"], info["student"])
            late = dates.of(submission)
            asked = penalty_of(self.plugin_inst, info["student"], notebook.score, late.seconds)
            if late.seconds:
                self.log.warning("%s: %s is %s; penalty %g", info["student"], info["notebook"], late, asked or 0)
            change = penalty_change(notebook, late, asked)
            again = info.pop("again", False)  # the first penalty of a submission is no change
            with logged(root, [change] if change and again else [], AFRESH):
                notebook.late_submission_penalty = asked
                gradebook.db.commit()
        return nb, resources


_found: dict[tuple[str, str, str], Entry] = {}


@contextmanager
def found_already(entries: Iterable[Entry]) -> Iterator[None]:
    """Let nbgrader, run in this process, record what was found; whoever runs it writes the ledger afterwards."""
    _found.update({(entry.student, entry.assignment, entry.lesson): entry for entry in entries})
    try:
        yield
    finally:
        _found.clear()


def fill(notebook: nbformat.NotebookNode, submission: Submission, course: Course, *, is_for_page: bool = False) -> None:
    """Put the report and one number into every graded cell, and clear every other output.

    Args:
        notebook: The notebook, which is changed.
        submission: Its result.
        course: The course.
        is_for_page: Whether the notebook becomes a page, which shows nothing of a report in plain text.
    """
    by_grade_id = {course.exercise(each.exercise).graded_id: each for each in submission.exercises}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        nbgrader = cell.metadata.get("nbgrader", {})
        graded = by_grade_id.get(nbgrader.get("grade_id", ""))
        if graded is not None and nbgrader.get("grade"):
            if nbgrader["points"] != graded.points:
                raise CourseError(
                    f"{graded.exercise} was graded by {graded.points:g} points but has {nbgrader['points']:g} in the "
                    "gradebook; run `autograder build` and `nbgrader generate_assignment`, then grade again; a "
                    "recorded mark is changed by `autograder regrade`"
                )
            cell.execution_count = 1
            cell.outputs = _outputs(graded, submission, is_for_page)
    about = notebook.metadata.setdefault("minigrad", nbformat.NotebookNode())
    for place in ("notes", "unreadable"):
        about.pop(place, None)
    about["graded"] = mark_of(submission)


def mark_of(submission: Submission) -> str:
    """Return the mark in a graded notebook that tells which result it shows."""
    return hashlib.sha256(json.dumps(submission.as_json(), sort_keys=True).encode()).hexdigest()[:16]


def _outputs(graded: Graded, submission: Submission, is_for_page: bool) -> list[nbformat.NotebookNode]:
    """A graded cell's outputs. SaveAutoGrades takes no number for full marks."""
    notes = submission.notes if graded == submission.exercises[0] else ()
    report = {"text/html": as_html(graded, notes, lesson=submission.lesson)}
    if not is_for_page:
        report["text/plain"] = as_text(graded)
    points = repr(float(graded.earned))
    return [
        nbformat.v4.new_output("display_data", data=report),
        nbformat.v4.new_output("execute_result", data={"text/plain": points}, execution_count=1),
    ]


def hidden_tests_of(root: Path, configured: str) -> Path:
    """Return the directory of hidden tests that a course's configuration names, or else the course's own."""
    return root / configured if configured else course_of(root).hidden


_checked: set[str] = set()
"""States of lessons in which this process found that the reference answers earn every point."""

_judges: dict[tuple[Path, str, Path], tuple[str, Judge]] = {}


def _judge(root: Path, isolation: str, hidden: Path) -> Judge:
    """The judge of a course, warm from one notebook to the next, and a new one after any file has changed."""
    from autograder.judging.judge import Judge

    course = course_of(root)
    key, state = (root.resolve(), isolation, hidden), sources_of(course, hidden)
    if key in _judges and _judges[key][0] != state:
        _judges.pop(key)[1].close()
    if key not in _judges:
        judge = Judge(course, hidden=hidden, isolation=isolation, cache=root / GRADES)
        atexit.register(judge.close)
        _judges[key] = (state, judge)
    return _judges[key][1]


def sources_of(course: Course, hidden: Path) -> str:
    """Return a fingerprint of a warm judge's sources: time and size of every file that it follows from."""
    files = [course.path, *course.source.rglob("*.py"), *hidden.glob("*.py"), *hidden.parent.glob(str(SEEN))]
    return repr([(str(file), (status := file.stat()).st_mtime_ns, status.st_size) for file in sorted(files)])
