"""Cells that build on an exercise say in one line that it is still to do, and may put it into the library."""

import pytest

from minigrad import dual, exercises, operators
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


# --- needs_installed --------------------------------------------------------------------------------------------------

DUAL = """
from minigrad.dual import Arithmetic
class Dual(Arithmetic):
    def plus(self, other):
        return self.like(self.value + other.value, {tangent})
"""
LEVELS = "lifted = same_level = None\ndef jvp(f, primals, tangents):\n    return {answer!r}\n"
LEVELS += "lifted = same_level = lambda *given: given\n"


def notebook(*cells):
    """The names of a notebook in which some cells have run; further ones are run in it."""
    names = {"__name__": "__main__"}
    for cell in ("from minigrad.exercises import needs_installed as needs", *cells):
        exec(cell, names)
    return names


@pytest.fixture
def nothing_stays():
    """The library is as it was."""
    yield
    exercises.use(namespace={})
    assert exercises.installed() == []


@pytest.fixture(autouse=True)
def no_folder(tmp_path, monkeypatch):
    """No notebook is beside this one, nor in the folders beside its own, where those of other tests lie."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.mark.usefixtures("nothing_stays")
def test_the_library_runs_what_the_notebook_has():
    """From the cell on that names the exercise, also through the module."""
    names = notebook(LEVELS.format(answer=1))
    assert dual.jvp(lambda x: x, (2.0,), (3.0,)) == (2.0, 3.0)
    exec("needs('dual.jvp')", names)
    assert dual.jvp(lambda x: x, (2.0,), (3.0,)) == 1


@pytest.mark.usefixtures("nothing_stays")
def test_a_changed_answer_takes_the_place_of_the_one_before():
    """There is one at a time; the same one is not put in twice; `use` takes it out."""
    names = notebook(LEVELS.format(answer=1), "needs('dual.jvp')", "needs('dual.jvp')")
    assert exercises.installed() == ["dual.jvp", "dual.lifted", "dual.same_level"]
    before = exercises.using._needed["dual.jvp"][1]
    exec("needs('dual.jvp')", names)
    assert exercises.using._needed["dual.jvp"][1] is before
    exec(LEVELS.format(answer=2) + "needs('dual.jvp')", names)
    assert dual.jvp(None, (), ()) == 2
    assert exercises.using._in_use == [exercises.using._needed["dual.jvp"][1]]
    exercises.use(namespace={})
    assert dual.jvp(lambda x: x, (2.0,), (3.0,)) == (2.0, 3.0)


@pytest.mark.usefixtures("nothing_stays")
def test_a_class_that_is_written_again():
    """Numbers that exist already, and those of the cell, compute by the newest methods."""
    names = notebook(DUAL.format(tangent="10.0"), "needs('dual.Dual')")
    old = dual.Dual(1.0, 1.0)
    assert (names["Dual"](1.0, 1.0) + 2.0).tangent == (old + 2.0).tangent == 10.0
    exec("needs('dual.Dual')", names)
    exec(DUAL.format(tangent="20.0") + "needs('dual.Dual')", names)
    assert (names["Dual"](1.0, 1.0) + 2.0).tangent == (old + 2.0).tangent == 20.0


@pytest.mark.usefixtures("nothing_stays")
def test_what_is_not_written_is_told_and_not_put_in():
    """As `needs` does; what stands before it in the list is there."""
    names = notebook(LEVELS.format(answer=1))
    with pytest.raises(ExerciseNotDone, match=r"dual\.Dual is not written yet \(lesson 10_"):
        exec("needs('dual.jvp', 'dual.Dual')", names)
    assert "dual.jvp" in exercises.installed() and "dual.Dual" not in exercises.installed()


def test_a_grader_decides_by_itself(monkeypatch):
    """In a sandbox nothing is put in."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    notebook("add = mul = neg = lambda *given: 7", "needs('operators.arithmetic')")
    assert operators.add(1.0, 2.0) == 3.0 and exercises.installed() == []
