"""`minigrad check` in a class, whose library has no answers: it stands on what the student's folder has of them."""

import datetime as dt
import json
import os
import re
import subprocess
import sys

import nbformat
import pytest
from places import ROOT

from autograder.building.editions import class_edition
from autograder.building.slicing import slice_exercise
from autograder.course.loading import load_course

LESSONS = ("00_fundamentals", "01_numerical_derivatives", "02_chain_rule", "03_backprop", "04_strides")
LESSONS += ("05_broadcasting", "06_tensor_autograd", "06b_gradients_checked")


@pytest.fixture(scope="module")
def course():
    """The course, as it is built."""
    return load_course(ROOT / "course")


@pytest.fixture(scope="module")
def edition(course, tmp_path_factory):
    """The library of a class, without any answer."""
    return class_edition(tmp_path_factory.mktemp("edition"), course, dt.date(2026, 1, 1))


def write(course, folder, lesson, **written):
    """Write a lesson with the right answers, or with other ones where they are given by the name of a function."""
    notebook = nbformat.read(course.notebooks / f"{lesson}.ipynb", as_version=4)
    for cell in notebook.cells:
        placed = re.match(r"# exercise: (\S+)\n", cell.source)
        if placed:
            name = placed[1].rpartition(".")[2]
            cell.source = written[name] if name in written else slice_exercise(course, placed[1]).reference_cell
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{lesson}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")


def check(folder, *words, library=None):
    """Run the command; return what it says of each exercise, and its remarks."""
    path = {"PYTHONPATH": str(library)} if library else {}
    variables = {**os.environ, "MINIGRAD_PARALLEL": "0", **path}
    command = [sys.executable, "-m", "minigrad", "check", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder, env=variables)
    content = json.loads(done.stdout)
    return {each["id"]: each for each in content["exercises"]}, content["remarks"]


def wrong(found):
    """What the checks that fail say."""
    return {
        id: [c["reason"] for c in each["checks"] if not c["passed"]] for id, each in found.items() if not each["passed"]
    }


@pytest.fixture
def folder(tmp_path):
    """A student's folder, with nothing in the folders beside it."""
    return tmp_path / "course" / "work"


@pytest.mark.full("a class's copy of the library is made", share=24)
def test_right_answers_pass_where_the_library_has_none(course, edition, folder):
    """Functions of numbers, and one of tensors, whose operations the student's own kernels compute; without a word."""
    for lesson in LESSONS:
        write(course, folder, lesson)
    found, remarks = check(folder, "02_chain_rule.ipynb", library=edition)
    assert (wrong(found), remarks, len(found)) == ({}, [], 6)
    for exercise in ("tensor_functions.Max", "tensor_functions.matmul_back"):
        found, remarks = check(folder, "06b_gradients_checked.ipynb", "--exercise", exercise, library=edition)
        assert (wrong(found), remarks, len(found)) == ({}, [], 1)


@pytest.mark.full("a class's copy of the library is made", share=16)
def test_earlier_lessons_may_lie_in_folders_beside(course, edition, folder):
    """A course hands out each assignment in a folder of its own."""
    write(course, folder.parent / "module0", "00_fundamentals")
    write(course, folder.parent / "module1", "02_chain_rule")
    found, _ = check(folder.parent / "module1", "02_chain_rule.ipynb", library=edition)
    assert wrong(found) == {}


@pytest.mark.full("a class's copy of the library is made", share=24)
def test_what_an_earlier_lesson_lacks_is_said(course, edition, folder):
    """A cell there that has no end costs itself, once; what stands on it names it."""
    slow = "# exercise: operators.elementary\nwhile True:\n    pass"
    write(course, folder, "00_fundamentals", elementary=slow)
    write(course, folder, "02_chain_rule")
    write(course, folder, "03_backprop")
    found, remarks = check(folder, "--seconds", "3", library=edition)
    says = "00_fundamentals.ipynb: the cell of operators.elementary was left out: it was still running after 3 s"
    assert [says in remark for remark in remarks] == [True], remarks
    assert found["operators.folds"]["passed"]
    assert found["autodiff.topological_sort"]["passed"]
    reasons = " ".join(wrong(found)["functions.elementary"])
    assert "operators.elementary is not written yet (lesson 00_fundamentals)" in reasons


def test_a_wrong_answer_elsewhere_does_not_count_where_the_library_has_its_own(course, folder):
    """Among the library's own functions a right answer is right."""
    bad = "# exercise: operators.elementary\n" + "".join(
        f"def {name}(x):\n    return 77.0\n\n\n" for name in ("id", "sigmoid", "relu", "log", "exp", "inv")
    )
    write(course, folder, "00_fundamentals", elementary=bad)
    write(course, folder, "02_chain_rule")
    found, _ = check(folder)
    assert list(wrong(found)) == ["operators.elementary"]
