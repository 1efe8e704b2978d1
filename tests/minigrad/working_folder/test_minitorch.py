"""`minigrad check --minitorch`: someone's folder of MiniTorch, marked by our checks."""

import importlib
import itertools
import json
import math
import os
import re
import subprocess
import sys

import pytest
from minitorch_folder import folder
from places import ROOT

from minigrad import Scalar, exercises, functions, tensor_data
from minigrad.checks import run, runner
from minigrad.errors import MinigradError
from minigrad.working_folder import minitorch, minitorch_blind_spots, probing, signatures

WRONG = {
    "is_close-too-wide": ("operators.py", "(x - y < 1e-2) and (y - x < 1e-2)", "abs(x - y) < 1.0"),
    "sigmoid-overflows": (
        "operators.py",
        "    if x >= 0:\n        return 1.0 / (1.0 + math.exp(-x))\n    else:\n"
        "        return math.exp(x) / (1.0 + math.exp(x))",
        "    return 1.0 / (1.0 + math.exp(-x))",
    ),
    "difference-to-one-side": (
        "autodiff.py",
        "(f(*vals_add) - f(*vals_sub)) / (2 * epsilon)",
        "(f(*vals_add) - f(*vals)) / epsilon",
    ),
    "sum-unseen": ("operators.py", "return reduce(add, 0.0)(ls)", "return reduce(mul, 1.0)(ls)"),
    "leaf-overwritten": ("autodiff.py", "var.accumulate_derivative(d_out)", "var.derivative = d_out"),
    "recursive-order": (
        "autodiff.py",
        "    stack = [(variable, False)]\n",
        "    def visit(var):\n        if var.unique_id not in seen and not var.is_constant():\n"
        "            seen.add(var.unique_id)\n            for m in var.parents:\n                visit(m)\n"
        "            order.insert(0, var)\n\n    visit(variable)\n    stack = []\n",
    ),
    "broadcast-left-aligned": ("tensor_data.py", "big_index[i + (len(big_shape) - len(shape))]", "big_index[i]"),
    "permute-backward": (
        "tensor_functions.py",
        "return grad_output._new(grad_output._tensor.permute(*order2)), 0.0",
        "t = grad_output._tensor\n"
        "        return minitorch.Tensor.make(t._storage, tuple(t.shape[o] for o in order2), backend=None), 0.0",
    ),
}


KERNELS = {
    "map-ordinal": "position-is-not-ordinal",
    "map-ranks": "left-aligned",
    "reduce-fold": "folded-from-the-end",
    "reduce-ordinal": "position-is-not-ordinal",
}
FAST = {"map-ranks": "tensor_ops.tensor_map/left-aligned"}
# Known-wrong answers that are right in what MiniTorch's tests ask.
KNOWN = {
    "results-are-rounded": "results-are-rounded",
    "is_close-forgets-abs": "is-close-forgets-abs",
    "is_close-relative": "is-close-is-relative",
    "eq-compares-identity": "eq-compares-identity",
    "eq-tolerance": "eq-has-a-tolerance",
    "lt-includes-equal": "lt-includes-equal",
    "sigmoid-cancels": "sigmoid-cancels",
    "sigmoid-unseen": "sigmoid-mirrors-negatives",
    "backs-unseen": "inv-sign-lost",
    "map-needs-a-list": "counts-instead-of-iterating",
    "map-shares-its-result": "results-outlive-the-call",
    "reduce-remembers": "reduce-remembers",
    "reduce-start": "reduce-ignores-start",
    "reduce-from-the-right": "reduce-folds-from-the-right",
    "empty-product": "empty-product-is-zero",
    "epsilon-is-ignored": "epsilon-is-ignored",
    "mode-is-toggled": "mode-is-toggled",
    "mode-reaches-one-level": "mode-reaches-one-level",
    "names-reach-one-level": "names-reach-one-level",
    "order-uneven": "pre-order",
    "order-remembers": "memory-between-calls",
    "order-has-constants": "constants-included",
    "path-by-path": "path-by-path",
    "leaf-alone": "result-is-never-leaf",
    "pairs-shifted": "filtered-before-pairing",
    "to_index-float": "float-division",
    "to_index-room": "index-length-used",
    "broadcast-stale": "zero-not-written",
    "permute-copies": "copied",
    "permute-inverted": "order-inverted",
    "tensor_ops-zip-ordinal": "position-is-not-ordinal",
    "tensor_ops-zip-ranks": "left-aligned",
    **{f"tensor_ops-{probe}": file for probe, file in KERNELS.items()},
    **{f"fast_ops-{probe}": file for probe, file in {**KERNELS, **FAST}.items()},
}


def known_wrong(id, file, kind="wrong"):
    """Run a known-wrong answer of the course among the names of its module; a slash names another exercise."""
    id, file = file.split("/") if "/" in file else (id, file)
    module = importlib.import_module(f"minigrad.{id.rpartition('.')[0]}")
    scope = {**vars(module), "__name__": "__main__"}
    if "fast_ops" in id:
        scope["njit"] = module.numba.njit
    if "tensor_ops" in id or "fast_ops" in id:
        scope |= {name: getattr(tensor_data, name) for name in ("to_index", "index_to_position", "broadcast_index")}
    source = (ROOT / "course" / kind / id / f"{file}.py").read_text()
    exec(compile("from __future__ import annotations\n" + source, file, "exec"), scope)
    names = [name.rpartition(".")[2] for name in exercises.get(id).objects]
    return {name: scope[name] for name in names}


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """A folder of right answers."""
    return folder(tmp_path_factory.mktemp("right"))


def command(*arguments, cwd):
    words = [sys.executable, "-m", "minigrad", "check", "--minitorch", *map(str, arguments)]
    variables = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(words, capture_output=True, text=True, timeout=600, cwd=cwd, env=variables)


def objects(package, id):
    task, path = minitorch.found_tasks(package)[id]
    return minitorch.load(task, path)


@pytest.mark.full("every task of MiniTorch is checked", share=64)
def test_every_task_is_found_and_passes(right, tmp_path):
    """Right answers in MiniTorch's manner pass all our checks, whether the package or the repository is named."""
    done = command(right.parent, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads(done.stdout)
    assert [each["id"] for each in content["exercises"]] == list(
        dict.fromkeys(task.exercise for task in minitorch.TASKS)
    )
    assert [each["id"] for each in content["exercises"] if not each["passed"]] == []
    assert (content["missed_by_minitorch"], content["remarks"], content["not_found"]) == ([], [], [])
    assert set(minitorch.found_tasks(right)) == set(minitorch.found_tasks(right.parent))


@pytest.mark.full("every task of MiniTorch is checked", share=12)
def test_what_minitorchs_tests_let_pass_is_seen(tmp_path):
    """All of the mistakes at once: each fails our checks, and is named with the reason; exit code 1."""
    package = folder(tmp_path, WRONG.values())
    for name in ("fast_ops.py", "cuda_ops.py"):  # the kernels take their time, and are right
        (package / name).unlink()
    done = command(package, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    seen = " ".join(done.stdout.split())
    assert "What MiniTorch's own tests let pass:" in seen
    for probe in (each for each in minitorch_blind_spots.PROBES if each.name in WRONG):
        assert f"{probe.exercise}: {probe.sentence}" in seen
        assert f"{probe.exercise}: all" not in seen
    assert "grad_check goes backward from out.sum()" in seen


PROBES = [probe for probe in minitorch_blind_spots.PROBES if not probe.title]


@pytest.mark.full("every task of MiniTorch is checked", share=32)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_each_mistake_is_told_from_the_others(probe, right, tmp_path):
    """A right answer shows none; one with the mistake shows it."""
    assert not probing.shows(probe, objects(right, probe.exercise))
    if probe.name in WRONG:
        wrong = objects(folder(tmp_path, [WRONG[probe.name]]), probe.exercise)
        assert not run(probe.exercise, wrong).passed
    else:
        wrong = known_wrong(probe.exercise, KNOWN[probe.name])
    assert probing.shows(probe, wrong)


ALSO = {
    "backs-unseen": ["divided-by-slope"],
    "difference-to-one-side": ["backward-instead-of-central", "forward-instead-of-central"],
    "epsilon-is-ignored": ["steps-are-halved"],
    "order-uneven": ["breadth-first-order", "marked-too-early"],
    "broadcast-left-aligned": ["left-aligned", "sizes-compared-unaligned"],
    "tensor_ops-reduce-fold": ["arguments-swapped", "start-taken-for-zero", "start-value-ignored"],
    "fast_ops-reduce-fold": ["start-taken-for-zero", "start-value-ignored"],
    "fast_ops-map-ordinal": ["aligned-by-shape-alone"],
    "leaf-overwritten": ["leaf-overwritten"],
    "recursive-order": ["recursive-sort"],
    "sigmoid-overflows": ["sigmoid-overflows"],
}
"""Other known-wrong answers of which a probe's sentence is true."""


@pytest.mark.full("every known-wrong answer to MiniTorch's tasks is asked for every mistake", share=32)
@pytest.mark.parametrize("id", dict.fromkeys(probe.exercise for probe in PROBES))
def test_a_mistake_is_named_on_its_own_evidence(id):
    """Of the known-wrong answers to an exercise a probe shows in those of which its sentence is true, and in no other.

    In right ones it shows never, however unusual they are.
    """
    probes = [probe for probe in PROBES if probe.exercise == id]
    for kind in ("wrong", "variants"):
        for path in sorted((ROOT / "course" / kind / id).glob("*.py")):
            answer = known_wrong(id, path.stem, kind)
            seen = {probe.name for probe in probes if probing.shows(probe, answer, seconds=1.0)}
            true = {each.name for each in probes if path.stem in (KNOWN.get(each.name), *ALSO.get(each.name, ()))}
            assert seen == (true if kind == "wrong" else set()), path


def test_the_report_shows_both_values_and_the_version(tmp_path):
    """An answer that follows MiniTorch's specification is not wrong; a helper that cannot be run is named."""
    package = folder(tmp_path, [("operators.py", "math.log(x)", "math.log(x + EPS) if ready else broken")])
    for name in (each.name for each in package.iterdir() if each.name != "operators.py"):
        (package / name).unlink()
    with (package / "operators.py").open("a") as text:
        text.write("\nready = True\nbroken = undefined\n")
    done = command(package, cwd=tmp_path)
    seen = " ".join(done.stdout.split())
    assert done.returncode == 0, seen
    assert "The files have the interfaces of MiniTorch since 2022." in seen
    assert "Stricter than MiniTorch; an answer that follows MiniTorch is not wrong:" in seen
    assert f"log(10.0): the answer gives {math.log(10.0 + 1e-6)!r}, this course asks for {math.log(10.0)!r}." in seen
    assert "could not be run: NameError: name 'undefined' is not defined" in seen
    unseen = "the type of an empty sum; whether the arguments stay as they were"
    assert "Looked at in grading alone: operators.arithmetic: the last digits" in seen
    assert f"operators.folds: {unseen}" in seen
    content = json.loads(command(package, "--json", cwd=tmp_path).stdout)
    assert content["not_looked_at"]["operators.folds"] == unseen.split("; ")
    assert content["version"] == "MiniTorch since 2022"
    assert [each["question"] for each in content["stricter_than_minitorch"]] == ["log(10.0)"]


def test_probes_by_title_name_checks():
    """The titles that stand for a probe are titles of that exercise's checks."""
    for probe in minitorch_blind_spots.PROBES:
        if probe.title:
            titles = [(test.__doc__ or "").strip() for test, _ in runner._tests_of(probe.exercise)]
            assert probe.title in titles
            assert len(titles) > 1


@pytest.mark.full("MiniTorch's kernels are compiled", share=4)
def test_a_loop_that_is_not_parallel_is_let_pass(tmp_path):
    """It fails one check of ours, and none of MiniTorch's, which compare values."""
    package = folder(tmp_path)
    for name in (each.name for each in package.iterdir() if each.name not in ("__init__.py", "fast_ops.py")):
        (package / name).unlink()
    source = (ROOT / "course" / "wrong" / "fast_ops._tensor_matrix_multiply" / "loop-is-not-parallel.py").read_text()
    (package / "fast_ops.py").write_text("import numpy as np\nfrom numba import prange\n" + source)
    done = command(package, "--json", cwd=tmp_path)
    content = json.loads(done.stdout)
    assert [each["name"] for each in content["missed_by_minitorch"]] == [
        "fast_ops._tensor_matrix_multiply-values-alone"
    ], content


@pytest.mark.full("MiniTorch's tasks are checked in processes of their own", share=32)
def test_a_stub_shows_no_mistake():
    """What is not written, or does not end, is no misconception."""

    def stub(*args, **kwargs):
        raise NotImplementedError

    def endless(*args, **kwargs):
        while True:
            pass

    survivors_seconds = 0.2
    for probe in minitorch_blind_spots.PROBES:
        names = [name.rpartition(".")[2] for name in exercises.get(probe.exercise).objects]
        if names != ["Permute"]:
            assert not probing.shows(probe, dict.fromkeys(names, stub))
            assert not probing.shows(probe, dict.fromkeys(names, endless), survivors_seconds)


def test_an_answer_that_raises_is_let_pass_by_no_test(right):
    """Any test that calls it fails, so that nothing has been let pass."""

    def broken(x):
        raise KeyError(x)

    answer = {**objects(right, "operators.elementary"), "sigmoid": broken}
    probes = [probe for probe in minitorch.PROBES if probe.exercise == "operators.elementary"]
    assert [probe.name for probe in probes if probing.shows(probe, answer)] == []


@pytest.mark.full("the file of every task is loaded", share=4)
def test_nothing_of_the_package_is_imported(right):
    """The package raises when it is imported; loading leaves no module of that name."""
    for id in minitorch.found_tasks(right):
        objects(right, id)
    assert [name for name in sys.modules if name.split(".")[0] == "minitorch"] == []


def test_minitorchs_machinery_stays_behind(right):
    """A class of theirs is derived from ours: Scalars can be computed with it while it is installed."""
    log = objects(right, "functions.elementary")
    assert issubclass(log["Log"], functions.Elementwise)
    x = Scalar(2.0)
    with exercises.install(exercises.collect("functions.elementary", log)):
        y = functions.Log.apply(x)
        y.backward()
    assert (y.data, x.grad) == (math.log(2.0), 0.5)
    assert log["Log"].kernel == "log"


def ways(*names):
    """Yield every way to hand over some arguments: in each order, at once or call by call; two lists in their order."""
    for order in itertools.permutations(names):
        if "other" not in order or order.index("ls") < order.index("other"):
            for between in itertools.product((", ", ")("), repeat=len(names) - 1):
                yield "".join(itertools.chain(*zip(order, (*between, ""), strict=True)))


def written(name, way, value):
    """Return the text of a function that is called in a way; the names of its parameters say nothing."""
    for part, letter in {"fn": "a", "start": "b", "ls": "c", "other": "d"}.items():
        way, value = (re.sub(rf"\b{part}\b", letter, text) for text in (way, value))
    first, *others = way.split(")(")
    return f"def {name}({first}):\n    return {''.join(f'lambda {each}: ' for each in others)}{value}\n\n\n"


def called(name, way, **arguments):
    """Return the text of a call in a way."""
    calls = (", ".join(arguments[part] for part in call.split(", ")) for call in way.split(")("))
    return f"{name}({')('.join(calls)})"


MAPS, ZIPS = list(ways("fn", "ls")), list(ways("fn", "ls", "other"))
FOLDS, FOLDS_WITHOUT_START = list(ways("fn", "start", "ls")), list(ways("fn", "ls"))
MAP, ZIP, FOLD = "[fn(x) for x in ls]", "[fn(x, y) for x, y in zip(ls, other)]", "functools.reduce(fn, ls, start)"


def in_ways(map_way, zip_way, fold_way, fold=FOLD):
    """Return the text of an `operators.py` whose functions are called in some ways, by each other too."""
    folded = {name: called("reduce", fold_way, fn=fn, start=start, ls="ls") for name, fn, start in SUMS}
    if "start" not in fold_way:
        folded = {name: called("reduce", fold_way, fn=fn, ls=f"[{start}, *ls]") for name, fn, start in SUMS}
    return (
        "import functools\n\n\n"
        + written("map", map_way, MAP)
        + written("zipWith", zip_way, ZIP)
        + written("reduce", fold_way, fold)
        + f"def negList(ls):\n    return {called('map', map_way, fn='neg', ls='ls')}\n\n\n"
        + f"def addLists(ls, other):\n    return {called('zipWith', zip_way, fn='add', ls='ls', other='other')}\n\n\n"
        + "\n\n\n".join(f"def {name}(ls):\n    return {folded[name]}" for name in folded)
    )


SUMS = (("sum", "add", "0.0"), ("prod", "mul", "1.0"))
WAYS = [
    *((MAPS[i % len(MAPS)], ZIPS[i % len(ZIPS)], way, FOLD) for i, way in enumerate(FOLDS)),
    *((MAPS[0], ZIPS[0], way, "functools.reduce(fn, ls)") for way in FOLDS_WITHOUT_START),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"reduce({way[2]})")
def test_functions_are_called_as_they_were_written(tmp_path, way):
    """MiniTorch since 2023 leaves the signatures of map, zipWith and reduce open: right ones and their callers pass."""
    (tmp_path / "operators.py").write_text(in_ways(*way))
    for id in ("operators.higher_order", "operators.folds"):
        found = objects(tmp_path, id)
        report = run(id, found)
        assert report.passed, str(report)
        assert [
            probe.name for probe in minitorch_blind_spots.PROBES if probe.exercise == id and probing.shows(probe, found)
        ] == []
    remarks: list[str] = []
    task, path = minitorch.found_tasks(tmp_path)["operators.higher_order"]
    minitorch.load(task, path, remarks)
    ours = ("fn)(ls", "fn)(ls, other", "fn, start)(ls")
    others = [written for written, usual in zip(way, ours, strict=False) if written != usual]
    assert [each.partition(", which")[0].partition("(")[2] for each in remarks if each != signatures.NO_START] == [
        f"{each})" for each in others
    ]


@pytest.mark.parametrize("way", FOLDS)
def test_a_wrong_reduce_is_called_as_it_was_written(tmp_path, way):
    """Its mistake is named, and no other: it is asked in the way that gives a number."""
    (tmp_path / "operators.py").write_text(in_ways(MAPS[0], ZIPS[0], way, "functools.reduce(fn, ls, start and 0.0)"))
    found = objects(tmp_path, "operators.higher_order")
    assert [each.reason for each in run("operators.higher_order", found).results if not each.passed] == [
        "got 12.0, expected 412.0"
    ]
    probes = [probe for probe in minitorch_blind_spots.PROBES if probe.exercise == "operators.higher_order"]
    assert [probe.name for probe in probes if probing.shows(probe, found)] == ["reduce-start"]
    assert not signatures.has_no_start(found["reduce"])


def test_an_answer_that_gives_nothing_has_a_start(tmp_path):
    """A `return` that is missing is no sign of a reduce without start."""
    text = "def map(fn): ...\ndef zipWith(fn): ...\ndef reduce(fn, start):\n    def fold(ls):\n        return start\n"
    (tmp_path / "operators.py").write_text(text)
    lines = list(minitorch.answers(tmp_path, ["operators.higher_order"], set()))
    assert [line["remark"] for line in lines if "remark" in line] == []


AT_ONCE = """import functools


def map(fn, ls):
    return [fn(x) for x in ls]


def zipWith(fn, a, b):
    return [fn(x, y) for x, y in zip(a, b)]


def reduce(fn, ls, start=0.0):
    return functools.reduce(fn, ls, start)


def negList(ls):
    return map(neg, ls)


def addLists(a, b):
    return zipWith(add, a, b)


def sum(ls):
    return reduce(add, ls)


def prod(ls):
    return reduce(mul, ls, start=1.0)
"""


def test_folds_call_map_zipWith_and_reduce_as_they_were_written(tmp_path):  # noqa: N802 (their names)
    """What stands in for them has their signatures; no mistake is seen that is not there."""
    package = tmp_path / "minitorch"
    package.mkdir()
    (package / "operators.py").write_text(AT_ONCE)
    folds = objects(package, "operators.folds")
    report = run("operators.folds", folds)
    assert report.passed, str(report)
    assert not any(
        probing.shows(probe, folds) for probe in minitorch_blind_spots.PROBES if probe.exercise == "operators.folds"
    )
    (package / "operators.py").write_text(AT_ONCE.replace("[fn(x) for x in ls]", "undefined"))
    assert run("operators.folds", objects(package, "operators.folds")).passed  # a wrong map does not spoil it
    assert run("operators.higher_order", objects(package, "operators.higher_order")).passed is False


def test_a_reduce_may_have_no_start(tmp_path):
    """MiniTorch since 2023 asks for none: the start becomes the first element, and a remark says so."""
    package = tmp_path / "minitorch"
    package.mkdir()
    text = AT_ONCE.replace("ls, start=0.0", "ls").replace("ls, start)", "ls)").replace("start=1.0", "")
    text = text.replace("reduce(add, ls)", "reduce(add, [0.0, *ls])").replace("mul, ls, ", "mul, [1.0, *ls]")
    (package / "operators.py").write_text(text)
    assert run("operators.folds", objects(package, "operators.folds")).passed
    lines = list(minitorch.answers(package, ["operators.higher_order", "operators.folds"], set()))
    remarks = [line["remark"].removeprefix("operators.higher_order: ") for line in lines if "remark" in line]
    assert remarks.pop() == signatures.NO_START
    assert [each.partition(", which MiniTorch since 2023 leaves open")[0] for each in remarks] == [
        "map is called as map(fn, ls)",
        "zipWith is called as zipWith(fn, ls, other)",
        "reduce is called as reduce(fn, ls)",
    ]
    assert all(each["passed"] for line in lines if "report" in line for each in line["report"]["results"])


def test_one_wrong_answer_does_not_spoil_the_next(tmp_path):
    """Kernels are checked with index functions that are right."""
    package = folder(tmp_path, [WRONG["broadcast-left-aligned"]])
    assert not run("tensor_data.broadcast_index", objects(package, "tensor_data.broadcast_index")).passed
    assert run("tensor_ops.tensor_map", objects(package, "tensor_ops.tensor_map")).passed


@pytest.mark.full("MiniTorch's tasks are checked in processes of their own", share=32)
def test_what_cannot_be_run_is_said(tmp_path):
    """An answer whose file raises, loops or is a stub: a sentence, and the others are checked; the rest is listed."""
    package = tmp_path / "minitorch"
    package.mkdir()
    (package / "tensor_data.py").write_text(
        "def to_index(ordinal, shape, out_index=undefined):\n    pass\n\n\n"
        "def index_to_position(index, strides):\n    raise NotImplementedError('Need to implement for Task 2.1')\n"
    )
    done = command(package, "--seconds", "10", cwd=tmp_path)
    assert done.returncode == 1
    seen = " ".join(done.stdout.split())
    assert "tensor_data.py could not be run: NameError: name 'undefined' is not defined" in seen
    assert "not written yet" in seen
    assert "Not found in this folder: operators.arithmetic, " in seen
    (package / "autodiff.py").write_text(
        "def loop():\n    while True: pass\n\n\ndef central_difference(f, *vals, arg=loop()): pass\n"
    )
    done = command(package, "--seconds", "2", cwd=tmp_path)
    assert "was still running" in " ".join(done.stdout.split())
    assert done.returncode == 1


def test_interfaces_of_2020_are_named(tmp_path):
    """Where a task had another interface then, the answer is not called wrong: the interface is what cannot be read."""
    (tmp_path / "autodiff.py").write_text(
        "class VariableWithDeriv: pass\nclass FunctionBase:\n"
        "    def chain_rule(cls, ctx, inputs, d_output): return [VariableWithDeriv()]\n"
        "def backpropagate(final_variable_with_deriv): pass\n"
    )
    (tmp_path / "module.py").write_text("class Module:\n    def train(self): self.mode = 'train'\n")
    assert minitorch.version(tmp_path) == "MiniTorch of 2020"
    for task, path in minitorch.found_tasks(tmp_path).values():
        with pytest.raises(
            MinigradError, match=r"interface is that of MiniTorch of 2020; what can be read is MiniTorch"
        ):
            minitorch.load(task, path)
    assert len(minitorch.found_tasks(tmp_path)) == 3


def test_a_file_that_is_not_python_costs_its_own_answers(tmp_path):
    """The other files are checked, the file and the line are named, and the exit code is 2."""
    package = tmp_path / "minitorch"
    package.mkdir()
    (package / "operators.py").write_text(
        "def log_back(x, d): return d / x\ndef inv_back(x, d): return -d / x**2\n"
        "def relu_back(x, d): return d if x > 0 else 0.0\ndef lt(x, y): return 1.0\n"
    )
    (package / "fast_ops.py").write_text("def tensor_map(fn):\n    for i in fn:\n\ndef tensor_zip(fn): pass\n")
    (package / "autodiff.py").write_text("def central_difference(:\n")
    done = command(package, cwd=tmp_path)
    seen = " ".join(done.stdout.split())
    assert done.returncode == 2, seen
    assert "operators.backs │ 3 of 3" in seen
    assert "fast_ops.py is not Python: expected an indented block after 'for' statement on line 2" in seen
    assert "autodiff.py is not Python: " in seen
    assert seen.count("; its answers are left out") == 2
    assert "operators.comparison (it lacks eq and max and is_close), " in seen
    content = json.loads(command(package, "--json", cwd=tmp_path).stdout)
    assert [each["id"] for each in content["exercises"]] == ["operators.backs"]
    assert len(content["remarks"]) == 2


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("operators.py", "def add(:", "operators.py is not Python"),
        ("notes.py", "", "holds no answers to MiniTorch's tasks; they stand in operators.py, module.py"),
    ],
)
def test_folders_that_will_not_do(tmp_path, name, text, says):
    """One sentence and exit code 2."""
    (tmp_path / name).write_text(text)
    done = command(tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert says in done.stderr
    with pytest.raises(MinigradError, match="there is no folder"):
        minitorch.found_tasks(tmp_path / "none")
    with pytest.raises(MinigradError, match=r"is a file; give the folder that it lies in"):
        minitorch.found_tasks(tmp_path / name)
