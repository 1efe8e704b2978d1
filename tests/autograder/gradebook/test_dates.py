"""Due dates, extensions and lateness: the same marks in gradebook, report, explanation, feedback page and tables."""

import csv
import json
import re
import shutil

import pytest
from class_runs import generate, write
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.course.extensions import FILE, read_extensions
from autograder.gradebook.archive_times import keep_marked_late
from autograder.gradebook.settings import load_app
from autograder.results.regrade_log import LOG

pytestmark = pytest.mark.full("a class is dated under each rule", share=48, group="dates")

EARLY, LATE = "2027-01-31 10:00:00 UTC", "2027-02-03 01:00:00 UTC"  # in time; two days and two hours late
DUE = "2027-02-01T00:00:00+01:00"
RULES = {
    "none": 'c.LateSubmissionPlugin.penalty_method = "none"',
    "zero": 'c.LateSubmissionPlugin.penalty_method = "zero"',
    "own": """
from nbgrader.plugins import LateSubmissionPlugin


class PointADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return -(-total_seconds_late // 86400)  # more than there is, for a notebook of few points


c.AssignLatePenalties.plugin_class = PointADay
""",
}
LOST = {"none": (0, 0), "zero": (3, 4), "own": (3, 3)}
"""The penalty of each notebook that is late by two days and two hours, under each rule."""


def run(course, *arguments, code=0):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*map(str, arguments), "--course", str(course)])
    assert done.exit_code == code, (done.output, done.exception)
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A course with a due date, and submissions in time, late and of no known time; nothing is graded."""
    course = make_course(tmp_path_factory.mktemp("dates"), ROOT)
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace('title = "Numbers"', f'title = "Numbers"\ndue = {DUE}'))
    generate(course)
    both = {"00_numbers": ARITHMETIC, "01_order": COMPARISON}
    write(course, "early", both, EARLY)
    write(course, "late", both, LATE)
    write(course, "ill", both, LATE)
    write(course, "lms", both)
    (course / "submitted" / "lms" / "week0" / "timestamp.txt").unlink()
    return course


@pytest.fixture(scope="module", params=RULES)
def graded(request, handed, tmp_path_factory):
    """The course graded under a rule for late work; `ill` has an extension before that. Returns it and the rule."""
    course = tmp_path_factory.mktemp(request.param) / "all" / "course"
    shutil.copytree(handed.parent, course.parent)
    rule(course, request.param)
    said = run(course, "extend", "ill", "week0", "--days", "3")
    assert "ill: week0 is due 2027-02-03 23:00 UTC, 3 days more" in said and "has nothing of ill in week0 yet" in said
    said = run(course, "autograde", "week0", "--jobs", "1")
    assert "late: late (week0): late by 2 days 2 hours" in said
    assert "penalty method" not in said, "nbgrader's own line, for each notebook that is late"
    assert "no time of handing in is known: lms (week0)" in said
    return course, request.param


@pytest.fixture
def copy(graded, tmp_path):
    course, name = graded
    shutil.copytree(course.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course", name


def rule(course, name):
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().partition("# rule\n")[0] + f"\n# rule\n{RULES[name]}\n")


def in_gradebook(course):
    """The mark of each student, as the gradebook has it."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        found = gradebook.find_assignment("week0").submissions
        return {each.student_id: each.score - each.late_submission_penalty for each in found}


def everywhere(course):
    """The mark of each student, the same in every place that tells it."""
    marks = in_gradebook(course)
    run(course, "report", "--csv", "nbgrader", "--out", course / "marks.csv")
    with (course / "marks.csv").open() as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == marks
    run(course, "report", "--csv", "canvas", "--out", course / "canvas.csv")
    with (course / "canvas.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["SIS Login ID"]]
    assert {row["SIS Login ID"]: float(row["week0"]) for row in rows} == marks
    run(course, "report", "--out", course / "class.html")
    page = re.sub(r"<[^>]+>", "|", (course / "class.html").read_text())
    for student in ("late", "lms"):
        said = json.loads(run(course, "explain", student, "operators.arithmetic", "--json"))["standing"]
        assert f"mark {marks[student]:g}" in said, said
        told = re.findall(rf"\|{student}\|+week0\|+[^|]+\|+[\d.]+ of [\d.]+\|+[\d.]+\|+([\d.]+)\|", page)
        assert [float(mark) for mark in told] in (
            [marks[student]],
            [] if student == "late" and marks["late"] == 7 else None,
        )
    converter = load_app(course, "week0")
    feedback = GenerateFeedback(coursedir=converter.coursedir, parent=converter)
    feedback.force = True
    feedback.start()
    for student, mark in marks.items():
        pages = [path.read_text() for path in (course / "feedback" / student / "week0").glob("*.html")]
        scores = [re.search(r"\(Score: ([\d.]+) / ", page) for page in pages]
        assert sum(float(score[1]) for score in scores) == mark
    (late, *_), (lms, *_) = (
        [path.read_text() for path in (course / "feedback" / student / "week0").glob("*.html")]
        for student in ("late", "lms")
    )
    if "extension" not in late:
        assert "Your submission is late by 2 days 2 hours" in late
    assert "when it was handed in is not known" in lms
    return marks


def test_marks_by_the_dates(graded):
    """In time, within an extension and of unknown time nothing is lost; late costs what the rule says, everywhere."""
    course, name = graded
    assert everywhere(course) == {"early": 7, "ill": 7, "lms": 7, "late": 7 - sum(LOST[name])}


def test_the_gradebook_has_the_dates(graded):
    """The due date is in UTC, as nbgrader keeps it, and an extension is in the row that Formgrader shows."""
    course, _ = graded
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        assert str(gradebook.find_assignment("week0").duedate) == "2027-01-31 23:00:00"
        assert str(gradebook.find_submission("week0", "ill").extension) == "3 days, 0:00:00"
        assert gradebook.find_submission("week0", "lms").timestamp is None


def test_a_release_and_a_build_copy_the_due_date(handed, tmp_path):
    """nbgrader knows the date from the release on, and each build copies a changed one; none takes it away."""
    course = tmp_path / "all" / "course"
    shutil.copytree(handed.parent, course.parent)

    def due():
        with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
            return str(gradebook.find_assignment("week0").duedate)

    assert due() == "2027-01-31 23:00:00"
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace(DUE, "2027-02-10T00:00:00Z"))
    run(course, "build", "--quick")
    assert due() == "2027-02-10 00:00:00"
    toml.write_text(toml.read_text().replace("due = 2027-02-10T00:00:00Z\n", ""))
    run(course, "build", "--quick")
    assert due() == "2027-02-10 00:00:00"


def test_an_extension_after_grading(copy):
    """It is listed with the marks that follow, changes none by itself, and `regrade --dates` records them."""
    course, name = copy
    said = run(course, "extend", "late", "week0", "--until", "2027-02-04")
    if name == "none":
        assert "no recorded mark changes" in said
        return
    zero, lost = LOST[name]
    assert f"00_numbers: {3 - zero} -> 3 of 3" in said and "regrade late --dates --reason" in said, said
    assert in_gradebook(course)["late"] == 7 - sum(LOST[name])
    said = run(course, "regrade", "--dates", "--diff")
    assert "2 new marks of 1 student" in said and "in time" in said, said
    run(course, "regrade", "late", "--dates", "--reason", "was ill", "--yes")
    assert everywhere(course) == {"early": 7, "ill": 7, "lms": 7, "late": 7}
    begun, ended = (json.loads(line) for line in (course / LOG).read_text().splitlines())
    assert begun["why"] == "was ill" and ended["state"] == "done"
    assert [(each["lesson"], each["old"], each["new"]) for each in begun["changes"]] == [
        ("00_numbers", 3 - zero, 3),
        ("01_order", 4 - lost, 4),
    ]
    assert "no mark changes" in run(course, "regrade", "--dates", "--diff")


def test_a_mark_falls_only_where_it_may(copy):
    """An extension that is taken back, like a due date that comes earlier, lowers a mark by --lower alone."""
    course, name = copy
    said = run(course, "extend", "ill", "week0", "--remove")
    assert "no extension of week0 any more (before: 3 days more)" in said
    assert read_extensions(course) == {}
    if name == "none":
        return
    said = run(course, "regrade", "--dates", "--reason", "mistake", "--yes")
    assert in_gradebook(course)["ill"] == 7 and "2 marks that would fall stay as they are" in said
    run(course, "regrade", "--dates", "--reason", "mistake", "--lower", "--yes")
    assert everywhere(course)["ill"] == 7 - sum(LOST[name])


def test_another_due_date(copy):
    """It reaches the gradebook when the class is graded again, which changes no mark; `regrade` does."""
    course, name = copy
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace(DUE, "2027-02-10T00:00:00Z"))
    said = run(course, "autograde", "week0", "--jobs", "1")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        assert str(gradebook.find_assignment("week0").duedate) == "2027-02-10 00:00:00"
    assert in_gradebook(course)["late"] == 7 - sum(LOST[name])
    assert ("penalties that are not those of today's dates" in said) == (name != "none")
    run(course, "regrade", "--dates", "--reason", "moved", "--yes")
    assert in_gradebook(course)["late"] == 7


def test_another_rule(copy):
    """Where the course changes its rule for late work, penalties follow by the same plan."""
    course, name = copy
    other = "none" if name != "none" else "zero"
    rule(course, other)
    run(course, "regrade", "--dates", "--reason", "rule", "--lower", "--yes")
    assert everywhere(course)["late"] == 7 - sum(LOST[other])


def test_a_mended_test_and_a_late_submission(copy):
    """A mark that stays in spite of an earlier due date stays so when other marks of the notebook are regraded."""
    course, name = copy
    if name == "none":
        return
    run(course, "extend", "ill", "week0", "--remove")
    hidden = course.parent / "hidden" / "test_operators.py"
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + f"\nc.JudgePreprocessor.hidden = {str(hidden.parent)!r}\n")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        grade = gradebook.find_grade("operators-arithmetic-check", "00_numbers", "week0", "ill")
        assert grade.auto_score == 3
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace("points = 3\ngroups = { values = 2", "points = 6\ngroups = { values = 5"))
    run(course, "build", "--quick")
    said = run(course, "regrade", "--reason", "worth more", "--yes", "--jobs", "1")
    assert "would fall" in said
    marks = in_gradebook(course)
    assert marks["ill"] == 10 and marks["early"] == 10
    assert marks["late"] == {"zero": 0, "own": 4}[name]


def test_nbgrader_takes_off_the_same(copy):
    """`nbgrader autograde` and a run with --fresh leave the same penalties."""
    course, _ = copy
    before = in_gradebook(course)
    run(course, "autograde", "week0", "--fresh", "--jobs", "1")
    assert in_gradebook(course) == before
    from class_runs import autograde

    autograde(course, force=True)
    assert in_gradebook(course) == before


def test_late_by_the_mark_of_canvas_alone(copy):
    """Late by an unknown time costs what the least lateness costs; with an extension nothing tells that it is late."""
    course, name = copy
    keep_marked_late(course, "week0", {"lms": True, "early": True})
    run(course, "regrade", "--dates", "--reason", "Canvas says so", "--lower", "--yes")
    marks = in_gradebook(course)
    assert (marks["lms"], marks["early"]) == ({"none": 7, "zero": 0, "own": 5}[name], 7)
    said = run(course, "report", "--csv", "canvas", "--out", course / "canvas.csv")
    assert "lms (week0): late, as the learning platform marked it; by how much is not known" in said
    run(course, "extend", "lms", "week0", "--days", "1")
    run(course, "regrade", "--dates", "--reason", "Canvas says so", "--yes")
    assert in_gradebook(course)["lms"] == 7


def test_an_own_rule_that_fails(copy):
    """The sentence names the rule, the student and the error."""
    course, _ = copy
    rule(course, "own")
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace("return -(-total_seconds_late // 86400)", "return 1 / 0"))
    said = run(course, "regrade", "--dates", "--diff", code=2)
    assert "the rule for late work, PointADay, failed for late (ZeroDivisionError" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ada", "week7", "--days", "1"), "there is no assignment 'week7'"),
        (("ada", "week0"), "one of --days, --until and --remove"),
        (("ada", "week0", "--days", "1", "--remove"), "one of --days, --until and --remove"),
        (("ada", "week0", "--days", "-1"), "--days is -1"),
        (("ada", "week0", "--days", "nan"), "--days is nan"),
        (("ada", "week0", "--until", "friday"), "--until is 'friday'"),
        (("ada", "week0", "--until", "2027-01-30"), "write a later time"),
        (("../ada", "week0", "--days", "1"), "cannot be a student's id"),
    ],
)
def test_an_extension_that_is_none(handed, arguments, words):
    """What cannot be meant is refused in a sentence, and nothing is written."""
    assert words in run(handed, "extend", *arguments, code=2)
    assert not (handed / FILE).exists()


def test_the_list_of_extensions(handed, tmp_path):
    """Without arguments all are listed with their dates; a damaged file is refused, and not taken for an empty one."""
    course = tmp_path / "course"
    shutil.copytree(handed, course)
    assert "no extension was granted" in run(course, "extend")
    run(course, "extend", "bea", "week0", "--until", "2027-02-08")
    run(course, "extend", "ada", "week0", "--days", "1.5")
    said = run(course, "extend")
    assert "week0 ada: 1.5 days more, due 2027-02-02 11:00 UTC" in said, said
    assert "week0 bea: until 2027-02-08 22:59 UTC, due 2027-02-08 22:59 UTC" in said, said
    (course / FILE).write_text('{"week0": {"ada"')
    with pytest.raises(CourseError, match=r"extensions\.json: cannot be read"):
        read_extensions(course)
    assert "cannot be read" in run(course, "autograde", "week0", code=2)
