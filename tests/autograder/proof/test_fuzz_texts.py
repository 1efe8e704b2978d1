"""Each trusted step bears texts of CPython's own tests and grammar, as they are and bent; so does each command."""

import contextlib
import json
import shutil
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator

import nbformat
import pytest
import python_texts
from class_runs import autograde, generate, rows, write
from places import ROOT
from python_texts import NAMED, missing, texts, whole_files
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.building.notebooks import dump
from autograder.cli import app
from autograder.common.unforeseen import UNGRADED
from autograder.course.answers import variants
from autograder.course.loading import load_course
from autograder.gradebook.page_exporter import page_of
from autograder.grafting.graft import graft
from autograder.grafting.grafted import Grafted
from autograder.judging.judge import Judge
from autograder.judging.student_cells import solution_cell
from autograder.proof.attack import texts as steps
from autograder.proof.attack.texts import MOST, STEPS
from autograder.reading import Unreadable, read_notebook
from autograder.sandbox import SandboxUnavailable, SourceCell, choose
from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.working_folder import checking, merging

MANY = {"a notebook is grafted", "a written answer becomes a page", "code becomes a page"}
"""Steps that are tried with a notebook of many texts, one in each cell."""

TOGETHER = 25
"""Texts of one such notebook."""


def code(text):
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}


def as_notebook(some):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [code(text) for text in some]}


def grafted(some: Iterable[str]) -> object:
    """A notebook of many texts, taken, written and read again."""
    found = graft(json.dumps(as_notebook(some)).encode(), steps._master())
    read_notebook(dump(found.notebook).encode())
    return found


def checked(text: str) -> None:
    """What the student's own commands read before anything runs."""
    with contextlib.suppress(MinigradError):
        exercises.code_of(text)
    checking.is_as_given("operators.arithmetic", text)


def merged(some: Iterable[str]) -> None:
    """A student's notebook in the place of its lesson's next version."""
    mine = merging.parse(json.dumps(as_notebook(some)).encode())
    merging.parse(
        merging.dump(merging.merge(mine, merging.parse(json.dumps(as_notebook(["new = 1"])).encode()), None).notebook)
    )


def shown(kind) -> object:
    return lambda some: page_of([kind(each) for each in some])


ALONE = {step.name: step.run for step in STEPS if step.name not in MANY} | {"minigrad reads a cell": checked}
IN_NOTEBOOKS = {
    "a notebook is grafted": grafted,
    "a written answer becomes a page": shown(nbformat.v4.new_markdown_cell),
    "code becomes a page": shown(nbformat.v4.new_code_cell),
    "minigrad merges a notebook": merged,
}


def nets(found: object) -> Iterator[str]:
    """The sentences by which a net says that it was needed."""
    if isinstance(found, list | tuple):
        for each in found:
            yield from nets(each)
    elif isinstance(found, Grafted):
        yield from nets([found.unreadable, *(note.text for note in found.notes)])
    elif isinstance(found, str | Unreadable) and UNGRADED in str(found):
        yield str(found)


def trouble(run, given) -> str:
    """What went wrong in a step: what it raised, the net that it fell into, or how long it took."""
    begun = time.thread_time()
    try:
        found = "".join(nets(run(given)))
    except Exception:
        return traceback.format_exc(limit=-3)
    seconds = time.thread_time() - begun
    return found or (f"{seconds:.1f} s" if seconds > MOST else "")


def troubles(some: list[str]) -> list[tuple[str, str, str]]:
    """Step, trouble and text of all that goes wrong with some texts."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in some:
            found += [(name, said, text) for name, run in ALONE.items() if (said := trouble(run, text))]
        for first in range(0, len(some), TOGETHER):
            cells = some[first : first + TOGETHER]
            for name, run in IN_NOTEBOOKS.items():
                if trouble(run, cells):
                    found += [(name, said, text) for text in cells if (said := trouble(run, [text]))] or [
                        (name, trouble(run, cells), repr(cells))
                    ]
    return found


def test_every_step_is_tried():
    """No step of the table is left out here."""
    assert {*ALONE, *IN_NOTEBOOKS} >= {step.name for step in STEPS}


SHARES = 100


@pytest.mark.no_cover  # its times are looked at; the next but one runs the same lines
@pytest.mark.parametrize(
    "share",
    [
        pytest.param(0),
        *(pytest.param(n, marks=pytest.mark.full("200 texts, through each step", share=100)) for n in range(1, SHARES)),
    ],
)
def test_texts_end_no_step(share):
    """Of 20,000 texts none raises an error, falls into a net, or takes long, also where warnings are errors."""
    assert troubles(list(texts(200 if share else 40, share))) == []


def test_there_are_texts_of_each_kind():
    """Some are Python, some have a tree and no code, most are neither; the same seed makes the same texts."""
    if reason := missing():
        pytest.skip(reason)
    kinds = Counter()
    for text in texts(3000, 7):
        found = steps.python_of(text)
        try:
            exercises.code_of(text)
            is_code = True
        except MinigradError:
            is_code = False
        kinds["both" if found and is_code else "tree" if found else "code" if is_code else "neither"] += 1
    assert kinds["both"] > 300 and kinds["neither"] > 1000 and list(texts(50, 3)) == list(texts(50, 3))


def test_trouble_is_found():
    """An error, a net and a long time are seen."""
    assert "ZeroDivisionError" in trouble(lambda text: 1 / 0, "") and UNGRADED in trouble(
        lambda text: (1, [UNGRADED]), ""
    )
    assert trouble(len, "") == ""


# Whole notebooks, in the sandbox and by each command --------------------------------------------------------------

DRAFTS = {
    "twice the same argument": "def add(x, x): pass\n",
    "a walrus that rebinds": "add = [x := 1 for x in range(3)]\n",
    "a walrus in an iterable": "def helper(d):\n    return [y for y in (z := d)]\n",
    "a number of 4,000 hexadecimal digits": f"LARGE = 0x{'f' * 4000}\n",
    "a number of 5,000 digits": f"LARGE = {'9' * 5000}\n",
    "deep brackets": f"x = {'(' * 5000}{')' * 5000}\n",
    "many signs": f"x = {'-' * 40_000}1\n",
    "a long sum": f"x = {'+'.join(['1'] * 9000)}\n",
    "half a character": "x = '\ud800'\n",
    "a null byte": "x = 1\0\n",
    "an escape that is none": "x = '\\d'\n",
    "a nonlocal of nothing": "def helper():\n    nonlocal y\n",
    "many names and functions": "def f():\n" + "".join(f" a{k} = 0\n def g{k}(): a\n" for k in range(1500)),
    "a conflict of two numbers": f"<<<<<<< a\nx = 0x{'f' * 4000}\n=======\nx = 0x{'e' * 4000}\n>>>>>>> b\n",
    "markup and controls": "raise ValueError('<script>\\x1b[2J\\u202e\\ud800' + '9' * 9000)\n",
}
"""Cells that stand below right answers, in innocence or not."""


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A class in which everyone has answered all rightly, and left a draft in each notebook."""
    course = make_course(tmp_path_factory.mktemp("drafts"), ROOT)
    generate(course)
    for number, draft in enumerate(DRAFTS.values()):
        student = f"student{number:02}"
        write(course, student, {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
        for path in (course / "submitted" / student / "week0").glob("*.ipynb"):
            notebook = json.loads(path.read_text())
            notebook["cells"].append({**code(draft), "id": "draft"})
            path.write_text(json.dumps(notebook))
    return course


@pytest.fixture
def course(handed, tmp_path):
    """The same again."""
    shutil.copytree(handed.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def lost(course):
    """What somebody's right answers did not get."""
    full = {"add": 3.0, "lt": 4.0}
    scores = {(student, cell): score for student, cell, score, *_ in rows(course)["grade"] if score is not None}
    assert len(scores) == 2 * len(DRAFTS)
    return {key: score for key, score in scores.items() if score not in full.values()}


@pytest.mark.full("a class is graded by each command", share=24)
def test_a_draft_costs_nothing_whoever_grades(course, tmp_path):
    """`autograder autograde` and `nbgrader autograde` give all points to right answers above any draft."""
    shutil.copytree(course.parent, tmp_path / "other")
    autograde(tmp_path / "other" / "course")
    assert lost(tmp_path / "other" / "course") == {}
    done = CliRunner().invoke(app, ["autograde", "week0", "--course", str(course)], env={"COLUMNS": "400"})
    assert done.exit_code == 0 and "not graded" not in done.output, done.output
    assert lost(course) == {}
    done = CliRunner().invoke(app, ["report", "--course", str(course)])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["feedback", "week0", "--course", str(course)])
    assert done.exit_code == 0, done.output


@pytest.mark.full("notebooks are graded one by one", share=24)
def test_a_draft_costs_nothing_in_a_notebook_of_ones_own(course):
    """`autograder grade` prints each report, in each form of it."""
    found = sorted((course / "submitted").glob("*/week0/00_numbers.ipynb"))
    words = ["grade", *map(str, found), "--course", str(course), "--hidden", str(course.parent / "hidden")]
    for form in ((), ("--json",), ("--html", str(course / "page.html"))):
        done = CliRunner().invoke(app, [*words, *form])
        assert done.exit_code == 0, done.output
        assert UNGRADED not in done.output
    assert done.output.count("00_numbers: 3 of 3 points") == len(DRAFTS)


def parts(name):
    """A test of CPython's as the cells of a notebook: its functions and classes, as many as a notebook may have."""
    whole = "\n".join(whole_files(name))
    room, found = 190_000, []
    for text in dict.fromkeys(python_texts._parts(whole)):
        if 2 < len(text) <= 20_000 and len(found) < 190 and (room := room - len(text)) > 0:
            found.append(text)
    return found


@pytest.fixture(scope="module")
def judge():
    """The judge of the course."""
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with Judge(load_course(ROOT / "course"), shrink_seconds=0) as judge:
        yield judge


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.full("a kernel is compiled beside CPython's tests", share=16)
@pytest.mark.parametrize("exercise", ["operators.arithmetic", "fast_ops.tensor_map"])
@pytest.mark.parametrize("name", NAMED)
def test_cpythons_tests_are_cells_like_any_other(judge, name, exercise):
    """Below a right answer they cost it nothing, whether or not a witness watches it; as answers they earn nothing."""
    exercise = judge.course.exercise(exercise)
    answer, *_ = variants(judge.course.directory, exercise.id).values()
    added = [
        SourceCell(text, "added", None, f"added cell {number}") for number, text in enumerate(parts(name), start=1)
    ]
    assert len(added) > 50
    cells = [*judge.around(exercise), solution_cell(exercise.id, answer), *added]
    graded = judge.grade_exercise(exercise, cells)
    assert (graded.earned, graded.reason) == (exercise.points, ""), graded
    if exercise.id == "operators.arithmetic":
        for text in [cell.source for cell in added[:40]]:
            assert judge.grade_text(exercise, text).earned == 0
        whole = judge.grade_text(exercise, "\n".join(whole_files(name))[:50_000])
        assert whole.earned == 0 and UNGRADED not in whole.reason
