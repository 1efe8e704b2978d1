"""Groups and sections through a whole cycle: one hand-in for several students, one mark, a date for each of them."""

import csv
import datetime as dt
import re
import shutil

import pytest
from class_runs import generate, write
from nbgrader.api import Gradebook
from nbgrader.utils import notebook_hash
from places import ROOT
from small_course import SmallCourse
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.classes import handed_in
from autograder.cli import app
from autograder.course.classlist import read_class_list
from autograder.course.extensions import Extension, write_extension
from autograder.course.loading import load_course
from autograder.forgetting import KeptData
from autograder.gradebook.dates import Dates
from autograder.grafting.collecting import handed_in_at
from autograder.results.ledger import entries

pytestmark = pytest.mark.full("a class with groups and sections is graded", share=24, group="groups")

EARLY, LATE = "2027-01-31 10:00:00 UTC", "2027-02-02 01:00:00 UTC"  # in time; a day and two hours late
SECTIONS = """
[[section]]
name = "monday"
graders = ["tim", "uma"]

[[section]]
name = "tuesday"
graders = ["vera"]
due = { week0 = 2027-02-03T00:00:00+01:00 }
"""
BOTH = {"00_numbers": ARITHMETIC, "01_order": COMPARISON}
HALF = {"00_numbers": ARITHMETIC.replace("x + y", "x - y"), "01_order": COMPARISON}


def run(course, *arguments, code=0):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*map(str, arguments), "--course", str(course)])
    assert done.exit_code == code, (done.output, done.exception)
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """Two groups and a student alone, in two sections; of each group one or two members have handed in."""
    course = make_course(tmp_path_factory.mktemp("groups"), ROOT)
    toml = course / "course.toml"
    dated = toml.read_text().replace('title = "Numbers"', 'title = "Numbers"\ndue = 2027-02-01T00:00:00+01:00')
    toml.write_text(dated + SECTIONS)
    (course / "nbgrader_config.py").write_text(
        (course / "nbgrader_config.py").read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
    )
    (course / "groups.csv").write_text(
        "group,student_id,assignment\nreds,ada,\nreds,beaq,\nreds,cem,\nblues,dora,week0\nblues,eli,week0\n"
    )
    (course / "sections.csv").write_text(
        "student_id,section\nada,monday\nbeaq,monday\ncem,monday\ndora,tuesday\neli,tuesday\nfay,tuesday\n"
    )
    generate(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        gradebook.add_student("dora")
    write(course, "ada", HALF, EARLY)
    write(course, "beaq", BOTH, LATE)  # the newest of the reds
    (course / "submitted" / "beaq" / "week0" / "submission_secret.txt").write_text("6" * 64)
    write(course, "cem", BOTH, EARLY)  # the very same, in time
    write(course, "eli", BOTH, LATE)
    write(course, "fay", HALF, LATE)
    run(course, "extend", "beaq", "week0", "--days", "3")
    return course


@pytest.fixture(scope="module")
def graded(handed, tmp_path_factory):
    """The class graded by the command."""
    course = tmp_path_factory.mktemp("graded") / "all" / "course"
    shutil.copytree(handed.parent, course.parent)
    said = run(course, "autograde", "week0", "--jobs", "1")
    return course, said


@pytest.fixture
def copy(graded, tmp_path):
    shutil.copytree(graded[0].parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def marks(course):
    """Points and penalty of each student, as the gradebook has them."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        found = gradebook.find_assignment("week0").submissions
        return {each.student_id: (each.score, each.late_submission_penalty) for each in found}


def table(course, kind):
    """The lines of an exported table."""
    return list(csv.DictReader((course / "reports" / f"marks-{kind}.csv").read_text().splitlines()))


def test_the_newest_hand_in_counts_for_all_and_each_has_a_date(graded):
    """One run for a group; each member has its points, and loses some by its own section, due date and extension."""
    course, said = graded
    assert "3 submissions, 6 notebooks in" in said
    assert "ada (week0): late by 1 day 2 hours" in said and "cem (week0)" not in said
    assert marks(course) == {
        "ada": (7, 7), "beaq": (7, 0), "cem": (7, 0), "dora": (7, 0), "eli": (7, 0), "fay": (5, 0),
    }  # fmt: skip


def test_a_second_run_finds_everything_recorded(copy):
    """Nothing is graded, copied or recorded again, and a newer hand-in of another member replaces the group's."""
    before = marks(copy)
    assert "6 notebooks had been graded before" in run(copy, "autograde", "week0", "--jobs", "1")
    assert marks(copy) == before
    shutil.rmtree(copy / "submitted" / "ada")
    write(copy, "ada", HALF, "2027-02-02 02:00:00 UTC")
    run(copy, "autograde", "week0", "--jobs", "1", "--student", "cem")
    assert {student: each[0] for student, each in marks(copy).items() if student in ("ada", "beaq", "cem")} == {
        "ada": 5, "beaq": 5, "cem": 5,
    }  # fmt: skip


def test_a_member_keeps_its_own_secret_and_the_time_of_the_same_notebooks(graded):
    """Pages of two members never have one name in the exchange; only other work is replaced, with its time."""
    submitted = graded[0] / "submitted"
    secrets = {
        student: (submitted / student / "week0" / "submission_secret.txt").read_text()
        for student in ("ada", "beaq", "dora", "eli")
    }
    assert secrets["ada"] == "5" * 64 and secrets["beaq"] == "6" * 64 and len(secrets["dora"]) == 64
    assert secrets["dora"] != secrets["eli"]
    times = {student: f"{handed_in_at(submitted / student / 'week0')} UTC" for student in ("ada", "beaq", "cem")}
    assert times == {"ada": LATE, "beaq": LATE, "cem": EARLY}


def test_exports_and_class_page_show_groups_and_sections(copy):
    """Canvas's column Section is filled; each table and page takes one section or a grader's; groups are one author."""
    run(copy, "report", "--csv", "canvas")
    rows = table(copy, "canvas")
    assert {row["SIS Login ID"]: (row["Section"], row["week0"]) for row in rows[1:]} == {
        "ada": ("monday", "0"), "beaq": ("monday", "7"), "cem": ("monday", "7"),
        "dora": ("tuesday", "7"), "eli": ("tuesday", "7"), "fay": ("tuesday", "5"),
    }  # fmt: skip
    run(copy, "report", "--csv", "nbgrader", "--grader", "vera")
    rows = table(copy, "nbgrader")
    assert [row["student_id"] for row in rows] == ["dora", "eli", "fay"]
    assert "6 students" in run(copy, "report", "week0")
    page = re.sub(r"<[^>]+>", "|", (copy / "reports" / "class.html").read_text())
    assert re.search(r"\|cem\|+monday\|+reds\|+7\|", page) and re.search(
        r"\|fay\|+tuesday\|+5\|", page.replace("||", "|")
    )
    same = page[page.index("The same notebooks, byte for byte") :]
    assert "ada + beaq + cem, dora + eli" in same
    assert "3 students" in run(copy, "report", "week0", "--section", "monday")
    assert "no section 'friday'" in run(copy, "report", "--section", "friday", code=2)
    assert "no grader 'zoe'; it has tim, uma, vera" in run(copy, "report", "--grader", "zoe", code=2)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("groups.csv", "group;student_id\nreds;ada\n", "groups.csv: its first line has no column 'student_id'"),
        (
            "groups.csv",
            "group,student_id\nreds,ada\nblues,ada\n",
            "line 3: ada is in 'reds' already, and not in",
        ),
        ("groups.csv", "group,student_id,assignment\nreds,ada,week7\n", "line 2: there is no assignment 'week7'"),
        ("groups.csv", "group,student_id\nreds,../ada\n", "line 2: '../ada' cannot be a student's id"),
        ("groups.csv", "group,student_id\n,ada\n", "line 2: 'group' is empty"),
        ("groups.csv", b"group,student_id\nr\xe9ds,ada\n", "groups.csv: cannot be read"),
        ("sections.csv", "student_id,section\nada,friday\n", "course.toml has no section 'friday'"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_in_a_sentence(handed, tmp_path, file, text, words):
    """Nobody is graded by half a table."""
    course = tmp_path / "course"
    shutil.copytree(handed, course)
    (course / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert words in run(course, "autograde", "week0", code=2)


def test_nobody_is_made_of_a_wrong_line(copy):
    """A name that neither the gradebook nor submitted/ has gets no mark; the others have theirs."""
    (copy / "groups.csv").write_text((copy / "groups.csv").read_text() + "blues,elli,week0\n")
    before = marks(copy)
    said = run(copy, "autograde", "week0", "--jobs", "1", code=1)
    assert "elli: groups.csv has elli in the group of" in said and "nbgrader db student add elli" in said
    assert marks(copy) == before and not (copy / "submitted" / "elli").exists()


def test_work_of_unknown_time_that_differs_counts_for_each_alone(handed, tmp_path):
    """Nothing says which is the newest; the same notebooks count once, and a known time counts first."""
    course = tmp_path / "course"
    shutil.copytree(handed, course)
    shutil.rmtree(course / "submitted" / "cem")
    for student in ("ada", "beaq"):
        (course / "submitted" / student / "week0" / "timestamp.txt").unlink()
    assert [work.student for work in handed_in(course, "week0", ("cem",))] == ["ada", "beaq"]
    shutil.copy(course / "submitted" / "ada" / "week0" / "00_numbers.ipynb", course / "submitted" / "beaq" / "week0")
    assert [work.student for work in handed_in(course, "week0", ("cem",))] == ["ada"]
    (course / "submitted" / "beaq" / "week0" / "timestamp.txt").write_text(EARLY)
    assert [work.student for work in handed_in(course, "week0", ("cem",))] == ["beaq"]


def test_a_forgotten_member_takes_no_feedback_page_of_another(copy):
    """Whoever shares the work of a member keeps the page that the secret of that one names in the exchange."""
    pages = copy / "exchange" / "minigrad" / "feedback"
    pages.mkdir(parents=True)
    named = {each: pages / f"{notebook_hash(secret=each * 64, notebook_id='00_numbers')}.html" for each in "56"}
    for page in named.values():
        page.write_text("marks")
    run(copy, "forget", "ada", "--yes")  # whose secret is of fives; the work is beaq's, with that of sixes
    assert {each: page.exists() for each, page in named.items()} == {"5": False, "6": True}


def test_a_forgotten_member_leaves_the_work_to_the_others(copy):
    """Nothing of the one who handed in is left; the others keep rows, files, ledger and marks, and hand in again."""
    before = marks(copy)
    run(copy, "feedback", "week0", "--jobs", "1")
    kept = {each.what for each in KeptData(load_course(copy)).of(KeptData(load_course(copy)).people["beaq"])}
    assert "lines of a table" in kept
    run(copy, "forget", "beaq", "--yes")
    assert marks(copy) == {student: mark for student, mark in before.items() if student != "beaq"}
    assert {entry.student for entry in entries(copy, "week0")} == {"ada", "cem", "dora", "eli", "fay"}
    naming = [path for path in copy.rglob("*") if path.is_file() and b"beaq" in path.read_bytes() + path.name.encode()]
    assert naming == []
    assert read_class_list(load_course(copy)).members("week0", "ada") == ("ada", "cem")
    assert "6 notebooks had been graded before" in run(copy, "autograde", "week0", "--jobs", "1")


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
@pytest.mark.parametrize("own", [True, False])
def test_an_extension_that_nbgrader_granted_does_not_grow(tmp_path, own):
    """It counts from the section's date at each recording, also where the assignment has no date of its own."""
    small = SmallCourse(tmp_path)
    text = small.toml.read_text().replace("due = 2027-02-01T23:59:00Z\n", "due = 2027-02-01T23:59:00Z\n" if own else "")
    small.toml.write_text(f'{text}\n[[section]]\nname = "late"\ndue = {{ week0 = 2027-02-08T23:59:00Z }}\n')
    course = small.load()
    (course.directory / "sections.csv").write_text("student_id,section\nada,late\n")
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "small") as gradebook:
        gradebook.add_assignment("week0")
        gradebook.add_student("ada")
        row = gradebook.add_submission("week0", "ada", timestamp="2027-02-12 23:59:00 UTC")
        gradebook.grant_extension("week0", "ada", days=1)
        for _ in range(3):
            Dates(course).put(gradebook, "week0", ["ada"])
            assert row.extension == dt.timedelta(days=1)
            assert Dates(course).of(row).seconds == 3 * 86400
        write_extension(course.directory, "week0", "ada", Extension(days=2))
        for _ in range(2):
            Dates(course).put(gradebook, "week0", ["ada"])
            assert row.extension == (dt.timedelta(days=9) if own else None)
            assert Dates(course).of(row).seconds == 2 * 86400
