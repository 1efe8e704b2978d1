"""The same work earns the same mark: alone, in a full notebook, in any order of cells, with later imports."""

import random

import pytest

from autograder.building.slicing import slice_exercise
from autograder.course.answers import variants
from autograder.course.loading import load_course
from autograder.judging.judge import Judge, solution_cell
from autograder.sandbox import SourceCell

COURSE = load_course(tree=False)
PLAIN = pytest.mark.full("every right answer is judged four times", share=120)
COMPILED = pytest.mark.full("every right answer is judged four times, and compiled", share=960)
VARIANTS = [
    pytest.param(exercise, text, id=f"{exercise.id}/{name}", marks=COMPILED if exercise.uses else PLAIN)
    for exercise in COURSE.exercises.values()
    for name, text in variants(COURSE.directory, exercise.id).items()
]


@pytest.fixture(scope="module")
def judge():
    """A judge of the course that keeps no result."""
    with Judge(COURSE) as judge:
        yield judge


@pytest.mark.no_cover  # test_judge.py runs the same lines
@pytest.mark.parametrize(("exercise", "text"), VARIANTS)
def test_a_right_answer_earns_everything_wherever_it_stands(judge, exercise, text):
    """Neither the other answers of its lesson, nor their order, nor imports of all names at the end cost a point."""
    own = solution_cell(exercise.id, text)
    lesson = COURSE.of_lesson(exercise.lesson)
    others = [solution_cell(each.id, slice_exercise(COURSE, each.id).reference_cell) for each in lesson]
    around = judge.around(exercise)
    setup = [cell for cell in around if cell.kind == "setup"]
    rest = [cell for cell in others if cell.exercise != exercise.id]
    full = [own if cell.exercise == exercise.id else cell for cell in others]
    names = [dotted.rpartition(".")[::2] for each in lesson for dotted in each.objects]
    imports = "\n".join(f"from minigrad.{module} import {name}" for module, name in names)
    notebooks = {
        "alone": [*around, own],
        "in a full notebook": [*setup, *full],
        # An answer may call another one while it is defined, as in `negList = map(neg)`: it comes last.
        "in another order": [*setup, *random.Random(exercise.id).sample(rest, len(rest)), own],
        "with later imports": [*setup, *full, SourceCell(imports, "added", None, "added cell 1")],
    }
    marks = {where: judge.grade_exercise(exercise, cells) for where, cells in notebooks.items()}
    assert {where: graded.earned for where, graded in marks.items()} == dict.fromkeys(marks, exercise.points), {
        where: [graded.reason, *graded.notes, *(each.reason for each in graded.verdicts if not each.passed)]
        for where, graded in marks.items()
    }
