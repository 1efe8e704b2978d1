"""A draft's exercises are cut and graded like any other, before there is a lesson; nothing of it is released."""

import datetime as dt
import json

import pytest
from rich.text import Text
from two_lessons import make_course
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.building.editions import closed_exercises, edition_files
from autograder.building.masters import find_master
from autograder.building.slicing import slice_exercise
from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.judging.grading import grade_file
from autograder.judging.judge import Judge

TOML = '''
[[assignment]]
name = "week1"
title = "Kernels"
lessons = ["02_kernels"]
draft = true

[lesson.02_kernels]
setup = """
from __future__ import annotations
import numpy as np
from numba import njit, prange
"""

[[exercise]]
id = "nested.inner._twice"
lesson = "02_kernels"
points = 2
groups = { values = 2 }
uses = ["numba"]
limits = { test_seconds = 20, cell_seconds = 20 }

[[exercise]]
id = "nested.inner.Scaled"
lesson = "02_kernels"
points = 1
groups = { values = 1 }
uses = ["numba"]

[[exercise]]
'''

INNER = '''
"""Kernels."""

import numpy as np
from numba import njit

from minigrad.operators import ieee


def _twice(out, values):
    """Write twice each value."""
    ### BEGIN SOLUTION
    for place in range(len(values)):
        out[place] = 2.0 * values[place]
    ### END SOLUTION


def doubled(values):
    """Return twice each value."""
    out = np.empty_like(values)
    kernel = _twice if hasattr(_twice, "py_func") else njit(_twice)
    kernel(out, values)
    return out


class Scaled:
    """Knows its scale."""

    def __init__(self, scale):
        self.scale = scale

    def of(self, value):
        """Return the value times the scale."""
        ### BEGIN SOLUTION
        return self.scale * value
        ### END SOLUTION
'''

HIDDEN = '''
import numpy as np
import pytest
from autograder import expect


def doubled(mg, values):
    return mg.nested.inner.doubled(values)


@pytest.mark.exercise("nested.inner._twice", group="values", because="nested.inner._twice: 'Write twice each value'")
def test_values(student):
    """Each value is written twice as large."""
    seen = student(doubled, np.array([1.0, -2.5], dtype=np.float32))
    expect(seen, np.array([2.0, -5.0], dtype=np.float32), misconception="once")


@pytest.mark.exercise("nested.inner._twice", group="values", because="nested.inner._twice: 'Write twice each value'")
def test_nothing(student):
    """No value gives nothing."""
    expect(student(doubled, np.zeros(0)), np.zeros(0))


@pytest.mark.exercise("nested.inner.Scaled", group="values", because="nested.inner.Scaled: 'times the scale'")
def test_scaled(student):
    """The scale of each object counts."""
    def observe(mg, scale, value):
        return mg.nested.inner.Scaled(scale).of(value)
    expect(student(observe, 3.0, 2.0), 6.0)
'''

COMPILED = """# exercise: nested.inner._twice
@njit(parallel=True, cache=True)
def _twice(out, values):
    for place in prange(len(values)):
        out[place] = np.float64(2.0) * values[place]
"""
KERNEL, CLASS = "nested.inner._twice", "nested.inner.Scaled"


@pytest.fixture(scope="module")
def place(tmp_path_factory, root):
    """A course of two lessons with a draft of a third, over a library with a module in a package."""
    folder = make_course(tmp_path_factory.mktemp("drafts"), root)
    toml = folder / "course.toml"
    toml.write_text(toml.read_text().replace("[[exercise]]\n", TOML.lstrip("\n"), 1))
    nested = folder.parent / "src" / "minigrad" / "nested"
    nested.mkdir()
    (nested / "__init__.py").write_text('"""A package."""\n')
    (nested / "inner.py").write_text(INNER.lstrip("\n"))
    (folder.parent / "hidden" / "test_nested.py").write_text(HIDDEN)
    build(folder)
    return folder


@pytest.fixture(scope="module")
def course(place):
    return load_course(place)


@pytest.fixture(scope="module")
def judge(place, course):
    with Judge(course, hidden=place.parent / "hidden") as judge:
        yield judge


@pytest.mark.full("a course is built", share=4)
def test_nothing_is_built_of_a_draft(place):
    """No notebook is written; the library knows the exercises as a draft's; the summary says so."""
    made = {path.stem for path in place.parent.rglob("*.ipynb")}
    assert made == {"00_numbers", "01_order"}
    known = json.loads((place.parent / "src" / "minigrad" / "course.json").read_text())
    assert [each["name"] for each in known["assignments"]] == ["week0"]
    assert [each["name"] for each in known["lessons"]] == ["00_numbers", "01_order"]
    drafts = {each["id"]: each for each in known["exercises"] if each.get("draft")}
    assert set(drafts) == {KERNEL, CLASS} and drafts[KERNEL]["uses"] == ["numba"]
    report = build(place)
    assert (report.drafts, report.written) == ({"week1": 3}, [])
    assert "02_kernels" not in report.totals
    said = CliRunner().invoke(app, ["build", "--quick", "--course", str(place)], env={"COLUMNS": "200"}).output
    assert "week1: 3 points, a draft: no notebooks, nothing to release" in Text.from_ansi(said).plain


def test_a_draft_is_refused_where_a_notebook_is_wanted(place, course, judge):
    """No one can hand in what nobody got."""
    with pytest.raises(CourseError, match="the lesson '02_kernels' is a draft"):
        find_master(course, "02_kernels")
    with pytest.raises(CourseError, match="the lesson '02_kernels' is a draft"):
        grade_file(judge, place.parent / "notebooks" / "00_numbers.ipynb", "02_kernels")


def test_answers_of_a_draft_are_never_open(course):
    """A class gets a library without them, whatever the day."""
    assert {KERNEL, CLASS} <= set(closed_exercises(course, dt.date(2099, 1, 1)))


def test_a_draft_is_cut_from_editions(course):
    """In a package, and by a name that begins with an underscore."""
    files = edition_files(course, [KERNEL])
    text = files["nested/inner.py"].decode()
    assert f'raise ExerciseNotDone("{KERNEL}")' in text and "2.0 * values[place]" not in text
    assert "return self.scale * value" in text


@pytest.mark.full("a course is built", share=12)
def test_a_draft_is_graded_below_its_setup(judge, course):
    """Reference and compiled answer earn everything, with the names of the setup; stub and others what they deserve."""
    kernel, scaled = course.exercise(KERNEL), course.exercise(CLASS)
    source = slice_exercise(course, KERNEL)
    for text in (source.reference_cell, COMPILED):
        graded = judge.grade_text(kernel, text)
        assert graded.full and graded.notes == (), graded
    assert judge.points(kernel, source.stub_cell) == 0
    wrong = judge.grade_text(kernel, COMPILED.replace("2.0", "1.0"))
    assert [verdict.misconception for verdict in wrong.verdicts if not verdict.passed] == ["once"]
    assert judge.grade_text(scaled, slice_exercise(course, CLASS).reference_cell).full


@pytest.mark.full("a course is built", share=12)
def test_the_lesson_of_a_draft_may_be_half_written(place, judge, tmp_path, monkeypatch):
    """As soon as the file is there, its setup cells are what answers have above them."""
    toml, lesson = place / "course.toml", place / "lessons" / "02_kernels.md"
    before = toml.read_text()
    setup = "import numpy as np\nfrom numba import njit, prange"
    with_cells = f"# Kernels\n\n```{{code-cell}} ipython3\n:tags: [setup]\n\n{setup}\n```\n"
    try:
        lesson.write_text(with_cells)
        start = before.index("[lesson.02_kernels]")
        toml.write_text(before[:start] + before[before.index("[[exercise]]", start) :])
        course = load_course(place)
        with Judge(course, hidden=judge.hidden) as other:
            assert other.grade_text(course.exercise(KERNEL), COMPILED).full
            lesson.write_text(with_cells.replace("njit, prange", "njit"))
            assert "prange" in other.grade_text(course.exercise(KERNEL), COMPILED).failures[0].reason
    finally:
        lesson.unlink()
        toml.write_text(before)
