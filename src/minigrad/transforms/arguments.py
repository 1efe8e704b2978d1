"""What the transforms ask of functions' arguments and results, and what they say where it is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from minigrad.layout import type_name
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, creation
from minigrad.transforms.recording import Recording, is_variable
from minigrad.transforms.trees import leaves_by_path, tree_flatten, tree_structure, unlike


def check_callable(name: str, fun: Any) -> None:
    """Refuse what is no function.

    Raises:
        TypeError: If it cannot be called.
    """
    if not callable(fun):
        raise TypeError(f"{name}: needs a function, not {type_name(fun)}; give the function itself, not its result")


def variables(name: str, tree: Any, path: str) -> list[Any]:
    """Return the leaves of a tree as Scalars and tensors of floats; Python's floats become tensors without axes.

    Raises:
        TypeError: If a leaf has no derivative. The message names its path.
    """
    return [_variable(name, leaf, where) for where, leaf in leaves_by_path(tree, path)]


def _variable(name: str, x: Any, path: str) -> Any:
    if is_variable(x):
        return x
    if isinstance(x, float | np.floating) or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):
        return creation.tensor(x)
    if isinstance(x, Tensor | np.ndarray | np.generic):
        raise TypeError(
            f"{name}: {path} is a tensor of {x.dtype}, which has no derivative; convert it with .float(), or leave it "
            "out of what is differentiated"
        )
    if isinstance(x, Real):
        raise TypeError(f"{name}: {path} is the {type(x).__name__} {x}, which has no derivative; write {float(x)}")
    raise TypeError(
        f"{name}: {path} is {type_name(x)}, which has no derivative; give tensors, Scalars, floats or trees of them, "
        "or leave it out of what is differentiated"
    )


def positions(name: str, argnums: Any, count: int) -> tuple[int, ...]:
    """Return which positional arguments argnums names, counted from 0.

    Raises:
        TypeError: If argnums is neither an int nor a sequence of them.
        ValueError: If there is no such argument, or one is named twice.
    """
    given = argnums if isinstance(argnums, tuple | list) else (argnums,)
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in given):
        raise TypeError(f"{name}: argnums is {argnums!r}; it must be an int or a tuple of ints")
    for n in given:
        if not -count <= n < count:
            needed = n + 1 if n >= 0 else -n
            raise ValueError(
                f"{name}: argnums={argnums} needs at least {needed} positional arguments, but the call has {count}; "
                "give the arguments by position, or change argnums"
            )
    places = tuple(n % count for n in given)
    if len(set(places)) < len(places):
        raise ValueError(f"{name}: argnums={argnums} names an argument twice; name each one once")
    return places


def with_variables(trees: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function that puts leaves in the places of those of some trees."""
    structures = [tree_structure(tree) for tree in trees]

    def put(leaves: Sequence[Any]) -> list[Any]:
        rest = iter(leaves)
        return [each.unflatten([next(rest) for _ in range(each.num_leaves)]) for each in structures]

    return put


def recorded(
    name: str, fun: Callable[..., Any], trees: Sequence[Any], paths: Sequence[str], has_aux: bool
) -> Recording:
    """Run a function of trees, recorded.

    Args:
        name: The transform, for messages.
        fun: The function, called with the trees as its arguments.
        trees: Its arguments.
        paths: What messages call them.
        has_aux: Whether it returns a pair, whose second part is handed on as it is.
    """
    check_callable(name, fun)
    put = with_variables(trees)
    leaves = [leaf for tree, path in zip(trees, paths, strict=True) for leaf in variables(name, tree, path)]

    def run(inputs: Sequence[Any]) -> tuple[Any, Any]:
        returned = fun(*put(inputs))
        aux = None
        if has_aux:
            if not isinstance(returned, tuple | list) or len(returned) != 2:
                raise TypeError(
                    f"{name}: with has_aux=True the function must return a pair (result, aux), not "
                    f"{type_name(returned)}"
                )
            returned, aux = returned
        return _checked_results(name, returned), aux

    return Recording(run, leaves)


def _checked_results(name: str, tree: Any) -> Any:
    """Return what a function returned, with tensors for numbers."""
    leaves, structure = tree_flatten(tree)
    if not leaves:
        raise TypeError(f"{name}: the function returned {tree!r}, no tensor; is a `return` missing?")
    results = []
    for path, leaf in leaves_by_path(tree, "result"):
        if isinstance(leaf, Tensor | Scalar):
            results.append(leaf)
        elif isinstance(leaf, Real | np.ndarray):
            results.append(creation.tensor(leaf))
        else:
            place = "the function" if path == "result" else f"{path} of the function"
            raise TypeError(
                f"{name}: {place} is {type_name(leaf)}, no tensor; return tensors, Scalars or trees of them, and "
                "anything else as aux with has_aux=True"
            )
    return structure.unflatten(results)


def changes_of(name: str, what: str, like: str, tree: Any, values: Sequence[Any], structure: Any) -> list[Any]:
    """Return the leaves of a tree of tangents or cotangents, checked against the values that they belong to.

    Args:
        name: The transform, for messages.
        what: What the tree is called in messages.
        like: What the values are called in messages.
        tree: The tree.
        values: The values; only variables among them have a change.
        structure: The values' structure.

    Raises:
        TypeError: If structures or types differ.
        ValueError: If shapes differ.
    """
    own = tree_structure(tree)
    if own != structure:
        raise TypeError(
            f"{name}: {what} and {like} must have the same structure, but differ at {unlike(own, structure)}"
        )
    pairs = zip(leaves_by_path(tree, what), values, strict=True)
    return [_change(name, path, t, like + path.removeprefix(what), x) for (path, t), x in pairs]


def _change(name: str, path: str, t: Any, like: str, x: Any) -> Any:
    if not is_variable(x):
        return None
    if isinstance(x, Scalar):
        if not isinstance(t, Scalar | Real):
            raise TypeError(f"{name}: {path} is {type_name(t)}, but belongs to a Scalar; give a Scalar or a float")
        return t if isinstance(t, Scalar) else Scalar(t, requires_grad=False)
    if isinstance(t, Real | np.ndarray):
        t = creation.tensor(t, dtype=x.dtype, device=x.device)
    if not isinstance(t, Tensor):
        raise TypeError(f"{name}: {path} is {type_name(t)}, but belongs to a tensor; give a tensor of shape {x.shape}")
    if t.shape != x.shape:
        raise ValueError(f"{name}: {path} has shape {t.shape}, but {like} has {x.shape}; they must be the same")
    if t.dtype != x.dtype:
        raise TypeError(
            f"{name}: {path} is a tensor of {t.dtype}, but {like} is one of {x.dtype}; convert it with .to(dtype)"
        )
    return t
