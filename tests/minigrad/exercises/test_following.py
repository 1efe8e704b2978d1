"""A cell of a lesson that comes to an exercise which is not written says which one it is; all others run unchanged."""

import contextlib

import pytest
from IPython.core.interactiveshell import InteractiveShell

from minigrad import dual, exercises, language
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import following

STUB = "raise NotImplementedError()"
SPLIT = "# exercise: language.batches\ndef split(tokens, share):\n    {}\ndef batches(*given):\n    {}"
DONE, UNDONE = SPLIT.format("return 1, 2", "return 3"), SPLIT.format(STUB, STUB)


class Notebook:
    """A notebook whose cells are run in IPython."""

    def __init__(self, shell):
        self.shell, self.shown = shell, None
        shell.showtraceback = self._show

    def _show(self, raised=None, **_):
        self.shown = raised[1] if raised else None

    def run(self, cell):
        """Run a cell; the error that is shown, if there is one, is raised."""
        self.shown = None
        result = self.shell.run_cell(cell, store_history=True)
        if self.shown is not None:
            raise self.shown
        return result.result


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    """A fresh notebook, whose cells put answers into the library; which is as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr(following, "_following", None)
    shell.user_ns["__name__"] = "__main__"
    notebook = Notebook(shell)
    exercises.follow(installs=True)
    notebook.run("from minigrad import language")
    yield notebook
    exercises.use(namespace={})
    assert exercises.installed() == []


CELLS = {
    "by its name": "a, b = split([1], 0.5)",
    "in a function": "cut = lambda: split([1], 0.5)\na, b = cut()",
    "as a value": "a, b = [f([1], 0.5) for f in (split,)][0]",
    "behind another error": "try:\n    a, b = split([1], 0.5)\nexcept Exception:\n    raise ValueError",
    "in a class": "class A:\n    x = split([1], 0.5)\na, b = A.x",
    "as a default": "def f(x=split([1], 0.5)):\n    return x\na, b = f()",
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_a_cell_says_what_is_still_to_do(notebook, cell):
    """Whichever way it comes to the exercise; and runs once that is written."""
    notebook.run(UNDONE)
    with pytest.raises(ExerciseNotDone, match=r"language\.batches is not written yet"):
        notebook.run(cell)
    notebook.run(DONE)
    notebook.run(cell)
    assert (notebook.shell.user_ns["a"], language.split([1], 0.5)) == (1, (1, 2))


def test_a_cell_waits_for_what_another_could_not_compute(notebook):
    """It names the exercise, and not a variable that is missing; once that is written, the variable is named."""
    notebook.run(UNDONE)
    notebook.run("half = part = 3")  # an old value does not hide it
    for cell in ("part = split([1], 0.5)", "half = part[0]", "print(half + [])"):
        with pytest.raises(ExerciseNotDone):
            notebook.run(cell)
    notebook.run("half = 7")
    assert notebook.run("half") == 7
    with pytest.raises(ZeroDivisionError):
        notebook.run("half / 0")
    notebook.run("del part")
    with pytest.raises(ExerciseNotDone):
        notebook.run("part")
    notebook.run(DONE)
    with pytest.raises(NameError):
        notebook.run("part")


FREE = {
    "a definition": "def f():\n    return split([1], 0.5)",
    "a variable of that name": "split = [3]\nsplit[0]",
    "a function of that name from elsewhere": "from random import sample\nsample([1, 2], 1)",
    "a look at it": "callable(split), split.__doc__",
    "one that expects it": "try:\n    split([1], 0.5)\nexcept NotImplementedError:\n    pass",
    "a magic": "%timeit -n 1 -r 1 1 + 1",
    "a common name": "for i in range(3):\n    x = i\nx + 1",
    "the answer and a test of it": "# exercise: language.count\ndef count(*n):\n    return 3\nassert count() == 3",
}


@pytest.mark.parametrize("cell", FREE.values(), ids=FREE)
def test_other_cells_run(notebook, cell):
    """Whatever is still to do; and nothing of theirs goes into the library."""
    notebook.run(UNDONE)
    with pytest.raises(ExerciseNotDone):
        notebook.run("for i in range(2):\n    x = split([1], 0.5)")
    notebook.run(cell)
    notebook.run("1")
    assert set(exercises.installed()) <= {"language.count"}


@pytest.mark.parametrize("cell", ["return 3", "break", "1 +", "1 / 0", "missing", "f(a=1, a=2)"])
def test_other_errors_stay_what_they_are(notebook, cell):
    """And afterwards a stub is still told."""
    notebook.run(UNDONE)
    with contextlib.suppress(ZeroDivisionError, NameError, SyntaxError):
        notebook.run(cell)
    with pytest.raises(ExerciseNotDone):
        notebook.run("split([1], 0.5)")


def test_an_error_of_the_students_own_is_not_a_stub(notebook):
    """One that gives a reason is shown as it is."""
    notebook.run(
        "# exercise: language.batches\ndef split(*_):\n    raise NotImplementedError('later')\nbatches = split"
    )
    with pytest.raises(NotImplementedError, match="later"):
        notebook.run("split()")


def test_an_error_of_another_library_is_not_a_stub(notebook):
    """Bare as it may be, and whatever is still to do."""
    notebook.run(UNDONE)
    with pytest.raises(NotImplementedError) as raised:
        notebook.run("import asyncio\nasyncio.AbstractEventLoop().time()")
    assert not isinstance(raised.value, ExerciseNotDone)


def test_the_library_has_what_the_notebook_has(notebook):
    """A changed answer takes the place of the one before, and one that is a stub again is taken out."""
    notebook.run(DONE)
    assert notebook.run("language.split([1], 0.5)") == (1, 2)
    notebook.run(DONE.replace("1, 2", "5, 6"))
    assert notebook.run("language.split([1], 0.5)") == (5, 6)
    notebook.run(UNDONE)
    assert notebook.run("language.split([1, 2], 0.5)") != (5, 6)


def test_following_twice_follows_once(notebook):
    """The cell with the imports may run again; `installs` is that of the last call."""
    exercises.follow()
    notebook.run("# exercise: dual.jvp\nlifted = same_level = lambda *given: 7\ndef jvp(*given):\n    return 7")
    notebook.run("jvp()")
    assert dual.jvp(lambda x: x, (2.0,), (3.0,)) == (2.0, 3.0)


def test_a_notebook_that_is_read_changes_nothing(notebook, monkeypatch):
    """`use` runs the imports of other lessons, which may follow as well."""
    before = following._following
    monkeypatch.setattr(following, "is_reading", lambda: True)
    exercises.follow()
    assert following._following is before


def test_outside_of_jupyter_nothing_happens(monkeypatch):
    """As in a grader's sandbox."""
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    before = following._following
    exercises.follow()
    assert following._following is before
