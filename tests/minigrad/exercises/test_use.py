"""What `use` takes from notebooks: which come first, what is no answer, and what a second call takes back."""

import inspect
import json
import linecache
import re
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace

import pytest

import minigrad
from minigrad import Scalar, autodiff, derivatives, exercises, functions, mlp, operators, tensor_ops
from minigrad.checks import run
from minigrad.errors import ExerciseNotDone, MinigradError, MissingPath
from minigrad.exercises import installing, syllabus, using
from minigrad.exercises.given import put_in_place
from minigrad.exercises.reading import namespace_of
from minigrad.exercises.standing_in import fill_stubs
from minigrad.machine import overrides
from minigrad.quick import scalar

pytestmark = pytest.mark.usefixtures("library_as_it_was")

ANSWER = "# exercise: operators.arithmetic\n%time\ndef add(x, y):\n    return x + y + OFFSET\n\n\n"
ANSWER += "def mul(x, y):\n    return (x\n    * y\n    % 1000.0)\n\n\ndef neg(x):\n    return -x\n"
RAISES = "raise NotImplementedError()"
ADDING = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    {}\n"
ADDED = f"# exercise: operators.arithmetic\n{ADDING.format('return -x')}"
STUB = "# exercise: autodiff.chain_rule\ndef chain_rule(variable, d_output):\n    # YOUR CODE HERE\n"
STUB += "    raise NotImplementedError()\n"


def notebook(path, *cells):
    """Write a notebook of code cells, each a source or a pair of source and tags."""
    made = [c if isinstance(c, tuple) else (c, []) for c in cells]
    body = [
        {"cell_type": "code", "source": s.splitlines(keepends=True), "metadata": {"tags": t}, "outputs": []}
        for s, t in made
    ]
    markdown = {"cell_type": "markdown", "source": "# exercise: not code", "metadata": {}}
    path.write_text(json.dumps({"cells": [markdown, *body], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def states(capsys):
    """Return what `use` said of each exercise, and its other lines."""
    lines = capsys.readouterr().out.splitlines()
    ids = list(syllabus.catalogue())
    said = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line.split()[0] in ids}
    return said, [line for line in lines if line.split()[0] not in ids]


def test_use_installs_the_answers_of_a_folder(tmp_path, capsys):
    """Setup cells and answers run, everything else does not; a stub is the reference; each exercise has a line."""
    notebook(
        tmp_path / "00.ipynb",
        ("OFFSET = 0.5\n", ["setup"]),
        "raise SystemError('a worked example does not run')",
        ANSWER,
    )
    notebook(tmp_path / "02.ipynb", STUB)
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, others = states(capsys)
    assert list(said) == [each.id for each in exercises.catalogue().values() if not each.draft]
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert {state for id, state in said.items() if id != "operators.arithmetic"} == {"reference"}
    assert others == []
    assert (Scalar(1.0) + 2.0).data == 3.5
    assert (Scalar(50.0) * 30.0).data == 500.0


def test_use_prints_a_line_for_each_lesson(tmp_path, capsys):
    """The lesson of an answer has its count and what is not the student's; lessons without any share a line."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    first, rest, last = capsys.readouterr().out.splitlines()
    lessons = dict.fromkeys(each.lesson for each in exercises.catalogue().values() if not each.draft)
    counts = Counter(each.lesson for each in exercises.catalogue().values() if not each.draft)
    own, *others = lessons
    assert re.sub(" +", " ", first) == (
        f"{own} 1 of {counts[own]} yours, reference: operators.comparison, operators.elementary "
        f"and {counts[own] - 3} more"
    )
    assert re.sub(" +", " ", rest) == (
        f"{others[0]} to {others[-1]} 0 of {counts.total() - counts[own]} yours, reference: all"
    )
    assert last == "minigrad.use(verbose=True) names every exercise"


def test_the_library_so_far(tmp_path, capsys):
    """What is written up to a lesson, and what of it `use` has put in: for the picture at a lesson's end."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    found = exercises.written("01_numerical_derivatives")
    assert list(found) == ["00 fundamentals", "01 numerical derivatives"]
    assert [name for names in found.values() for name, is_there in names if is_there] == ["add", "mul", "neg"]
    assert ("gradient", False) in found["01 numerical derivatives"]
    assert len(exercises.written()) == len({each.lesson for each in exercises.catalogue().values()})
    with pytest.raises(ValueError, match="there is no lesson '03'; the lessons are 00_fundamentals, "):
        exercises.written("03")


def test_missing_is_explained_once(tmp_path, monkeypatch, capsys):
    """Below the first table in which an answer is missing, and below no other."""
    monkeypatch.setattr(using, "_said_missing", False)
    monkeypatch.chdir(tmp_path)
    minigrad.use(namespace={})
    assert "missing" not in capsys.readouterr().out
    monkeypatch.setattr(using, "without_answer", lambda exercise: exercise.id == "operators.comparison")
    for verbose in (False, True):
        minigrad.use(namespace={}, verbose=verbose)
    out = capsys.readouterr().out
    assert out.count("missing: not written yet, and your course's library has no answer of its own") == 1
    assert out.count("missing") == 3, out


def test_use_says_what_is_missing(tmp_path, monkeypatch, capsys):
    """In an edition without answers the lines say which exercises are still to be written."""
    missing = {"operators.comparison", "derivatives.gradient"}
    monkeypatch.setattr(using, "without_answer", lambda exercise: exercise.id in missing)
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={})
    lines = [re.sub(" +", " ", line) for line in capsys.readouterr().out.splitlines()]
    assert "yours, missing: operators.comparison, reference: operators.elementary" in lines[0]
    assert "0 of" in lines[1]
    assert "missing: derivatives.gradient, reference: derivatives.central_difference" in lines[1]


def test_use_finds_the_lessons_of_the_folders_beside(tmp_path, monkeypatch, capsys):
    """Without a path, a lesson in another assignment's folder counts, after this folder's; other files there do not."""
    for folder in ("module0", "module1", "module2"):
        (tmp_path / folder).mkdir()
    notebook(tmp_path / "module0" / "00_fundamentals.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    notebook(tmp_path / "module2" / "notes.ipynb", "# exercise: operators.folds\nraise SystemError")
    monkeypatch.chdir(tmp_path / "module1")
    exercises.use(namespace={}, verbose=True)
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from module0/00_fundamentals.ipynb"
    assert others == []
    exercises.use(namespace={})
    assert re.search(r"00_fundamentals +1 of \d+ yours, in module0, reference: ", capsys.readouterr().out)


def test_use_says_nothing_of_drafts(tmp_path, monkeypatch, capsys):
    """An exercise whose lesson is still being written has a line only where someone has done it all the same."""
    known = exercises.catalogue()
    drafts = {id: replace(known[id], draft=True) for id in ("operators.arithmetic", "operators.folds")}
    monkeypatch.setattr(syllabus, "catalogue", lambda: {**known, **drafts})
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert "operators.folds" not in said and others == []


def test_a_name_that_two_lessons_ask_for(tmp_path, monkeypatch, capsys):
    """What stands in the cell of one exercise is no answer to another that asks for a function of that name."""
    known = exercises.catalogue()
    twin = replace(known["operators.folds"], id="other.folds", objects=("derivatives.gradient",))
    monkeypatch.setattr(syllabus, "catalogue", lambda: {**known, "other.folds": twin})
    cell = "# exercise: {}\ndef gradient(f, *vals):\n    return [7.0]"
    notebook(tmp_path / "05.ipynb", cell.format("derivatives.gradient"))
    exercises.use(tmp_path / "05.ipynb", namespace={}, verbose=True)
    said, _ = states(capsys)
    assert (said["derivatives.gradient"], said["other.folds"]) == ("yours, from 05.ipynb", "reference")
    notebook(tmp_path / "07.ipynb", cell.format("other.folds"))
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, _ = states(capsys)
    assert (said["derivatives.gradient"], said["other.folds"]) == ("yours, from 05.ipynb", "yours, from 07.ipynb")


CENTRAL = "def central_difference(f, *vals, arg=0, epsilon=1e-6):\n    return 7.0"


def test_an_example_is_no_answer_where_a_path_left_the_lessons_own_stubs_out(tmp_path, capsys):
    """The library's objects stand in their places then; the stubs are kept aside, and tell the lesson."""
    stub = "# exercise: operators.comparison\ndef max(x, y):\n    raise NotImplementedError()"
    namespace = {"__name__": "__main__"}
    for number, text in enumerate([stub, CENTRAL]):
        name = f"<cell {tmp_path.name} {number}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), namespace)
    put_in_place(namespace, "max", operators.max)
    exercises.use(tmp_path, namespace=namespace, verbose=True)
    assert states(capsys)[0]["derivatives.central_difference"] == "reference"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([ADDED, CENTRAL], "reference"),
        ([CENTRAL], "yours, from this notebook"),
        ([ADDED, f"# exercise: derivatives.central_difference\n{CENTRAL}"], "yours, from this notebook"),
        ([ADDED, "def max(x, y):\n    return y", CENTRAL], "reference"),
    ],
)
def test_an_example_of_another_lesson_is_no_answer(tmp_path, capsys, cells, said):
    """In a notebook that answers exercises of one lesson, a function without a first line counts for that lesson."""
    namespace = {"__name__": "__main__"}
    for number, text in enumerate(cells):
        name = f"<cell {tmp_path.name} {number}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), namespace)
    exercises.use(tmp_path, namespace=namespace, verbose=True)
    assert states(capsys)[0]["derivatives.central_difference"] == said


@pytest.mark.parametrize("own", [True, False])
def test_what_functions_of_another_exercise_made_is_an_answer(tmp_path, capsys, own):
    """`prod = reduce(mul, 1)` is a right answer to the folds, with one's own `reduce` or the library's."""
    written = "".join(map(inspect.getsource, (operators.map, operators.zipWith, operators.reduce)))
    given = "from __future__ import annotations\nfrom minigrad.operators import add, map, mul, neg, reduce, zipWith"
    folds = "negList, addLists, sum, prod = map(neg), zipWith(add), reduce(add, 0.0), reduce(mul, 1.0)"
    cells = (f"# exercise: operators.higher_order\n{written}",) if own else ()
    notebook(tmp_path / "00.ipynb", (given, ["setup"]), *cells, f"# exercise: operators.folds\n{folds}")
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, _ = states(capsys)
    assert said["operators.folds"] == "yours, from 00.ipynb"


def test_a_stub_in_an_inner_function_is_no_answer(tmp_path, capsys):
    """A function that only makes an unwritten function is not written either."""
    notebook(
        tmp_path / "01.ipynb",
        "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    def inner():\n"
        "        raise NotImplementedError()\n    return inner",
    )
    exercises.use(tmp_path, namespace={}, verbose=True)
    assert states(capsys)[0]["derivatives.gradient"] == "reference"


def test_what_a_later_notebook_imports_is_the_students(tmp_path):
    """Each notebook's answers are in the library before the next one runs, whose setup cell may import them by name."""
    notebook(tmp_path / "01.ipynb", "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    return [7.0]")
    later = "# exercise: derivatives.central_difference\ndef central_difference(f, *vals):\n    return gradient(f)[0]"
    notebook(tmp_path / "02.ipynb", ("from minigrad.derivatives import gradient", ["setup"]), later)
    exercises.use(tmp_path, namespace={}, verbose=True)
    assert derivatives.central_difference(abs, 1.0) == 7.0


def test_an_answer_that_calls_a_stub_gets_the_librarys_function(tmp_path, monkeypatch, capsys):
    """What is still a stub means the library's function, in its own notebook too; its exercise stays to be done."""
    sort = "# exercise: autodiff.topological_sort\ndef topological_sort(variable):\n    # YOUR CODE HERE\n"
    walk = "# exercise: autodiff.backpropagate\ndef backpropagate(variable, deriv):\n"
    walk += "    for each in topological_sort(variable):\n        each.is_leaf() and each.accumulate_derivative(7.0)\n"
    notebook(tmp_path / "03.ipynb", f"{sort}    raise NotImplementedError()\n", walk)
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, _ = states(capsys)
    assert (said["autodiff.topological_sort"], said["autodiff.backpropagate"]) == ("reference", "yours, from 03.ipynb")
    x = Scalar(2.0)
    (x * x).backward()
    assert x.grad == 7.0

    def cut(variable):
        raise ExerciseNotDone("autodiff.topological_sort")

    monkeypatch.setattr(autodiff, "topological_sort", cut)
    here = {}
    for cell in (f"{sort}    raise NotImplementedError()\n", walk):
        exec(cell, here)
    exercises.use(tmp_path / "03.ipynb", namespace=here, verbose=True)
    with pytest.raises(ExerciseNotDone, match=r"autodiff\.topological_sort is not written yet"):
        (x * x).backward()
    assert here["topological_sort"] is cut


def test_use_takes_several_folders(tmp_path, capsys):
    """What the first folder does not have may come from the second."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    notebook(tmp_path / "b" / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path / "a", tmp_path / "b", namespace={}, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00.ipynb"


def test_notebooks_of_one_name_keep_their_own_text(tmp_path):
    """A compiler reads a function's source by its file's name: that of another folder's notebook is another one."""
    for folder, factor in (("a", 2), ("b", 3)):
        (tmp_path / folder).mkdir()
        notebook(
            tmp_path / folder / "00.ipynb", f"# exercise: operators.folds\ndef times(x):\n    return {factor} * x\n"
        )
    found = [exercises.namespace_of(tmp_path / folder / "00.ipynb")["times"] for folder in ("a", "b")]
    assert [inspect.getsource(times).split()[-3] for times in found] == ["2", "3"]


def test_use_prefers_the_running_notebook(tmp_path, capsys):
    """What the running notebook defines comes first."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    namespace = {"add": lambda x, y: 9.0, "mul": lambda x, y: 9.0, "neg": lambda x: 9.0}
    exercises.use(tmp_path, namespace=namespace, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from this notebook"
    assert (Scalar(1.0) + 2.0).data == 9.0


def test_use_takes_no_number_for_an_answer(tmp_path, capsys):
    """A number that a notebook happens to give an exercise's name is not installed."""
    exercises.use(tmp_path, namespace={"gradient": -6.0}, verbose=True)
    assert states(capsys)[0]["derivatives.gradient"] == "reference"


def test_use_takes_one_notebook(tmp_path, capsys):
    """A path may name a notebook; its siblings are left alone."""
    notebook(tmp_path / "a.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    notebook(tmp_path / "b.ipynb", "raise SystemError")
    exercises.use(tmp_path / "a.ipynb", namespace={}, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from a.ipynb"


@pytest.mark.parametrize("bad", ["raise ValueError('no')", "exit()", "def add(:", "1 / 0", "OFFSET"])
def test_a_cell_that_fails_is_left_out_with_a_line(bad, tmp_path, capsys):
    """A cell that raises, exits or does not parse costs itself alone."""
    notebook(tmp_path / "00.ipynb", f"# exercise: operators.folds\n{bad}", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert [line.split(":")[:2] for line in others] == [["00.ipynb", " the cell of operators.folds was left out"]]
    if bad == "def add(:":
        assert others[0].endswith("SyntaxError: invalid syntax (line 2)")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"cells": 3}',
        '{"cells": [3]}',
        '{"cells": [{"cell_type": "code"}]}',
        '{"cells": [{"cell_type": "code", "source": "x", "metadata": []}]}',
        '{"cells": [{"cell_type": "code", "source": 3, "metadata": {}}]}',
        '{"cells": [{"cell_type": "code", "source": "x", "metadata": {"tags": 3}}]}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_notebook_costs_itself_alone(text, tmp_path, capsys):
    """In a folder a broken notebook is one line; asked for by itself it is an error."""
    (tmp_path / "broken.ipynb").write_text(text)
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, others = states(capsys)
    assert said["operators.arithmetic"] == "yours, from 00.ipynb"
    assert others == ["left out: broken.ipynb is not a notebook that can be read"]
    with pytest.raises(MinigradError, match=r"broken\.ipynb is not a notebook that can be read"):
        exercises.namespace_of(tmp_path / "broken.ipynb")


def test_use_refuses_a_folder_that_is_not_there(tmp_path):
    """The error names the path and says what to give."""
    with pytest.raises(FileNotFoundError, match=r"use: there is no '.*missing'; give a folder with notebooks"):
        minigrad.use(tmp_path / "missing", namespace={})


def test_use_shows_a_notebook_one_sentence(tmp_path):
    """What Jupyter shows of a folder that is not there has no frames of the library in it."""
    with pytest.raises(MinigradError) as caught:
        exercises.use(tmp_path / "missing", namespace={}, verbose=True)
    (line,) = caught.value._render_traceback_()
    assert line.startswith("MissingPath: use: there is no ")


@pytest.mark.parametrize("tags", [["setup"], []])
def test_use_in_a_cell_that_is_read_for_answers(tags, tmp_path, monkeypatch, capsys):
    """It is at work already: the call in the cell does nothing, and every exercise has one line."""
    folder = tmp_path / "lesson"  # the folders beside it are read too: they must not be other tests'
    folder.mkdir()
    monkeypatch.chdir(folder)
    call = "from minigrad import use\nuse()\n"
    notebook(folder / "00.ipynb", (f"{call}OFFSET = 0.5\n" if tags else "OFFSET = 0.5\n", ["setup"]), ANSWER + call)
    exercises.use(namespace={}, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len([each for each in exercises.catalogue().values() if not each.draft])
    assert "yours, from 00.ipynb" in lines[0]
    exercises.use(namespace={}, verbose=True)  # and the next one does again what it should
    assert "yours, from 00.ipynb" in capsys.readouterr().out.splitlines()[0]


def test_use_knows_what_was_imported_after_it(tmp_path, capsys):
    """A function of another notebook, imported when it was installed, is not this notebook's, and does not stay."""
    cell = "# exercise: derivatives.gradient\ndef gradient(f, *vals):\n    return [{}]"
    notebook(tmp_path / "01.ipynb", cell.format(7.0))
    exercises.use(tmp_path, namespace={}, verbose=True)
    here = {"__name__": "__main__"}
    exec("from minigrad.derivatives import gradient", here)
    notebook(tmp_path / "01.ipynb", cell.format(8.0))
    capsys.readouterr()
    exercises.use(tmp_path, namespace=here, verbose=True)
    said, _ = states(capsys)
    assert said["derivatives.gradient"] == "yours, from 01.ipynb"
    assert derivatives.gradient(abs, 1.0) == [8.0]
    assert here["gradient"](abs, 1.0) == [8.0]


def test_use_takes_an_answer_back(tmp_path, capsys):
    """An answer that is a stub again is used no longer, and no call piles installations on those of another."""
    stub, answer = (f"# exercise: operators.arithmetic\n{ADDING.format(neg)}" for neg in (RAISES, "return 7.0"))
    here = {}
    exec(stub, here)
    for text, state, negative in ((stub, "reference", -1.0), (answer, "yours, from 00.ipynb", 7.0)) * 2:
        notebook(tmp_path / "00.ipynb", text)
        exercises.use(tmp_path, namespace=here, verbose=True)
        assert states(capsys)[0]["operators.arithmetic"] == state
        assert (operators.neg(1.0), here["neg"](1.0)) == (negative, negative)
        assert len(installing._installed) == (state != "reference")
    with pytest.raises(MissingPath):
        exercises.use(tmp_path / "missing", namespace=here, verbose=True)
    assert operators.neg(1.0) == 7.0  # a call that says what is wrong takes nothing away


def test_what_was_installed_after_use_stays(tmp_path):
    """`use` takes out its own installations, wherever they lie among others."""
    notebook(tmp_path / "00.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    exercises.use(tmp_path, namespace={}, verbose=True)
    exercises.install({"operators.neg": lambda x: 9.0})
    exercises.use(namespace={"gradient": -6.0}, verbose=True)
    assert (operators.neg(1.0), operators.add(1.0, 1.0)) == (9.0, 2.0)


def test_a_class_that_is_written_again_is_the_one_that_is_used(tmp_path):
    """Running the cell of a class again between two calls leaves the name to the newer class."""
    here = {"__name__": "__main__"}
    for value in (1.5, 2.5):
        exec(f"class SGD:\n    def step(self):\n        return {value}", here)
        exercises.use(tmp_path, namespace=here, verbose=True)
        assert (here["SGD"], here["SGD"]().step()) == (mlp.SGD, value)


def test_use_finds_the_usual_folder(tmp_path, monkeypatch, capsys):
    """From the folder around it, `my-notebooks` is meant, unless there are lessons here."""
    (tmp_path / "course" / "my-notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "course")
    lesson = notebook_of_one(tmp_path / "course" / "my-notebooks")
    exercises.use(namespace={}, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00_fundamentals.ipynb"
    (tmp_path / "course" / "00_fundamentals.ipynb").write_text(lesson.read_text().replace("operators.arith", "x.arith"))
    lesson.write_text(lesson.read_text().replace("return x + y", "raise NotImplementedError()"))
    exercises.use(namespace={}, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == "yours, from 00_fundamentals.ipynb"


def notebook_of_one(folder):
    """Write a lesson with one answer."""
    notebook(folder / "00_fundamentals.ipynb", ("OFFSET = 0.5\n", ["setup"]), ANSWER)
    return folder / "00_fundamentals.ipynb"


def test_a_check_after_use_still_sees_the_stub(tmp_path):
    """What `use` lets the name of a stub mean is not the answer, nor does it take the rest of the answer away."""
    here = {"__name__": "__main__"}
    stub = "raise NotImplementedError()"
    exec(f"def add(x, y):\n    return x + y\ndef mul(x, y):\n    return x * y\ndef neg(x):\n    {stub}", here)
    before = run("operators.arithmetic", here)
    exercises.use(tmp_path, namespace=here, verbose=True)
    assert here["neg"] is operators.neg
    after = run("operators.arithmetic", here)
    assert 0.0 < before.earned == after.earned
    exec("def neg(x):\n    return -1.0 * x", here)
    assert run("operators.arithmetic", here).passed


def test_half_an_answer_is_no_stub(tmp_path):
    """A name whose function does something before it gives up keeps it."""
    here = {"__name__": "__main__"}
    exec("def relu(x):\n    if x > 0:\n        return x\n    raise NotImplementedError('negative')", here)
    written = here["relu"]
    exercises.use(tmp_path, namespace=here, verbose=True)
    assert here["relu"] is written


def test_a_function_in_the_place_of_a_class_costs_itself_alone(tmp_path, capsys):
    """In the running notebook or in another: one line says so, and all other answers are installed."""
    notebook(tmp_path / "00.ipynb", "# exercise: module.Module\ndef Module():\n    pass", ADDED)
    functions_too = {"Mul": lambda: 0, "Neg": functions.Neg, "Inv": functions.Inv, "gradient": lambda f, *vals: [7.0]}
    exercises.use(
        tmp_path, namespace={**functions_too, "Neg": type("Neg", (), {}), "Inv": type("Inv", (), {})}, verbose=True
    )
    said, others = states(capsys)
    assert others == [
        "left out: this notebook: functions.Mul is a class; the object given for it is of type function",
        "left out: 00.ipynb: module.Module is a class; the object given for it is of type function",
    ]
    assert {id: state for id, state in said.items() if state != "reference"} == {
        "operators.arithmetic": "yours, from 00.ipynb",
        "derivatives.gradient": "yours, from this notebook",
    }
    assert installing.installed() == ["derivatives.gradient", "operators.add", "operators.mul", "operators.neg"]


REASON = "raise NotImplementedError('only for floats')"
GIVEN = ["raise NotImplementedError", "raise NotImplementedError()"]


@pytest.mark.parametrize(
    ("body", "done"),
    [
        *((line, False) for line in [*GIVEN, REASON]),  # nothing is computed, whatever it says
        *((f"if x > 0:\n        return x\n    {line}", False) for line in GIVEN),
        *((f"try:\n        return inv(x)\n    finally:\n        {line}", False) for line in GIVEN),
        (f"if x < 0:\n        {REASON}\n    return x", True),
        ("if x < 0:\n        raise NotImplementedError(*x)\n    return x", True),
        ("try:\n        return inv(x)\n    except NotImplementedError:\n        return x", True),
    ],
)
def test_the_line_of_the_stub_says_what_is_not_done(body, done, tmp_path, capsys):
    """An error that gives its reason is part of an answer; the given line is not, wherever it can be reached."""
    here = {"exercises": exercises}
    exec(ADDING.format("return -x").replace("return x + y", body), here)
    exercises.use(tmp_path, namespace=here, verbose=True)
    assert states(capsys)[0]["operators.arithmetic"] == ("yours, from this notebook" if done else "reference")
    exec(ADDING.format("return -x").replace("return x + y", body), here)
    with nullcontext() if done else pytest.raises(ExerciseNotDone, match="arithmetic is not written yet"):
        exec("exercises.needs('operators.arithmetic')", here)


@pytest.mark.parametrize(("line", "done"), [(GIVEN[0], False), (GIVEN[1], False), (REASON, True)])
def test_a_class_is_done_when_no_method_is_a_stub(line, done, tmp_path, capsys):
    """A method that must be overridden may say so, with a reason."""
    here = {}
    exec(f"class SGD:\n    def step(self):\n        return 1\n    def zero_grad(self):\n        {line}", here)
    exercises.use(tmp_path, namespace=here, verbose=True)
    assert states(capsys)[0]["mlp.SGD"] == ("yours, from this notebook" if done else "reference")


def test_use_of_an_empty_folder_is_the_reference(tmp_path, capsys):
    """Nothing is installed, and the quick engine stays."""
    exercises.use(tmp_path, namespace={}, verbose=True)
    said, others = states(capsys)
    assert set(said.values()) == {"reference"}
    assert (others, installing._installed) == ([], [])


def test_use_does_nothing_while_a_grader_decides(monkeypatch, tmp_path, capsys):
    """In the sandbox use() installs nothing and prints nothing."""
    monkeypatch.setenv("MINIGRAD_SANDBOX", "1")
    exercises.use(tmp_path, namespace={"add": print, "mul": print, "neg": print}, verbose=True)
    assert (capsys.readouterr().out, installing._installed) == ("", [])


def test_an_answer_cut_from_the_edition_is_missing(monkeypatch, tmp_path, capsys):
    """Where the library's own body is cut, an exercise that is not done is missing."""

    def cut(variable):
        raise ExerciseNotDone("autodiff.topological_sort")

    monkeypatch.setattr(autodiff, "topological_sort", cut)
    monkeypatch.setattr(overrides, "cut_names", lambda: {f"{__name__}.{cut.__qualname__}"})
    exercises.use(tmp_path, namespace={}, verbose=True)
    assert states(capsys)[0]["autodiff.topological_sort"] == "missing"
    monkeypatch.undo()
    assert scalar.backpropagate is Scalar._backpropagate


def test_needs_says_which_exercise_is_still_to_do():
    """A cell that builds on the reader's own work stops with the exercise's name, until it is written."""
    namespace = {"exercises": exercises}
    for cell in ("pass", STUB):
        exec(cell, namespace)
        with pytest.raises(ExerciseNotDone, match=r"autodiff\.chain_rule is not written yet"):
            exec("exercises.needs('autodiff.chain_rule')", namespace)
    exec("def chain_rule(variable, d_output):\n    return []\nexercises.needs('autodiff.chain_rule')", namespace)


def test_the_exercises_placed_in_a_notebook(tmp_path):
    """placed_in lists the known ids of the answer cells, in their order."""
    notebook(tmp_path / "a.ipynb", STUB, "# exercise: no.such\n", ANSWER, ("OFFSET = 1", ["setup"]))
    assert exercises.placed_in(tmp_path / "a.ipynb") == ["autodiff.chain_rule", "operators.arithmetic"]


def test_a_stub_means_the_function_of_its_own_lesson(root):
    """Lessons 05, 07 and 08 ask for a tensor_map each; the stub's cell says which of them its notebook means."""
    namespace = namespace_of(root / "notebooks" / "05_broadcasting.ipynb")
    fill_stubs(namespace, {})
    fill_stubs(namespace, {})
    assert namespace["tensor_map"] is tensor_ops.tensor_map
