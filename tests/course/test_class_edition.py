"""Lessons in the edition of a class, where nothing but the student's own code computes, run as they are."""

import datetime as dt
import re

import nbformat
import pytest
from executing import execute
from places import ROOT
from solving import HURRIED, cells, solved

from autograder.building.editions import class_edition
from autograder.course.loading import load_course

pytestmark = pytest.mark.full("a kernel for each lesson, above all lessons before it", share=48)


@pytest.fixture(scope="module")
def course():
    """The course, as it is built."""
    return load_course(ROOT / "course")


@pytest.fixture(scope="module")
def edition(course, tmp_path_factory):
    """The library of a class, without any answer."""
    return class_edition(tmp_path_factory.mktemp("edition"), course, dt.date(2026, 1, 1))


def run(course, edition, tmp_path, lesson, left_out=(), before=None):
    """Run a lesson beside those before it, and return what came of it; some answers may be left out of all."""
    folder = tmp_path / "notebooks"  # whose neighbours hold no lessons
    folder.mkdir()
    for each in before or list(course.lessons)[: list(course.lessons).index(lesson)]:
        nbformat.write(solved(course, each, left_out), folder / f"{each}.ipynb")
    notebook = solved(course, lesson, left_out)
    notebook.cells = [*cells(HURRIED), *notebook.cells]
    return execute(notebook, folder, edition)


@pytest.mark.parametrize("lesson", ["01_numerical_derivatives", "02_chain_rule", "03_backprop", "04_strides"])
def test_a_lesson_finds_the_answers_of_those_before_it(course, edition, tmp_path, lesson):
    """Each check passes, without anything being asked of the student but to run the cells."""
    seen = run(course, edition, tmp_path, lesson)
    assert (seen.errors, seen.stderr) == ((), "")
    assert list(seen.checks) == [each.id for each in course.of_lesson(lesson)]
    assert {id: text for id, text in seen.checks.items() if not re.search(r"all \d+ checks pass", text)} == {}


@pytest.mark.parametrize("lesson", ["08b_training", "09_networks"])
def test_a_network_learns_before_lessons_07b_and_08(course, edition, tmp_path, monkeypatch, lesson):
    """A reader alone does them first, as their texts allow: not even a library without answers misses 07b or 08."""
    monkeypatch.setenv("MINIGRAD_PARALLEL", "0")
    assert {"07b_what_a_loop_costs", "08_gpu"}.isdisjoint(course.order[: course.order.index(lesson)])
    seen = run(course, edition, tmp_path, lesson, before=course.order[: course.order.index(lesson)])
    assert (seen.errors, seen.stderr) == ((), "")
    assert {id: text for id, text in seen.checks.items() if not re.search(r"all \d+ checks pass", text)} == {}
    assert [cell for cell in seen.waiting if "Softmax" not in cell] == []  # lesson 08b shows one, which 09 asks for


@pytest.mark.parametrize("missing", ["tensor_ops.tensor_zip", "nn.kernels.conv2d_kernel"])
def test_without_a_network_each_cell_names_what_is_missing(course, edition, tmp_path, monkeypatch, missing):
    """Also those that need the network which an earlier cell could not make."""
    monkeypatch.setenv("MINIGRAD_PARALLEL", "0")
    compiled = [id for id in course.exercises if id.startswith("fast_ops.")]
    left_out = {*compiled, missing}
    seen = run(course, edition, tmp_path, "09_networks", left_out)
    assert (seen.errors, seen.stderr) == ((), "")
