"""The example course: it is about data structures, and no line of minigrad has a part in releasing or grading it."""

import json
import shutil
import subprocess
import sys

import nbformat
import pytest

from autograder.building.build import build
from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import load_course
from autograder.gradebook.exporting import read_marks
from autograder.judging.judge import Judge
from autograder.proof.attack import ATTACKS
from autograder.proof.attack.bounds import TOTAL_MB
from autograder.proof.attack.elsewhere import applied
from autograder.proof.attack.running import Arena
from autograder.proof.demo.classroom import prepare
from autograder.proof.verify import verify
from autograder.sandbox import Limits
from autograder.sandbox.packages import packages

GENERATED = ("source", "masters", "exchange", ".cache", ".grades")
LESSON = "01_structures"


@pytest.fixture(scope="module")
def example(root):
    """The course as it is committed."""
    return root / "examples" / "structures"


@pytest.fixture(scope="module")
def place(tmp_path_factory, example):
    """A copy of it, built."""
    folder = tmp_path_factory.mktemp("examples") / "structures"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns(*GENERATED))
    build(folder)
    return folder


@pytest.fixture(scope="module")
def course(place):
    return load_course(place)


def test_what_is_committed_is_what_the_build_makes(example, place):
    """The students' notebook and the list of exercises are those of the lessons."""
    for name in (f"notebooks/{LESSON}.ipynb", "course.json"):
        assert (example / name).read_text() == (place / name).read_text()


@pytest.mark.full("every answer of the example course is judged", share=4)
def test_its_hidden_tests_grade_well(course):
    """References and variants earn all points; each wrong answer is caught by the test that names it."""
    for checked in verify(course):
        assert checked.problems == () and len(checked.wrong) >= 2 and checked.variants, checked


SPY = """# exercise: structures.sift_down
import importlib.util
import sys

files = set()


def trace(frame, event, argument):
    files.add(frame.f_code.co_filename)
    return trace


sys.settrace(trace)


def sift_down(items, place):
    modules = [name for name in sys.modules if name.partition(".")[0] == "minigrad"]
    lines = [name for name in files if "/minigrad/" in name]
    raise ValueError(f"{modules} {lines} {importlib.util.find_spec('minigrad')} {len(files) > 2}")
"""


def test_a_sandbox_has_no_minigrad_in_it(course):
    """A cell finds no module of it, can import none, and traces no line of it."""
    with Judge(course, shrink_seconds=0) as judge:
        graded = judge.grade_text(course.exercise("structures.sift_down"), SPY)
    assert {verdict.reason for verdict in graded.verdicts} and not graded.earned
    assert all("ValueError: [] [] None True" in verdict.reason for verdict in graded.verdicts), graded.verdicts


def test_the_packages_of_a_sandbox_lack_minigrad():
    """What a sandbox shows beside the edition, for every course, is not the library."""
    assert [place for _, place in packages() if "minigrad" in place] == []


GRADING = """
import sys
from pathlib import Path
from autograder.building.build import build
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.judging.grading import grade_file
build(Path(sys.argv[1]))
course = load_course(sys.argv[1])
with Judge(course, shrink_seconds=0) as judge:
    for name in sys.argv[2:]:
        print(grade_file(judge, Path(name)).earned)
print([name for name in sys.modules if name.partition(".")[0] == "minigrad"])
"""


def handed_in(place, course, folder, answers):
    """A student's notebook with answers in its solution cells."""
    notebook = nbformat.read(place / "notebooks" / f"{LESSON}.ipynb", as_version=nbformat.NO_CONVERT)
    for cell in notebook.cells:
        exercise = cell.source.partition("\n")[0].removeprefix("# exercise: ")
        if exercise in answers:
            cell.source = f"# exercise: {exercise}\n{answers[exercise]}"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{LESSON}.ipynb")
    return folder / f"{LESSON}.ipynb"


def right(course):
    """The right answers."""
    return {each: slice_exercise(course, each).reference for each in course.exercises}


def one_wrong(course):
    """One of them replaced by a known-wrong one, which costs the two points of a group."""
    wrong = wrong_answers(course.directory, "structures.History")["oldest-first"]
    return {**right(course), "structures.History": wrong}


HOSTILE = {"structures.History": "import os\nos._exit(0)", "structures.Sets": "while True:\n    pass"}


@pytest.mark.full("a class is graded", share=4)
def test_grading_imports_nothing_of_minigrad(place, course, tmp_path):
    """The process that builds the course and grades two notebooks has no module of it at the end."""
    names = [
        str(handed_in(place, course, tmp_path / name, answers(course)))
        for name, answers in (("right", right), ("wrong", one_wrong))
    ]
    command = [sys.executable, "-P", "-c", GRADING, str(place), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["10", "8", "[]"]


@pytest.mark.full("nbgrader releases and collects, and a class is graded", share=48)
def test_a_class_is_graded_by_nbgrader(example, tmp_path):
    """A right, a wrong and a hostile student get what their answers are worth, in nbgrader's gradebook."""
    classroom = prepare(tmp_path / "out", example)
    course = classroom.course
    build(course.directory)
    said = []
    for command in ("generate_assignment", "release_assignment"):
        assert classroom.nbgrader(command, "week1", said=said.append) == 0, said
    for name, answers in {"ada": right(course), "bea": one_wrong(course), "eve": HOSTILE}.items():
        file = handed_in(course.directory, course, tmp_path / name, answers)
        classroom.submit(name, "week1", {file.name: file.read_bytes()})
    assert classroom.nbgrader("collect", "week1", said=said.append) == 0, said
    assert classroom.autograder("autograde", "week1", "--jobs", "1", said=said.append) == 0, said
    assert classroom.nbgrader("generate_feedback", "week1", said=said.append) == 0, said
    assert {each.student: each.raw for each in read_marks(course, ["week1"])} == {"ada": 10, "bea": 8, "eve": 0}


@pytest.fixture(scope="module")
def arena(tmp_path_factory, example):
    limits = Limits(cell_seconds=0.5, test_seconds=1, submission_seconds=4, total_mb=TOTAL_MB)
    with Arena(tmp_path_factory.mktemp("attack") / "arena", example, limits=limits) as arena:
        yield arena


EVERY_TIME = {"forged-result", "nan-answer", "parent-memory", "duplicated-checks-right"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in EVERY_TIME else pytest.mark.full("one of many attacks", share=160))
        for name in ATTACKS
    ],
)
def test_an_attack_wins_nothing(arena, name):
    """What applies to this course gets no points, no secrets, and changes no file."""
    for attack in applied([ATTACKS[name]], arena.target, arena.released):
        assert arena.run(attack).problems == ()


@pytest.mark.full("all attacks are written for another course", share=4)
def test_most_attacks_apply(arena):
    """More than 150 of them need nothing of minigrad, and those that are made every time are among them."""
    names = {attack.name for attack in applied(ATTACKS.values(), arena.target, arena.released)}
    assert len(names) > 150 and names >= EVERY_TIME
    assert json.dumps(arena.finish()) == "[]"
