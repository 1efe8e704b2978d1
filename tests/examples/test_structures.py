"""The example course: it is about data structures, and no line of minigrad has a part in releasing or grading it."""

import json
import subprocess
import sys

import pytest
from example_courses import copied, graded, handed_in, right

from autograder.course.answers import wrong_answers
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.attack import ATTACKS
from autograder.proof.attack.bounds import TOTAL_MB
from autograder.proof.attack.elsewhere import applied
from autograder.proof.attack.running import Arena
from autograder.proof.verify import verify
from autograder.sandbox import Limits
from autograder.sandbox.packages import packages

LESSON = "01_structures"


@pytest.fixture(scope="module")
def example(root):
    """The course as it is committed."""
    return root / "examples" / "structures"


@pytest.fixture(scope="module")
def place(tmp_path_factory, example):
    """A copy of it, built."""
    return copied(example, tmp_path_factory.mktemp("examples"))


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


def one_wrong(course):
    """One of them replaced by a known-wrong one, which costs the two points of a group."""
    wrong = wrong_answers(course.directory, "structures.History")["oldest-first"]
    return {**right(course), "structures.History": wrong}


HOSTILE = {"structures.History": "import os\nos._exit(0)", "structures.Sets": "while True:\n    pass"}


@pytest.mark.full("a class is graded", share=4)
def test_grading_imports_nothing_of_minigrad(place, course, tmp_path):
    """The process that builds the course and grades two notebooks has no module of it at the end."""
    names = [
        str(handed_in(course, tmp_path / name, answers(course)))
        for name, answers in (("right", right), ("wrong", one_wrong))
    ]
    command = [sys.executable, "-P", "-c", GRADING, str(place), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["10", "8", "[]"]


@pytest.mark.full("nbgrader releases and collects, and a class is graded", share=48)
def test_a_class_is_graded_by_nbgrader(example, tmp_path):
    """A right, a wrong and a hostile student get what their answers are worth, in nbgrader's gradebook."""
    answers = {"ada": right, "bea": one_wrong, "eve": lambda _: HOSTILE}
    assert graded(example, tmp_path, answers) == {"ada": 10, "bea": 8, "eve": 0}


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
