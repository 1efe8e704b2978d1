"""Paths: what a folder asks for, and how the library stands in for what its path leaves out."""

import dataclasses

import pytest

import minigrad
from minigrad import exercises, mlp, operators
from minigrad.checks.runner import NotOnPath
from minigrad.errors import ExerciseNotDone, MinigradError
from minigrad.exercises import paths, using
from minigrad.tutor import progressing

STUBS = """
# exercise: operators.folds
def negList(values): raise NotImplementedError()
def addLists(a, b): raise NotImplementedError()
def sum(values): raise NotImplementedError()
def prod(values): raise NotImplementedError()
class Linear:
    def __init__(self, inputs, outputs):
        raise NotImplementedError()
    def forward(self, x):
        raise NotImplementedError()
def central_difference(f, *vals, arg=0, epsilon=1e-6): raise NotImplementedError()
"""
NEEDS = "from minigrad.exercises import needs\nneeds('operators.folds', 'mlp.Linear')"
NEEDS_INSTALLED = "from minigrad.exercises import needs_installed\nneeds_installed('mlp.Linear')"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder that follows the path of a weekend, and is the current one."""
    paths.choose(tmp_path, paths.named("weekend"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def names():
    """A notebook in which nothing is written yet."""
    namespace = {"__name__": "__main__", "check": minigrad.check}
    exec(STUBS, namespace)
    return namespace


def test_a_folder_remembers_its_path(folder):
    """Folders in it know it too; "all" goes back; a path that this course does not have leaves nothing out."""
    (folder / "deep").mkdir()
    assert paths.chosen() == paths.chosen(folder / "deep") == paths.paths()["weekend"]
    paths.choose(folder, paths.named("all"))
    assert paths.chosen() is None
    paths.choose(folder, None)
    (folder / ".minigrad" / paths.FILE).write_text("another\n")
    assert paths.chosen() is None


def test_a_path_that_is_not_there_is_named():
    """The message lists the paths that are."""
    with pytest.raises(MinigradError, match="start: there is no path 'week'; choose one of: weekend, term, poem, all"):
        paths.named("week")


def test_a_path_says_which_lessons_are_its_own():
    """By their numbers, in the path's order, and each once; then those of the course that are not on it."""
    weekend = paths.paths()["weekend"]
    last, first = weekend.parts[-1], weekend.parts[0]
    said = paths.CoursePath("short", "Short", (last, first, first)).which_lessons
    assert said.startswith("Its lessons: 12, 00. Not on it: 01, 02, 03, ") and said.count("12") == 1
    assert paths.CoursePath("one", "One", (first,)).which_lessons.startswith("Its lesson: 00. Not on it: 01, ")
    everything = [dataclasses.replace(first, lesson=each["name"]) for each in exercises.syllabus.course()["lessons"]]
    assert "Not on it" not in paths.CoursePath("whole", "Whole", tuple(everything)).which_lessons


def test_the_weekend_is_the_core():
    """The exercises of the rank "core", and no others; every path ends with the poem."""
    core = [each.id for each in exercises.catalogue().values() if each.rank == "core"]
    assert list(paths.paths()["weekend"].exercises) == core
    assert {path.parts[-1].lesson for path in paths.paths().values()} == {"12_poems"}


def test_the_library_stands_in_where_a_check_is_not_asked_for(folder, names):
    """Functions and classes alike; the cells below see them, and nothing is recorded. A second check says the same."""
    for id in ("operators.folds", "mlp.Linear", "operators.folds"):
        said = eval(f"check({id!r})", names)
        assert isinstance(said, NotOnPath) and f"{id} is not on your path" in repr(said)
    assert (names["sum"], names["Linear"]) == (operators.sum, mlp.Linear)
    exec(NEEDS, names)
    assert progressing.read() == {}


def test_a_cell_that_needs_it_does_not_wait_for_the_check(folder, names):
    """`needs` and `needs_installed` put the library's answers in by themselves."""
    exec(NEEDS_INSTALLED, names)
    exec(NEEDS, names)
    assert (names["sum"], names["Linear"]) == (operators.sum, mlp.Linear)


def test_what_is_begun_stays(folder, names):
    """An answer to an exercise that the path leaves out is checked like any other, half of one too."""
    exec("def prod(values): return 1.0", names)
    assert "mul" not in repr(eval("check('operators.folds')", names))
    assert names["prod"] is not operators.prod
    assert progressing.read()["operators.folds"].checks == 1
    with pytest.raises(ExerciseNotDone, match=r"operators\.folds"):
        exec(NEEDS, names)


def test_an_answer_is_checked_though_it_is_in_the_library_already(folder, names):
    """Lessons from 10 on put their reader's answers there before each cell: none of them is the library's own."""
    asked = ("negList", "addLists", "sum", "prod")
    exec("\n".join(f"def {name}(*values): return 7.0" for name in asked), names)
    using.put_in("operators.folds", {f"operators.{name}": names[name] for name in asked})
    try:
        assert not isinstance(eval("check('operators.folds')", names), NotOnPath)
        assert progressing.read()["operators.folds"].checks == 1
    finally:
        using.take_back("operators.folds")


def test_what_the_path_asks_for_is_checked(folder, names):
    """A stub of it fails its check, and stays."""
    stub = names["central_difference"]
    eval("check('derivatives.central_difference')", names)
    assert names["central_difference"] is stub
    assert progressing.read()["derivatives.central_difference"].checks == 1


@pytest.mark.parametrize("where", ["a grader", "no path", "an edition without the answer"])
def test_nothing_is_given_elsewhere(folder, names, where, monkeypatch):
    """A grader asks for everything; so does a folder without a path; and what the library lacks it cannot give."""
    if where == "a grader":
        monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    elif where == "no path":
        paths.choose(folder, None)
    else:
        monkeypatch.setattr("minigrad.exercises.given.is_cut", lambda value: value is operators.prod)
    stub = names["prod"]
    assert not exercises.give("operators.folds", names)
    assert names["prod"] is stub


@pytest.mark.parametrize("lacking", [[], ["engine.unbroadcast"], ["fast_ops.tensor_reduce"]])
def test_compiled_loops_compute_once_what_is_before_them_is_written(folder, lacking):
    """The library's stand in for those that the path leaves out, but for one's own; not while lessons 04 to 06 last."""
    order = list(exercises.catalogue())
    path = paths.paths()["weekend"]
    done = [id for id in path.exercises if order.index(id) < order.index("fast_ops.tensor_map")]
    own = [id for id in lacking if id.startswith("fast_ops")]
    try:
        using._let_compiled_loops_compute(dict.fromkeys([id for id in done if id not in lacking] + own, ""))
        loops = {id for id in order if id.startswith("fast_ops.")}
        assert set(exercises.installed()) == (set() if "engine.unbroadcast" in lacking else loops - {*own})
        assert (minigrad.tensor([1.0, 2.0]) + 1.0).tolist() == [2.0, 3.0]
    finally:
        exercises.use(namespace={})
    assert exercises.installed() == []
