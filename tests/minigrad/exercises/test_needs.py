"""Cells that build on an exercise say in one line that it is still to do."""

import pytest

from minigrad.errors import ExerciseNotDone

CELL = "from minigrad.exercises import needs\nneeds('operators.folds', 'derivatives.gradient')"
FOLDS = "negList = addLists = sum = prod = lambda *values: 0.0\n"


def test_answers_that_are_there():
    """Where every answer is written, nothing happens."""
    exec(FOLDS + "def gradient(f, *vals):\n    return []\n" + CELL, {"__name__": "__main__"})


@pytest.mark.parametrize("gradient", ["", "def gradient(f, *vals):\n    raise NotImplementedError()\n"])
def test_an_answer_that_is_missing(gradient):
    """An answer that is missing, or still the stub, is named with its lesson."""
    with pytest.raises(ExerciseNotDone, match=r"derivatives\.gradient is not written yet \(lesson 01_"):
        exec(FOLDS + gradient + CELL, {"__name__": "__main__"})
