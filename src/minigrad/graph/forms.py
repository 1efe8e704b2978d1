"""The form of a call: what the graph depends on that the call runs. Two calls of one form have one graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.backends import default_float, here
from minigrad.graph.capturing import holds_more, is_object
from minigrad.graph.program import frozen
from minigrad.layout import type_name
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, creation
from minigrad.transforms.trees import PyTreeDef, leaves_by_path, orders_of, tree_flatten

_OF_TENSORS = {np.dtype(kind) for kind in ("float32", "float64", "int32", "int64", "bool")}


class Call(NamedTuple):
    """The form of a call.

    Attributes:
        structure: The tree of the arguments: positional ones, named ones.
        orders: The keys of each dict in it, in its own order, which the function may see.
        specs: What matters of each leaf: shape and type of a tensor, the value of anything else.
        float_type: The default type of floats.
        device: Where the tensors are: "cpu", "cuda" or "both".
        state: The backend, and a number for a student's answers that stand in the library. The rules that a graph is
            made of are those of its trace.
    """

    structure: PyTreeDef
    orders: tuple[tuple[Any, ...], ...]
    specs: tuple[Any, ...]
    float_type: Any
    device: str
    state: tuple[str, int]


class Static:
    """A static argument: a leaf of the arguments' tree, compared by its value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Places(NamedTuple):
    """Which arguments of a function are meant.

    Attributes:
        numbers: By their places, counted from 0.
        names: By their names.
    """

    numbers: frozenset[int]
    names: frozenset[str]


def places_of(what: str, fun: Callable[..., Any], numbers: Any, names: Any = None) -> Places:
    """Return which arguments of a function are named by places, by names, or both.

    A call may give an argument by its place or by its name. So each place gets its name, and each name its place.

    Args:
        what: What the arguments are, for messages: "static" or "donate".
        fun: The function.
        numbers: An int, a sequence of ints, or None; negative ones count from the end.
        names: A string, a sequence of strings, or None.

    Raises:
        TypeError: If there is anything else among them.
        ValueError: If the function has no such argument.

    >>> from minigrad.graph.forms import places_of
    >>> places_of("static", lambda x, n: x, -1)
    Places(numbers=frozenset({1}), names=frozenset({'n'}))
    """
    known, takes_any, takes_any_name = _parameters_of(fun)
    places = {
        _place(what, n, known, takes_any) for n in _listed(numbers, int | np.integer, f"jit: {what}_argnums", "an int")
    }
    words = set(_listed(names, str, f"jit: {what}_argnames", "a string"))
    unknown = words - set(known) if not takes_any_name else set()
    if unknown:
        raise ValueError(
            f"jit: {what}_argnames has {min(unknown)!r}, but the arguments of the function are {', '.join(known)}"
        )
    words |= {known[n] for n in places if n < len(known)}
    places |= {n for n, name in enumerate(known) if name in words}
    return Places(frozenset(places), frozenset(words))


def _parameters_of(fun: Callable[..., Any]) -> tuple[list[str], bool, bool]:
    """Return the names of a function's arguments, and whether it takes more of them by place and by name."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return [], True, True
    kinds = [each.kind for each in parameters]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [each.name for each in parameters if each.kind in by_place]
    named = inspect.Parameter.KEYWORD_ONLY in kinds or inspect.Parameter.VAR_KEYWORD in kinds
    return known, inspect.Parameter.VAR_POSITIONAL in kinds, named


def _listed(given: Any, kind: Any, name: str, one: str) -> list[Any]:
    """Return what is given as one thing, several or None, as a list."""
    several = [] if given is None else [given] if isinstance(given, kind) or not hasattr(given, "__iter__") else given
    found = list(several)
    if not all(isinstance(each, kind) for each in found):
        raise TypeError(f"{name} is {given!r}; it must be {one} or a tuple of these")
    return found


def _place(what: str, n: int, known: Sequence[str], takes_any: bool) -> int:
    place = n if n >= 0 else n + len(known)
    if place < 0 or (n < 0 and takes_any) or (place >= len(known) and not takes_any):
        count = f"takes {len(known)}" if not takes_any else "takes any number of them"
        raise ValueError(f"jit: {what}_argnums names argument {n}, but the function {count}; count from 0")
    return place


def form_of(args: tuple[Any, ...], kwargs: dict[str, Any], static: Places) -> tuple[Call, list[Any]]:
    """Return the form of a call, and its leaves: tensors, static arguments and values.

    Raises:
        TypeError: If a leaf is nothing that a graph can depend on. The message names its path.
    """
    leaves, structure = tree_flatten(_with_static(args, kwargs, static))
    try:
        leaves = [_as_tensor(x) if isinstance(x, np.ndarray) else x for x in leaves]
        specs = tuple([_spec(x) for x in leaves])
    except TypeError:
        for path, leaf in _leaves_of(args, kwargs, static):
            _check_leaf(path, leaf)
        raise
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    return Call(structure, orders_of(structure), specs, default_float(), _device_of(tensors), here.choice.state), leaves


def objects_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves of a call, without their boxes, that a graph depends on by what they hold."""
    return [x for x in (x.value if isinstance(x, Static) else x for x in leaves) if holds_more(x)]


def _with_static(args: tuple[Any, ...], kwargs: dict[str, Any], static: Places) -> tuple[Any, Any]:
    """Return arguments with static ones as leaves."""
    boxed = tuple([Static(x) if n in static.numbers else x for n, x in enumerate(args)])
    return boxed, {name: Static(x) if name in static.names else x for name, x in kwargs.items()}


def paths_of(args: tuple[Any, ...], kwargs: dict[str, Any], static: Places) -> list[str]:
    """Return the path of each leaf of a call's arguments.

    >>> from minigrad.graph.forms import paths_of, places_of
    >>> paths_of(([1.0, 2.0],), {"n": (3, 4)}, places_of("static", lambda x, n: x, 1))
    ['argument 0[0]', 'argument 0[1]', 'argument n']
    """
    return [path for path, _ in _leaves_of(args, kwargs, static)]


def _leaves_of(args: tuple[Any, ...], kwargs: dict[str, Any], static: Places) -> list[tuple[str, Any]]:
    boxed, named = _with_static(args, kwargs, static)
    parts = [*enumerate(boxed), *sorted(named.items())]
    return [pair for key, tree in parts for pair in leaves_by_path(tree, f"argument {key}")]


def _as_tensor(array: Any) -> Tensor:
    return Tensor(array) if array.dtype in _OF_TENSORS else creation.tensor(array, device="cpu")


def _spec(x: Any) -> Any:
    """Return what a graph depends on, of a leaf."""
    if isinstance(x, Tensor):
        return "tensor", tuple(x.shape), x.dtype
    value = x.value if isinstance(x, Static) else x
    hash(value)
    if isinstance(value, Scalar):
        raise TypeError
    if is_object(value):  # the graph depends on what it holds, and a form must not keep it alive
        return "object", type(value)
    return "static" if isinstance(x, Static) else "value", frozen(value, {})


def _check_leaf(path: str, leaf: Any) -> None:
    """Raise the error for a leaf that a graph cannot depend on."""
    is_static = isinstance(leaf, Static)
    value = leaf.value if isinstance(leaf, Static) else leaf
    if isinstance(value, Scalar):
        raise TypeError(
            f"jit: {path} is a Scalar, and a graph computes with tensors; give minigrad.tensor({value.item()})"
        )
    if isinstance(value, np.ndarray) and not is_static:
        raise TypeError(
            f"jit: {path} is an array of {value.dtype}, and a tensor holds numbers; leave it out, or convert it"
        )
    try:
        hash(value)
    except TypeError:
        advice = "give a static argument of such values" if is_static else "give tensors, trees of them, or such values"
        raise TypeError(
            f"jit: {path} is {type_name(value)}, which cannot be hashed as numbers, strings and tuples can; {advice}"
        ) from None


def refused_structure(structure: PyTreeDef) -> TypeError:
    """Return the error for a container with something beside its leaves, such as a list, that cannot be hashed."""
    (given, named) = structure.children
    parts = [*enumerate(given.children), *zip(named.rest, named.children, strict=True)]
    where = next(filter(None, (_unhashable(child, f"argument {key}") for key, child in parts)), "an argument")
    return TypeError(
        f"jit: {where} holds something beside its leaves that cannot be hashed, such as a list in a static field of a "
        "dataclass; use a tuple in its place"
    )


def _unhashable(structure: PyTreeDef, path: str) -> str:
    """Return the path to the innermost container whose own part cannot be hashed; "" if there is none."""
    for child, name in zip(structure.children, structure.names, strict=True):
        found = _unhashable(child, path + name)
        if found:
            return found
    try:
        hash(structure.rest)
    except TypeError:
        return path
    return ""


def _device_of(tensors: Sequence[Tensor]) -> str:
    """Return where all of some tensors are: "cpu", "cuda" or "both"."""
    devices: set[str] = {x.device for x in tensors} or {"cpu"}
    return devices.pop() if len(devices) == 1 else "both"
