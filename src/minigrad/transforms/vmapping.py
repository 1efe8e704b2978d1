"""`vmap`: a function of one example becomes a function of a batch, without a loop."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.errors import BatchingError
from minigrad.layout import type_name
from minigrad.tensors import Tensor, abstract_mode, creation
from minigrad.transforms import batching_rules_nn as batching_rules_nn
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.batched import BatchedTensor, hide, levels_of
from minigrad.transforms.trees import leaves_by_path, spread, tree_flatten, tree_structure

_levels = itertools.count(1)


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
    randomness: str = "different",
) -> Callable[..., Any]:
    """Return the function that applies a function of one example to all examples of a batch at once.

    Its results are those of a loop over the examples that stacks what the function returns.

    Args:
        fun: A function of trees that returns a tree of tensors.
        in_axes: Which axis of each argument counts the examples: an int for all, or a tuple with an entry for each
            argument: an int, None for an argument that all examples share, or a tree of these. Keyword arguments are
            mapped along axis 0.
        out_axes: Where this axis stands in the results: an int, None for a result that all examples share, or a tree.
        axis_size: The number of examples; needed where no argument is mapped.
        randomness: What random functions draw: "different" numbers for each example, the "same" for all, or an "error".

    Returns:
        A function of the batch.

    Raises:
        TypeError, ValueError: When called, if the arguments do not fit in_axes, or the results out_axes.
        BatchingError: When called, if something in the function has no batching rule.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html

    >>> rows, vector = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), minigrad.tensor([1.0, 10.0])
    >>> minigrad.transforms.vmap(lambda row, v: row.dot(v), in_axes=(0, None))(rows, vector)
    tensor([21., 43.])
    """
    check_callable("vmap", fun)
    if randomness not in ("different", "same", "error"):
        raise ValueError(f"vmap: randomness is {randomness!r}; it must be 'different', 'same' or 'error'")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not (in_axes is None or isinstance(in_axes, tuple | int)) or isinstance(in_axes, bool):
        raise TypeError(
            f"vmap: in_axes is {type_name(in_axes)}; it must be an int, None, or a tuple with an entry for each "
            "argument"
        )

    @functools.wraps(fun)
    def mapped_function(*args: Any, **kwargs: Any) -> Any:
        leaves, axes, paths, structure = _arguments(in_axes, args, kwargs)
        size = _size(leaves, axes, paths, axis_size)
        level = next(_levels)
        running = abstract_mode.Running(level, size, randomness, lambda x: hide(x, level))
        inputs = [x if axis is None else hide(_in_front(x, axis), level) for x, axis in zip(leaves, axes, strict=True)]
        given, named = structure.unflatten(inputs)
        with abstract_mode.within([running]):
            return _results(fun(*given, **named), out_axes, level, size)

    return mapped_function


def _arguments(
    in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], list[Any], list[str], Any]:
    """Return the leaves of all arguments, the axis of each, what messages call it, and their structure."""
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"vmap: in_axes has {len(in_axes)} entries for {len(args)} positional arguments; give one entry for each"
        )
    pairs = [pair for n, arg in enumerate(args) for pair in leaves_by_path(arg, f"argument {n}")]
    pairs += [pair for name, arg in sorted(kwargs.items()) for pair in leaves_by_path(arg, f"argument {name}")]
    axes = spread(in_axes, args, "vmap: in_axes", "the arguments")
    axes += [0] * (len(pairs) - len(axes))
    leaves, structure = tree_flatten((args, kwargs))
    for axis, (path, x) in zip(axes, pairs, strict=True):
        if axis is not None:
            _check_axis(axis, path, x)
    tensors = [creation.tensor(x) if isinstance(x, np.ndarray) else x for x in leaves]
    return tensors, axes, [path for path, _ in pairs], structure


def _check_axis(axis: Any, path: str, x: Any) -> None:
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise TypeError(f"vmap: in_axes has {axis!r} for {path}; it must be an int or None")
    if not isinstance(x, Tensor | np.ndarray):
        raise TypeError(
            f"vmap: {path} is {type_name(x)}, which has no axis {axis}; give a tensor, or None in in_axes for what all "
            "examples share"
        )
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"vmap: {path} has shape {tuple(x.shape)} and no axis {axis}; change in_axes, or give None in it for what "
            "all examples share"
        )


def _size(leaves: Sequence[Any], axes: Sequence[Any], paths: Sequence[str], axis_size: int | None) -> int:
    sizes = {p: x.shape[a] for p, x, a in zip(paths, leaves, axes, strict=True) if a is not None}
    if axis_size is not None:
        sizes = {"axis_size": axis_size} | sizes
    if not sizes:
        raise ValueError(
            "vmap: no argument is mapped, so that the number of examples is unknown; give an int in in_axes, or "
            "axis_size"
        )
    first, size = next(iter(sizes.items()))
    other = next((path for path, n in sizes.items() if n != size), None)
    if other is not None:
        raise ValueError(
            f"vmap: the arguments must have as many examples, but {first} has {size} along its mapped axis and {other} "
            f"has {sizes[other]}; check in_axes"
        )
    return int(size)


def _in_front(x: Any, axis: int) -> Any:
    """Return a tensor with an axis in front of the others."""
    place = axis % x.ndim
    return x if not place else x.permute(place, *(n for n in range(x.ndim) if n != place))


def _results(results: Any, out_axes: Any, level: int, size: int) -> Any:
    structure = tree_structure(results)
    axes = spread(out_axes, results, "vmap: out_axes", "the results")
    pairs = zip(leaves_by_path(results, "result"), axes, strict=True)
    return structure.unflatten([_result(path, y, axis, level, size) for (path, y), axis in pairs])


def _result(path: str, y: Any, axis: Any, level: int, size: int) -> Any:
    """Return one result with its examples along an axis."""
    if isinstance(y, int | float | np.ndarray | np.generic):
        y = creation.tensor(y)
    if not isinstance(y, Tensor):
        raise TypeError(f"vmap: {path} of the function is {type_name(y)}, no tensor; return tensors or trees of them")
    if levels_of(y)[-1:] > (level,):
        raise BatchingError(f"vmap: {path} belongs to another vmap, which has ended; return it from that one")
    if axis is None:
        if isinstance(y, BatchedTensor) and y._level == level:
            raise ValueError(
                f"vmap: {path} differs from example to example, but out_axes has None for it; give the axis of examples"
            )
        return y
    whole = y._value if isinstance(y, BatchedTensor) and y._level == level else y.unsqueeze(0).expand(size, *y.shape)
    if not isinstance(axis, int) or not -whole.ndim <= axis < whole.ndim:
        raise ValueError(f"vmap: out_axes has {axis!r} for {path}; its batch has shape {whole.shape} and no such axis")
    place = axis % whole.ndim
    return whole if not place else whole.permute(*range(1, place + 1), 0, *range(place + 1, whole.ndim))
