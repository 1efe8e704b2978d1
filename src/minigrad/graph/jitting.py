"""`jit`: a function is traced once for each form of its arguments, and run from the graph afterwards."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from minigrad import backends
from minigrad.autodiff import grad_mode
from minigrad.backends import default_float
from minigrad.graph.calling import MISS, quick_call
from minigrad.graph.compiled import Program
from minigrad.graph.passes import optimize
from minigrad.graph.planning import Plan, plan_for, plan_memory
from minigrad.graph.preparing import prepare
from minigrad.graph.program import Graph, Var, frozen
from minigrad.graph.tracing import traced
from minigrad.layout import type_name
from minigrad.tensors import Tensor, mapped
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.trees import PyTreeDef, leaves_by_path, tree_flatten, tree_unflatten, unlike

__all__ = ["CacheInfo", "Jitted", "jit"]

Result = TypeVar("Result")

MOST_QUICK = 4
"""Forms of arguments that are tried before a form is looked up."""


class CacheInfo(NamedTuple):
    """What the cache of a jitted function has done.

    Attributes:
        hits: Calls that were run from a graph which was there.
        misses: Calls that had to trace the function.
        currsize: The number of graphs.
    """

    hits: int
    misses: int
    currsize: int


class _Call(NamedTuple):
    """The form of a call: what its graph depends on."""

    structure: PyTreeDef
    specs: tuple[Any, ...]
    float_type: Any
    device: str


class _Entry:
    """A graph, and the program that it was compiled to."""

    def __init__(self, graph: Graph, wants_gradients: bool, donated: Sequence[int], device: str) -> None:
        self.graph = graph
        self.device = device
        self.wants_gradients = wants_gradients
        self.donated = donated
        self.has_quick_call = False
        self._run: Callable[..., Sequence[Any]] | None = None
        self._has_run = self._failed = False

    @cached_property
    def program(self) -> Program | None:
        """The program; None where the graph cannot be compiled, which is said in a warning."""
        try:
            program = Program(self.graph, self.donated, self.device)
            self._run = program.load()
        except Exception as error:  # whatever a compiler says: the interpreter computes the same
            _say_uncompiled("a graph", error)
            return None
        return program

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run the program; the interpreter in its place where the quick way is closed."""
        if not backends.is_quick() or self.program is None or self._run is None:
            return self.graph.run(*arrays)
        return self._run(*arrays)

    def run_on_device(self, arrays: Sequence[Any]) -> Sequence[Any] | None:
        """Run the program on a CUDA device; None where it could not be compiled, which the first run tells."""
        if self._failed or self.program is None or self._run is None:
            return None
        try:
            results = self._run(*arrays)
        except Exception as error:
            if self._has_run or isinstance(error, MemoryError):
                raise
            self._failed = True
            _say_uncompiled("a function", error)
            return None
        self._has_run = True
        return results


def _say_uncompiled(what: str, error: Exception) -> None:
    """Warn that something runs as it would without `jit`; the line that is named is the one that calls the function."""
    why = f"{type(error).__name__}: {error}".splitlines()[0]
    level = 2
    while sys._getframe(level - 1).f_code.co_filename in (__file__, functools.__file__):
        level += 1
    warnings.warn(f"jit: {what} runs uncompiled, for it could not be compiled ({why})", RuntimeWarning, level)


class Jitted(Generic[Result]):
    """A function that runs from its graph; `jit` makes it.

    >>> minigrad.jit(minigrad.exp)(minigrad.zeros(2))
    tensor([1., 1.])
    """

    def __init__(self, fun: Callable[..., Result], static: tuple[int, ...], donated: tuple[int, ...] = ()) -> None:
        self._fun = fun
        self._static = static
        self._donated = donated
        self._quick: list[Callable[[Any, Any], Any]] = []
        self._entries: dict[_Call, _Entry] = {}
        self._hits = self._misses = 0
        functools.update_wrapper(self, fun, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        """Run the function from its graph; trace it first where the arguments have a form that is new."""
        for quick in self._quick:
            found = quick(args, kwargs)
            if found is not MISS:
                self._hits += 1
                return cast(Result, found)
        call, leaves, tensors = self._form(args, kwargs)
        recorded = grad_mode.enabled and any(isinstance(x, Tensor) and x.requires_grad for x in tensors)
        if recorded or mapped.anywhere or call.device == "both":
            return self._fun(*args, **kwargs)  # something differentiates, batches or traces this call
        if call.device == "cuda" and not backends.is_quick("cuda"):
            return self._fun(*args, **kwargs)
        self._hits += call in self._entries
        entry = self._entry(call, leaves)
        if entry.wants_gradients and grad_mode.enabled:
            return self._fun(*args, **kwargs)
        given = [x._array if isinstance(x, Tensor) else x for x in tensors]
        if call.device == "cuda":
            found = entry.run_on_device(given)
            if found is None:
                return self._fun(*args, **kwargs)
            results = found
        else:
            if backends.is_quick() and not entry.has_quick_call:
                self._add_quick_call(entry, call, leaves)
            results = entry.run(given)
        wrapped = [Tensor(y) if isinstance(v, Var) else y for v, y in zip(entry.graph.outputs, results, strict=True)]
        return cast(Result, tree_unflatten(entry.graph.structure, wrapped))

    def _form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Call, list[Any], list[Any]]:
        """Return the form of a call, its leaves, and those of them that are tensors or arrays."""
        if max(self._static, default=-1) >= len(args):
            raise ValueError(
                f"jit: static_argnums names argument {max(self._static)}, counted from 0, and the call has {len(args)}"
                "; give static arguments by position"
            )
        boxed = tuple(_Static(x) if n in self._static else x for n, x in enumerate(args))
        leaves, structure = tree_flatten((boxed, kwargs))
        specs = tuple([_spec(x) for x in leaves])
        tensors = [x for x in leaves if isinstance(x, Tensor | np.ndarray)]
        return _Call(structure, specs, default_float(), _device_of(tensors)), leaves, tensors

    def _entry(self, call: _Call, leaves: Sequence[Any]) -> _Entry:
        """Return the graph for a form, traced now if it is not there yet."""
        if call not in self._entries:
            self._entries[call] = self._trace(call, leaves)
            self._misses += 1
        return self._entries[call]

    def _add_quick_call(self, entry: _Entry, call: _Call, leaves: Sequence[Any]) -> None:
        """Compile a graph, and remember how to call it quickly."""
        entry.has_quick_call = True
        if entry.program is not None and not entry.wants_gradients:
            quick = quick_call(entry.program, call.structure, leaves, call.float_type)
            self._quick = [each for each in (quick, *self._quick) if each is not None][:MOST_QUICK]

    def _trace(self, call: _Call, leaves: Sequence[Any]) -> _Entry:
        def opened(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
            return self._fun(*[x.value if isinstance(x, _Static) else x for x in given], **named)

        if call.device == "both":
            raise ValueError("jit: tensors on different devices have no graph; move some with .to(device)")
        opened.__name__ = getattr(self._fun, "__name__", type(self._fun).__name__)
        graph, wants_gradients = traced(opened, leaves, call.structure, call.device)
        donated = self._places_of_donated(call.structure, leaves)
        return _Entry(optimize(graph), wants_gradients, donated, call.device)

    def _places_of_donated(self, structure: PyTreeDef, leaves: Sequence[Any]) -> list[int]:
        """Return which inputs of the graph, by number, belong to donated arguments."""
        counts = [child.num_leaves for child in structure.children[0].children]
        owners = [n for n, count in enumerate(counts) for _ in range(count)]
        owners += [-1] * (len(leaves) - len(owners))
        inputs = [n for n, x in zip(owners, leaves, strict=True) if isinstance(x, Tensor | np.ndarray)]
        return [place for place, n in enumerate(inputs) if n in self._donated]

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph that a call runs, traced now if it is not there yet.

        >>> minigrad.jit(lambda x: -(-x) * 2.0).graph(minigrad.zeros(2))
        a: float32[2]
        b: float32[2] = Mul a 2.0
        return b
        """
        return self._entry(*self._form(args, kwargs)[:2]).graph

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the text of what a call runs: the loops that are compiled, and the function that calls them.

        For tensors on a CUDA device these are the kernels, and the function that launches them.

        >>> f = minigrad.jit(lambda x: (2.0 * x).exp())
        >>> print(f.source(minigrad.zeros(2)))  # doctest: +ELLIPSIS
        # where  c0 = float32(0x1.0000000000000p+1)
        def loop_0(start, stop, ordinal, first, given, parameters):  # in float32
        ...
            for j in range(start, stop):
                v0 = number(load(p1, j))
                t1 = c0 * v0
                t2 = exp(t1)
                store(p0, j, float32(t2))
        ...
        """
        entry = self._entry(*self._form(args, kwargs)[:2])
        program = Program(entry.graph, device=entry.device)
        return f"{program.loops}\n\n{program.text}"

    def memory(self, *args: Any, **kwargs: Any) -> Plan:
        """Return how many bytes a call takes for what it computes: each value by itself, and as they are planned.

        >>> f = minigrad.jit(lambda x: ((x @ x).exp() @ x).exp() @ x)
        >>> f.memory(minigrad.zeros(100, 100))
        Plan(before=200000, after=120000)
        """
        entry = self._entry(*self._form(args, kwargs)[:2])
        planned = plan_for(prepare(entry.graph), entry.donated, entry.device)
        return replace(planned, before=plan_memory(entry.graph).before)

    def cache_info(self) -> CacheInfo:
        """Return how many calls found a graph, how many traced the function, and how many graphs there are.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> _ = f(minigrad.zeros(2)), f(minigrad.ones(2)), f(minigrad.zeros(3))
        >>> f.cache_info()
        CacheInfo(hits=1, misses=2, currsize=2)
        """
        return CacheInfo(self._hits, self._misses, len(self._entries))

    def cache_clear(self) -> None:
        """Forget all graphs, for example after a global that the function reads has changed.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> _ = f(minigrad.zeros(2))
        >>> f.cache_clear()
        >>> f.cache_info().currsize
        0
        """
        self._entries.clear()
        self._quick.clear()
        self._hits = self._misses = 0

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Say in one sentence whether a call would trace the function again, and why.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> f.explain(minigrad.zeros(2))
        'The function would be traced: it was not called yet.'
        >>> _ = f(minigrad.zeros(2))
        >>> f.explain(minigrad.zeros(2))
        'The graph is there: a call with these arguments runs it.'
        >>> f.explain(minigrad.zeros(3))
        'The function would be traced again: argument 0 is float32[3], and was float32[2].'
        """
        call, _, _ = self._form(args, kwargs)
        if call in self._entries:
            return "The graph is there: a call with these arguments runs it."
        if not self._entries:
            return "The function would be traced: it was not called yet."
        parts = [(f"argument {n}", _Static(x) if n in self._static else x) for n, x in enumerate(args)]
        parts += [(f"argument {name}", x) for name, x in sorted(kwargs.items())]
        paths = [path for name, x in parts for path, _ in leaves_by_path(x, name)]
        found = min((_differences(call, known, paths) for known in reversed(self._entries)), key=len)
        return f"The function would be traced again: {' and '.join(found[:2])}."


class _Static:
    """A static argument: a leaf of the arguments' tree, compared by its value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _device_of(tensors: Sequence[Any]) -> str:
    """Return where all of some tensors and arrays are: "cpu", "cuda" or "both"."""
    devices = {getattr(x, "device", "cpu") for x in tensors} or {"cpu"}
    return devices.pop() if len(devices) == 1 else "both"


def _spec(x: Any) -> Any:
    """Return what a graph depends on, of a leaf: shape and type of a tensor, the value of anything else."""
    if isinstance(x, Tensor | np.ndarray):
        return "tensor", tuple(x.shape), x.dtype
    value = x.value if isinstance(x, _Static) else x
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"jit: an argument is {type_name(value)}, which cannot be hashed; give tensors, trees of them, or values "
            "that can be hashed, such as numbers, strings and tuples"
        ) from None
    return "static" if isinstance(x, _Static) else "value", frozen(value, {})


def _shown(spec: Any) -> str:
    return Var(*spec[1:]).type if spec[0] == "tensor" else repr(_thawed(spec[1]))


def _thawed(value: Any) -> Any:
    """Return the value that `frozen` has made hashable."""
    kind, content = value
    if kind in ("tuple", "list"):
        return tuple(map(_thawed, content))
    return float.fromhex(content) if kind is float else content


def _differences(call: _Call, known: _Call, paths: Sequence[str]) -> list[str]:
    """Return what a call has that another one had not."""
    (given, named), (given_before, named_before) = call.structure.children, known.structure.children
    if len(given.children) != len(given_before.children):
        count, before = len(given.children), len(given_before.children)
        return [f"it is called with {count} positional arguments, and was called with {before}"]
    for n, (new, old) in enumerate(zip(given.children, given_before.children, strict=True)):
        if new != old:
            return [f"{unlike(new, old, f'argument {n}').replace(': ', ' is ', 1).replace(' and ', ', and was ')}"]
    if named != named_before:
        return [f"the keyword arguments are {named}, and were {named_before}"]
    pairs = zip(paths, call.specs, known.specs, strict=True)
    found = [f"{path} is {_shown(new)}, and was {_shown(old)}" for path, new, old in pairs if new != old]
    if call.device != known.device:
        found.append(f"the tensors are on {call.device}, and were on {known.device}")
    if call.float_type != known.float_type:
        found.append(f"the default type of floats is {call.float_type}, and was {known.float_type}")
    return found


def jit(
    fun: Callable[..., Result],
    static_argnums: int | Sequence[int] = (),
    donate_argnums: int | Sequence[int] = (),
) -> Jitted[Result]:
    """Return the function, compiled: traced at the first call, and run as fused loops from then on.

    It is traced once for each combination of shapes, dtypes, tree structure and values of what is no tensor. Captured
    tensors and numbers keep the values that they had at that call. Where a call is differentiated, batched or traced,
    the function itself is called. Tensors on a CUDA device have graphs, and kernels, of their own.

    Args:
        fun: A function of trees that returns a tree with tensors in it. It must not change tensors in place.
        static_argnums: Which positional arguments are compared as values, though they are trees or objects of any class
            that can be hashed.
        donate_argnums: Which positional arguments are not needed any more: results may be written to their memory. Do
            not look at their tensors after the call; they may hold anything.

    Raises:
        TraceError: When called, if the function cannot be traced; the message names the line.
        TypeError: When called, if an argument is neither tensor nor hashable.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.jit.html

    >>> f = minigrad.jit(lambda x, y: (x * y).sum())
    >>> f(minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_callable("jit", fun)
    static, donated = _places("static_argnums", static_argnums), _places("donate_argnums", donate_argnums)
    if set(static) & set(donated):
        raise ValueError(f"jit: argument {min(set(static) & set(donated))} is static, so it has no memory to donate")
    return Jitted(fun, static, donated)


def _places(name: str, given: int | Sequence[int]) -> tuple[int, ...]:
    places = (given,) if isinstance(given, int) else tuple(given)
    if min(places, default=0) < 0:
        raise ValueError(f"jit: {name} is {given!r}; give places counted from 0, such as 1 or (1, 2)")
    return places
