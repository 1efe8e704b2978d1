"""A class graded as an instructor grades it: handed in, released, graded by either grader, and read back."""

import contextlib
import json
import shutil
import sqlite3
import stat

import nbformat
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde, GenerateAssignment
from traitlets.config import PyFileConfigLoader

from autograder.classes import grade_class, handed_in
from autograder.course.loading import load_course
from autograder.gradebook.recording import Recorder, hidden_of
from autograder.gradebook.settings import load_app
from autograder.judging.judge import Judge
from autograder.results.ledger import LEDGER, WAITING

WHEN = "2027-01-01 10:00:00.000000 UTC"


def write(course, student, texts, when=WHEN):
    """Put a submission where `nbgrader collect` of another grader would have put it."""
    folder = course / "submitted" / student / "week0"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(when)
    (folder / "submission_secret.txt").write_text("5" * 64)
    for lesson, text in texts.items():
        notebook = nbformat.read(course / "release" / "week0" / f"{lesson}.ipynb", as_version=4)
        if text:
            next(cell for cell in notebook.cells if cell.source.startswith("# exercise")).source = text
        (folder / f"{lesson}.ipynb").write_text(json.dumps(notebook))


def generate(course):
    """`nbgrader generate_assignment week0`, and a picture beside the notebooks."""
    (course / "source" / "week0" / "picture.svg").write_text("<svg/>")
    app = load_app(course, "week0")
    GenerateAssignment(coursedir=app.coursedir, parent=app).start()


def hand_in(course, texts):
    """Release a course of two lessons, and hand in both for each student. Return the course."""
    generate(course)
    for student, (one, other) in texts.items():
        write(course, student, {"00_numbers": one, "01_order": other})
    return course


def again(course, place):
    """Copy a course with all that lies around it, and return the copy."""
    shutil.copytree(course.parent, place)
    return place / course.name


def autograde(course, force=False):
    """`nbgrader autograde week0`."""
    app = load_app(course, "week0")
    converter = Autograde(coursedir=app.coursedir, parent=app)
    converter.force = force
    converter.start()


def grade(course, **options):
    """`autograder autograde week0`; returns what was yielded."""
    loaded, works = load_course(course, tree=False), handed_in(course, "week0")
    with (
        Recorder(course, "week0") as recorder,
        Judge(loaded, hidden=hidden_of(course, "week0"), cache=course / ".grades") as judge,
    ):
        outcomes = [each for each in grade_class(judge, works, write=True, **options) if each is not None]
        for outcome in outcomes:
            recorder.record(outcome.work.student, outcome.entries)
    return outcomes


ROWS = {
    "student": "select id from student",
    "course": "select id from course",
    "submission": "select student_id, timestamp, extension from submitted_assignment",
    "notebook": """select a.student_id, n.name, s.flagged, s.late_submission_penalty from submitted_notebook s
        join notebook n on n.id = s.notebook_id join submitted_assignment a on a.id = s.assignment_id""",
    "grade": """select a.student_id, b.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade
        from grade g join base_cell b on b.id = g.cell_id join submitted_notebook s on s.id = g.notebook_id
        join submitted_assignment a on a.id = s.assignment_id""",
    "comment": """select a.student_id, b.name, c.auto_comment, c.manual_comment
        from comment c join base_cell b on b.id = c.cell_id join submitted_notebook s on s.id = c.notebook_id
        join submitted_assignment a on a.id = s.assignment_id""",
}


def rows(course):
    """Everything in a gradebook that a person could ask for."""
    with sqlite3.connect(course / "gradebook.db") as database:
        return {name: sorted(database.execute(query).fetchall(), key=repr) for name, query in ROWS.items()}


def files(course):
    """Everything in `autograded`, with permissions."""
    found = sorted(path for path in (course / "autograded").rglob("*") if path.is_file())
    return {str(path.relative_to(course)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in found}


def times(course):
    """When each notebook was graded, as its file says, recorded or not."""
    found = {}
    for place in (WAITING, LEDGER):
        for path in (course / place).rglob("*.json"):
            with contextlib.suppress(FileNotFoundError):  # it is being recorded at this moment
                found[path.relative_to(course / place)] = path.stat().st_mtime_ns
    return found


def generate_assignment(root, course_dir, assignment):
    """Run stock nbgrader as this course configures it."""
    shutil.copy(root / "course" / "nbgrader_config.py", course_dir)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course_dir)).load_config()
    config.CourseDirectory.root = str(course_dir)
    result = NbGraderAPI(config=config).generate_assignment(assignment)
    assert result["success"], result["log"]
    return course_dir / "release" / assignment
