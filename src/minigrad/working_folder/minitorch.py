"""Answers to MiniTorch's tasks, taken out of someone's folder and run by our checks: `minigrad check --minitorch PATH`.

Nothing of their package is imported. Each answer is the text of one function, method or class of one file. It finds
its helpers and constants wherever the package defines them (`their_package`), and in the place of other answers ours,
so that one wrong answer does not spoil the next.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from minigrad import exercises, operators
from minigrad.checks import runner
from minigrad.checks.runner import CheckReport
from minigrad.errors import MinigradError
from minigrad.working_folder.check_lines import as_line, failed, most_seconds
from minigrad.working_folder.minitorch_blind_spots import PROBES
from minigrad.working_folder.probing import shows
from minigrad.working_folder.signatures import NO_START, as_theirs, called_otherwise, curried, has_no_start
from minigrad.working_folder.stricter import judged
from minigrad.working_folder.their_package import Given, Package, definition, tree


@dataclass(frozen=True)
class Task:
    """Where the answer to an exercise of ours stands in a folder of MiniTorch.

    Attributes:
        number: MiniTorch's name of the task.
        file: The file that it is written in.
        exercise: Our id.
        owner: The class, and the function around it, that it stands in there.
        name: Its name there, where that differs from ours.
    """

    number: str
    file: str
    exercise: str
    owner: str = ""
    name: str = ""

    @property
    def names(self) -> list[str]:
        """The names of its definitions there."""
        ours = [name.rpartition(".")[2] for name in exercises.get(self.exercise).objects]
        return [self.name] if self.name else ours


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
    Task("3.1", "fast_ops.py", "fast_ops.tensor_reduce"),
    Task("3.2", "fast_ops.py", "fast_ops._tensor_matrix_multiply"),
    Task("3.3", "cuda_ops.py", "cuda_ops.tensor_map"),
    Task("3.3", "cuda_ops.py", "cuda_ops._sum_practice"),
    Task("3.3", "cuda_ops.py", "cuda_ops.tensor_reduce"),
    Task("3.4", "cuda_ops.py", "cuda_ops._tensor_matrix_multiply"),
    # The same tasks in the files of 2021 and before.
    Task("1.1", "scalar.py", "derivatives.central_difference"),
    Task("1.2, 1.4", "scalar.py", "functions.arithmetic"),
    Task("1.2, 1.4", "scalar.py", "functions.elementary"),
    Task("1.3", "autodiff.py", "autodiff.chain_rule", owner="FunctionBase"),
    Task("2.4", "tensor_functions.py", "tensor_functions.Permute", owner="make_tensor_backend.Backend"),
    Task("3.2", "fast_ops.py", "fast_ops._tensor_matrix_multiply", name="tensor_matrix_multiply"),
    Task("3.4", "cuda_ops.py", "cuda_ops._tensor_matrix_multiply", name="tensor_matrix_multiply"),
)

NEW, OLD = "MiniTorch since 2022", "MiniTorch of 2021"
OLDER_STILL = "MiniTorch of 2020"
_OLD_ARGUMENTS = {"reduce_shape", "reduce_size"}  # of tensor_reduce in 2020
_CHANGED_SINCE = ("module.Module", "autodiff.chain_rule", "autodiff.backpropagate")  # a mode, dicts, pairs of a class

_SECOND = "The gradient itself can be differentiated."
_PACKAGE = "minitorch"


def found_tasks(folder: Path) -> dict[str, tuple[Task, Path]]:
    """Return the exercises that a folder holds all objects of, with the task and the file, without running anything.

    A file that is not Python holds none; `unreadable` names it.

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
        if task.exercise in found or path is None:
            continue
        with suppress(MinigradError):
            if all(definition(path, name, task.owner) for name in task.names):
                found[task.exercise] = task, path
    if not found and (broken := unreadable(folder)):
        raise MinigradError(broken[0])
    if not found:
        files = ", ".join(dict.fromkeys(task.file for task in TASKS))
        raise MinigradError(f"check --minitorch: {folder} holds no answers to MiniTorch's tasks; they stand in {files}")
    order = list(dict.fromkeys(task.exercise for task in TASKS))
    return dict(sorted(found.items(), key=lambda each: order.index(each[0])))


def unreadable(folder: Path) -> list[str]:
    """Return a sentence for each file of MiniTorch's tasks that is not Python."""
    sentences = []
    for name in dict.fromkeys(task.file for task in TASKS):
        try:
            if path := _file(folder, name):
                tree(path)
        except MinigradError as error:
            sentences.append(str(error))
    return sentences


def lacking(folder: Path, exercise: str) -> list[str]:
    """Return the names that an exercise lacks in a folder, if some of its other names are there."""
    lacks: list[str] = []
    for task in (each for each in TASKS if each.exercise == exercise):
        with suppress(MinigradError):
            if path := _file(folder, task.file):
                missing = [name for name in task.names if not definition(path, name, task.owner)]
                lacks = lacks or (missing if len(missing) < len(task.names) else [])
    return lacks


def version(folder: Path) -> str:
    """Return whose interfaces the answers in a folder have: `NEW`, `OLD` or `OLDER_STILL`."""
    if (autodiff := _file(folder, "autodiff.py")) is not None:
        with suppress(MinigradError):
            if definition(autodiff, "VariableWithDeriv"):
                return OLDER_STILL
            if definition(autodiff, "FunctionBase"):
                return OLD
    return NEW


def _file(folder: Path, name: str) -> Path | None:
    """Return a file of the package, whether the folder is the package or the repository around it."""
    inside = [path for depth in ("*", "*/*") for path in sorted(folder.glob(f"{depth}/{name}"))]
    others = (path for path in inside if path.parent.name not in ("test", "tests"))
    return next((path for path in (folder / name, folder / _PACKAGE / name, *others) if path.is_file()), None)


def load(task: Task, path: Path, failures: list[str] | None = None) -> dict[str, Any]:
    """Run the text of an exercise's answer, and return the names that it defines.

    Args:
        task: The task.
        path: The file.
        failures: Gets a sentence for each definition that the answer mentions and that could not be run.

    Raises:
        Exception: Whatever running the text raises.
    """
    if task.exercise in _CHANGED_SINCE and version(path.parent) == OLDER_STILL:
        raise MinigradError(f"its interface is that of {OLDER_STILL}; what can be read is {OLD} and later")
    package = Package(path.parent.resolve(), (_PACKAGE,), _given)
    file = package.file(path.resolve())
    if task.exercise == "operators.folds":
        file.put(_called_as_theirs(path))
    objects = {}
    for dotted, name in zip(exercises.get(task.exercise).objects, task.names, strict=True):
        answer = definition(path, name, task.owner)
        assert answer is not None
        if found := _OLD_ARGUMENTS & {each.arg for each in ast.walk(answer) if isinstance(each, ast.arg)}:
            listed = " and ".join(sorted(found))
            raise MinigradError(f"{name} takes {listed}, as in {OLDER_STILL}; what can be read is {OLD} and later")
        if isinstance(answer, ast.ClassDef) and path.stem != "tensor_functions":
            _rebase(answer, dotted, file.scope)
        file.run(answer)
        objects[dotted.rpartition(".")[2]] = file.scope[name]
    if failures is not None:
        failures += package.failures
        if task.exercise == "operators.higher_order":
            failures += filter(None, (called_otherwise(name, function) for name, function in objects.items()))
            failures += [NO_START] if has_no_start(objects["reduce"]) else []
    return adapted(task.exercise, objects, is_old=version(path.parent) != NEW)


def _called_as_theirs(path: Path) -> dict[str, Any]:
    """Return our map, zipWith and reduce with the signatures that they have in a file; without those that break."""
    found = {}
    for name in ("map", "zipWith", "reduce"):
        file = Package(path.parent.resolve(), (_PACKAGE,), _given).file(path.resolve())
        with suppress(Exception, SystemExit):
            answer = definition(path, name)
            assert answer is not None
            file.run(answer)
            found[name] = as_theirs(name, getattr(operators, name), file.scope[name])
    return found


def _given(stem: str) -> Given:
    """Return what answers in a file find instead of what stands there: our right ones, and MiniTorch's machinery."""
    tasks = [task for task in TASKS if task.file == f"{stem}.py"]
    modules = dict.fromkeys(task.exercise.rpartition(".")[0] for task in tasks)
    ours = {name: importlib.import_module(f"minigrad.{name}") for name in modules}
    answers = {
        name.rpartition(".")[2]: getattr(ours[name.rpartition(".")[0]], name.rpartition(".")[2])
        for task in tasks
        for name in exercises.get(task.exercise).objects
    }
    otherwise = {name: value for module in ours.values() for name, value in vars(module).items() if name[:2] != "__"}
    if stem == "__init__":
        otherwise = {**_machinery("scalar"), **_machinery("tensor_data"), **_machinery("tensor")}
    if stem == "fast_ops":
        otherwise["njit"] = otherwise["numba"].njit
    return Given({**answers, **_machinery(stem)}, otherwise)


def _machinery(stem: str) -> dict[str, Any]:
    if stem == "operators":
        return {}
    if stem == "module":
        from minigrad.module import Parameter

        return {"Parameter": Parameter}
    if stem in ("autodiff", "scalar", "scalar_functions"):
        from minigrad import autodiff, functions

        names = {"Context": autodiff.Context, "History": autodiff.History, "ScalarHistory": autodiff.History}
        bases = {"Function": functions.Function, "FunctionBase": functions.Function}
        variables = {"Scalar": _Variable, "Variable": _Variable, "ScalarFunction": functions.Elementwise}
        return {**names, **bases, **variables}
    from minigrad import cuda_ops, errors, tensor_data
    from minigrad.working_folder import minitorch_tensors

    indexing = {name: getattr(tensor_data, name) for name in ("index_to_position", "to_index", "broadcast_index")}
    machine = {"cuda": cuda_ops.cuda, "numba": cuda_ops.numba}
    if stem in ("tensor", "tensor_functions"):
        return {**minitorch_tensors.NAMES, **machine}
    if stem == "tensor_data":
        return {"TensorData": tensor_data.TensorData, "IndexingError": errors.IndexingError, **machine}
    return {**indexing, **machine} if stem in ("tensor_ops", "fast_ops", "cuda_ops") else machine


class _AsksForHistory(type):
    def __instancecheck__(cls, value: object) -> bool:
        return hasattr(value, "history")


class _Variable(metaclass=_AsksForHistory):
    """Stands for MiniTorch's Scalar and Variable where an answer asks whether something is one."""

    def __new__(cls, *args: Any, **_named: Any) -> Any:
        from minigrad.scalar import Scalar

        return Scalar(*args[:1])


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


def adapted(id: str, objects: Mapping[str, Any], *, is_old: bool = False) -> dict[str, Any]:
    """Return an answer as our checks call it: versions of MiniTorch differ in some signatures."""
    changed = dict(objects)
    if id == "operators.higher_order":
        changed = {name: curried(name, function) for name, function in objects.items()}
    elif id == "tensor_functions.Permute":
        changed["Permute"] = _with_axes_as_numbers(objects["Permute"], is_old)
    elif id == "autodiff.chain_rule" and isinstance(objects["chain_rule"], classmethod):
        changed["chain_rule"] = _of_a_history(objects["chain_rule"].__func__)
    elif is_old and id.startswith("functions."):
        for function in changed.values():
            function.backward = staticmethod(_with_one_value_alone(function.backward))
    return changed


def _of_a_history(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return FunctionBase.chain_rule as a function of a variable."""
    return lambda variable, d_output: theirs(
        variable.history.last_fn, variable.history.ctx, variable.history.inputs, d_output
    )


def _with_one_value_alone(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a backward that gets a single saved value by itself, as in MiniTorch of 2021."""

    def asked(ctx: Any, d_output: Any) -> Any:
        saved = ctx.saved_values
        alone = saved[0] if len(saved) == 1 else saved
        return backward(SimpleNamespace(saved_values=alone, saved_tensors=alone), d_output)

    return asked


def _with_axes_as_numbers(theirs: Any, is_old: bool) -> type:
    """Return a Permute of ours that asks theirs, with stand-ins for MiniTorch's tensors; the order is one of them."""
    from minigrad.tensor_functions import LinearFunction
    from minigrad.working_folder.minitorch_tensors import Context, Tensor, tensor

    class Permute(LinearFunction):
        @staticmethod
        def forward(ctx: Any, a: Any, order: Sequence[int]) -> Any:
            asked = Context(unwraps=is_old)
            ctx.save_for_backward(asked)
            found = theirs.forward(asked, Tensor(a._tensor), tuple(order) if is_old else tensor(list(order)))
            return a._new(found._tensor) if isinstance(found, Tensor) else found

        @staticmethod
        def backward(ctx: Any, d_output: Any) -> Any:
            found = theirs.backward(*ctx.saved_values, Tensor(d_output._tensor))
            first = found[0] if isinstance(found, tuple) else found
            return d_output._new(first._tensor) if isinstance(first, Tensor) else first

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
    failed_alone: set[tuple[str, str]] = set()
    for number, id in enumerate(found, start=1):
        task, path = found[id]
        yield {"cell": number, "text": f"{path.name}: {id}"}
        failures: list[str] = []
        try:
            loaded[id] = {} if number in skipped else load(task, path, failures)
        except (Exception, SystemExit) as error:
            if id in ids:
                yield as_line(failed(id, f"{path.name} could not be run: {type(error).__name__}: {error}"))
            continue
        yield from ({"remark": f"{id}: {each}"} for each in failures if id in ids)
        if id in ids and number in skipped:
            yield as_line(failed(id, f"{path.name} was still running when its time was over"))
        elif id in ids:
            yield {"check": id, "seconds": 2 * most_seconds(id)}
            report, stricter = judged(id, loaded[id])
            yield from ({"stricter": asdict(each)} for each in stricter)
            report = _asked_of_minitorch(report)
            titles = [each.title for each in report.results if not each.passed]
            failed_alone |= {(id, titles[0])} if len(titles) == 1 else set()
            yield as_line(report)
    for probe in PROBES:
        if loaded.get(probe.exercise):
            yield {"probe": probe.name, "seconds": 2 * runner.SECONDS}
            if (probe.exercise, probe.title) in failed_alone or shows(probe, loaded[probe.exercise]):
                yield {"seen": probe.name}
