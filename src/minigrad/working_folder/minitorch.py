"""Answers to MiniTorch's tasks, taken out of someone's folder and run by our checks: `minigrad check --minitorch PATH`.

Nothing of their package is imported. Each answer is the text of one function, method or class of one file; it runs
among the names of our module of that name, so that whatever it calls beside its own file's helpers is right, and one
wrong answer does not spoil the next.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from minigrad import exercises
from minigrad.checks import runner
from minigrad.checks.runner import CheckReport
from minigrad.errors import MinigradError
from minigrad.working_folder.check_lines import as_line, failed, most_seconds
from minigrad.working_folder.survivors import PROBES, shows

__all__ = ["TASKS", "Task", "adapted", "answers", "found_tasks", "load"]


@dataclass(frozen=True)
class Task:
    """Where the answer to an exercise of ours stands in a folder of MiniTorch.

    Attributes:
        number: MiniTorch's name of the task.
        file: The file that it is written in.
        exercise: Our id.
        owner: The class whose method it is there, where it is a function here.
    """

    number: str
    file: str
    exercise: str
    owner: str = ""


TASKS = (
    Task("0.1", "operators.py", "operators.arithmetic"),
    Task("0.1", "operators.py", "operators.comparison"),
    Task("0.1", "operators.py", "operators.elementary"),
    Task("0.1", "operators.py", "operators.backs"),
    Task("0.3", "operators.py", "operators.higher_order"),
    Task("0.3", "operators.py", "operators.folds"),
    Task("0.4", "module.py", "module.Module"),
    Task("1.1", "autodiff.py", "derivatives.central_difference"),
    Task("1.2, 1.4", "scalar_functions.py", "functions.arithmetic"),
    Task("1.2, 1.4", "scalar_functions.py", "functions.elementary"),
    Task("1.3", "scalar.py", "autodiff.chain_rule", owner="Scalar"),
    Task("1.4", "autodiff.py", "autodiff.topological_sort"),
    Task("1.4", "autodiff.py", "autodiff.backpropagate"),
    Task("2.1", "tensor_data.py", "tensor_data.strides_from_shape"),
    Task("2.1", "tensor_data.py", "tensor_data.index_to_position"),
    Task("2.1", "tensor_data.py", "tensor_data.to_index"),
    Task("2.1", "tensor_data.py", "tensor_data.permute", owner="TensorData"),
    Task("2.2", "tensor_data.py", "tensor_data.shape_broadcast"),
    Task("2.2", "tensor_data.py", "tensor_data.broadcast_index"),
    Task("2.3", "tensor_ops.py", "tensor_ops.tensor_map"),
    Task("2.3", "tensor_ops.py", "tensor_ops.tensor_zip"),
    Task("2.3", "tensor_ops.py", "tensor_ops.tensor_reduce"),
    Task("2.4", "tensor_functions.py", "tensor_functions.Permute"),
    Task("3.1", "fast_ops.py", "fast_ops.tensor_map"),
    Task("3.1", "fast_ops.py", "fast_ops.tensor_zip"),
    Task("3.1", "fast_ops.py", "fast_ops.tensor_reduce"),
    Task("3.2", "fast_ops.py", "fast_ops._tensor_matrix_multiply"),
    Task("3.3", "cuda_ops.py", "cuda_ops.tensor_map"),
    Task("3.3", "cuda_ops.py", "cuda_ops.tensor_zip"),
    Task("3.3", "cuda_ops.py", "cuda_ops._sum_practice"),
    Task("3.3", "cuda_ops.py", "cuda_ops.tensor_reduce"),
    Task("3.4", "cuda_ops.py", "cuda_ops._mm_practice"),
    Task("3.4", "cuda_ops.py", "cuda_ops._tensor_matrix_multiply"),
)

_INDEXING = ("index_to_position", "to_index", "broadcast_index", "shape_broadcast", "MAX_DIMS")
_PACKAGE = "minitorch"
_SECOND = "The gradient itself can be differentiated."
_Definition = ast.FunctionDef | ast.ClassDef


def found_tasks(folder: Path) -> dict[str, tuple[Task, Path]]:
    """Return the exercises that a folder holds all objects of, with the task and the file, without running anything.

    Raises:
        MinigradError: If there is no such folder, or it holds none of them.
    """
    if folder.is_file():
        raise MinigradError(f"check --minitorch: {str(folder)!r} is a file; give the folder that it lies in")
    if not folder.is_dir():
        raise MinigradError(f"check --minitorch: there is no folder {str(folder)!r}")
    found: dict[str, tuple[Task, Path]] = {}
    for task in TASKS:
        path = _file(folder, task.file)
        if path is not None and all(_definition(path, name, task.owner) for name in _names(task)):
            found[task.exercise] = task, path
    if not found:
        files = ", ".join(dict.fromkeys(task.file for task in TASKS))
        raise MinigradError(f"check --minitorch: {folder} holds no answers to MiniTorch's tasks; they stand in {files}")
    return found


def _names(task: Task) -> list[str]:
    return [name.rpartition(".")[2] for name in exercises.get(task.exercise).objects]


def _file(folder: Path, name: str) -> Path | None:
    """Return a file of the package, whether the folder is the package or the repository around it."""
    inside = [path for depth in ("*", "*/*") for path in sorted(folder.glob(f"{depth}/{name}"))]
    others = (path for path in inside if path.parent.name not in ("test", "tests"))
    return next((path for path in (folder / name, folder / _PACKAGE / name, *others) if path.is_file()), None)


def _definition(path: Path, name: str, owner: str) -> _Definition | None:
    """Return the last definition of a name in a file, or of a method in a class."""
    body: Sequence[ast.stmt] = _tree(path).body
    if owner:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        body = classes[-1].body if classes else ()
    found = [node for node in body if isinstance(node, _Definition) and node.name == name]
    return found[-1] if found else None


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (SyntaxError, ValueError) as error:  # ValueError: bytes that are no text
        raise MinigradError(f"check --minitorch: {path.name} is not Python: {error}") from None


def load(task: Task, path: Path) -> dict[str, Any]:
    """Run the text of an exercise's answer, and return the names that it defines.

    Raises:
        Exception: Whatever running the text raises.
    """
    scope = _names_of_ours(task)
    wanted = _names(task)
    for node in _tree(path).body:
        _help(node, scope, wanted, path)
    objects = {}
    for dotted, name in zip(exercises.get(task.exercise).objects, wanted, strict=True):
        answer = _definition(path, name, task.owner)
        assert answer is not None
        if isinstance(answer, ast.ClassDef):
            _rebase(answer, dotted, scope)
        _run(answer, scope, path)
        objects[name] = scope[name]
    return adapted(task.exercise, objects)


def _names_of_ours(task: Task) -> dict[str, Any]:
    """Return the names that an answer finds: those of our module, and what MiniTorch's file imports from others."""
    module = importlib.import_module(f"minigrad.{task.exercise.rpartition('.')[0]}")
    scope: dict[str, Any] = {**vars(module), "__name__": "__main__"}
    scope["operators"] = importlib.import_module("minigrad.operators")
    if task.number >= "2":
        data = importlib.import_module("minigrad.tensor_data")
        scope |= {name: getattr(data, name) for name in _INDEXING if name not in scope}
    if task.file == "fast_ops.py":
        scope["njit"] = scope["numba"].njit
    if task.file == "tensor_functions.py":
        scope |= {"Tensor": _MakesTensors, _PACKAGE: SimpleNamespace(Tensor=_MakesTensors)}
    return scope


class _MakesTensors:
    """Stands for MiniTorch's Tensor where an answer makes one of a storage."""

    @staticmethod
    def make(storage: Any, shape: Any, strides: Any = None, backend: Any = None) -> Any:
        """Return our tensor of a storage, a shape and strides."""
        import numpy as np

        from minigrad.tensor_data import TensorData
        from minigrad.tensors import Tensor

        return Tensor(np.zeros(1))._new(TensorData(storage, tuple(shape), None if strides is None else tuple(strides)))


def _help(node: ast.stmt, scope: dict[str, Any], wanted: Sequence[str], path: Path) -> None:
    """Run what stands around an answer in its file: imports of other packages, constants and helpers that we lack."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        inside = isinstance(node, ast.ImportFrom) and (node.level > 0 or (node.module or "").startswith(_PACKAGE))
        bound = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        if inside or bound <= scope.keys():
            return
    elif isinstance(node, _Definition):
        if node.name in scope and node.name not in wanted:
            return
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id in scope for target in targets):
            return
    else:
        return
    try:
        _run(node, scope, path)
    except Exception:  # what an answer needs of it is missing then, and its check says so
        return


def _run(node: ast.stmt, scope: dict[str, Any], path: Path) -> None:
    """Run one statement; types in signatures are left unread, since their names are MiniTorch's."""
    code = compile(
        ast.fix_missing_locations(ast.Module([node], [])),
        str(path),
        "exec",
        flags=__future__.annotations.compiler_flag,
        dont_inherit=True,
    )
    exec(code, scope)


def _rebase(node: ast.ClassDef, dotted: str, scope: dict[str, Any]) -> None:
    """Derive a class from our base instead of MiniTorch's, whose machinery would come along."""
    module, _, name = dotted.rpartition(".")
    ours = getattr(importlib.import_module(f"minigrad.{module}"), name)
    if ours.__bases__ == (object,):
        return
    scope["_base_of_ours"] = ours.__bases__[0]
    node.bases, node.keywords = [ast.Name("_base_of_ours", ast.Load())], []
    if "kernel" in vars(ours):
        node.body.insert(0, ast.parse(f"kernel = {ours.kernel!r}").body[0])


def adapted(id: str, objects: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as our checks call it: MiniTorch's later versions leave some signatures open."""
    changed = dict(objects)
    if id == "operators.higher_order":
        changed = {name: _curried(name, function) for name, function in objects.items()}
    elif id == "tensor_functions.Permute":
        changed["Permute"] = _with_axes_as_numbers(objects["Permute"])
    return changed


def _curried(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return map, zipWith or reduce as functions that return functions, however they take their lists."""
    parameters = list(inspect.signature(function).parameters.values())
    lists = {"map": 1, "zipWith": 2, "reduce": 1}[name]
    own = 2 if name == "reduce" else 1
    if len([each for each in parameters if each.default is each.empty]) < own + lists:
        return function
    if name != "reduce":
        return lambda fn: lambda *ls: function(fn, *ls)
    names = [each.name.lower() for each in parameters]
    start = next((i for i, each in enumerate(names) if "start" in each or "init" in each or each == "x"), 1)
    if start == 1:
        return lambda fn, start: lambda ls: function(fn, start, ls)
    return lambda fn, start: lambda ls: function(fn, ls, start)


class _Order(tuple[int, ...]):
    """The order of axes, which MiniTorch hands over as a tensor."""

    @property
    def size(self) -> int:
        return len(self)

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def _tensor(self) -> Any:
        return SimpleNamespace(_storage=self, shape=self.shape, size=self.size)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index[0] if isinstance(index, tuple) and len(index) == 1 else index)
        return found

    def to_numpy(self) -> Any:
        import numpy as np

        return np.array(tuple(self))


def _with_axes_as_numbers(theirs: Any) -> type:
    """Return a Permute of ours that asks theirs: the order is numbers here, and the only gradient is that of a."""
    from minigrad.tensor_functions import LinearFunction

    class Permute(LinearFunction):
        @staticmethod
        def forward(ctx: Any, a: Any, order: Sequence[int]) -> Any:
            return theirs.forward(ctx, a, _Order(order))

        @staticmethod
        def backward(ctx: Any, d_output: Any) -> Any:
            found = theirs.backward(ctx, d_output)
            return found[0] if isinstance(found, tuple) else found

    Permute.__module__ = theirs.__module__
    return Permute


def _asked_of_minitorch(report: CheckReport) -> CheckReport:
    """Leave out what MiniTorch cannot do: its tensors have no second derivatives."""
    if report.exercise != "tensor_functions.Permute":
        return report
    results = tuple(result for result in report.results if result.title != _SECOND)
    return replace(report, results=results, pointer=report.pointer if not all(r.passed for r in results) else "")


def answers(folder: Path, ids: Sequence[str], skipped: set[int]) -> Iterator[dict[str, Any]]:
    """Check the answers one by one, then look for what MiniTorch's own tests let pass; see `checking_apart`."""
    found = found_tasks(folder)
    loaded: dict[str, Any] = {}
    for number, id in enumerate(found, start=1):
        task, path = found[id]
        yield {"cell": number, "text": f"{path.name}: {id}"}
        try:
            loaded[id] = {} if number in skipped else load(task, path)
        except (Exception, SystemExit) as error:
            if id in ids:
                yield as_line(failed(id, f"{path.name} could not be run: {type(error).__name__}: {error}"))
            continue
        if id in ids and number in skipped:
            yield as_line(failed(id, f"{path.name} was still running when its time was over"))
        elif id in ids:
            yield {"check": id, "seconds": most_seconds(id)}
            yield as_line(_asked_of_minitorch(runner.run(id, loaded[id])))
    for probe in PROBES:
        if loaded.get(probe.exercise):
            yield {"probe": probe.name, "seconds": 2 * runner.SECONDS}
            if shows(probe, loaded[probe.exercise]):
                yield {"seen": probe.name}
