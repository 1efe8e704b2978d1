"""`jit`: a function is traced once for each form of its arguments, and run from the graph afterwards."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple, TypeVar, cast

from minigrad import backends
from minigrad.autodiff import grad_mode
from minigrad.graph.calling import MISS, quick_call
from minigrad.graph.capturing import Captured, Guard, Own
from minigrad.graph.compiled import Program
from minigrad.graph.explaining import captured_differences, differences
from minigrad.graph.forms import Call, Places, Static, form_of, objects_of, paths_of, places_of, refused_structure
from minigrad.graph.passes import optimize
from minigrad.graph.planning import Plan, plan_for, plan_memory
from minigrad.graph.preparing import prepare
from minigrad.graph.program import Graph, Var
from minigrad.graph.tracing import traced
from minigrad.tensors import Tensor, abstract_mode
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.trees import PyTreeDef, tree_unflatten

Result = TypeVar("Result")

MOST_QUICK = 4
"""Forms of arguments that are tried before a form is looked up."""

MANY = 32
"""Graphs of a function before a warning says so."""

MOST = 128
"""Graphs of a function; where a call needs another one, the function itself is called."""

Marks = tuple[bool, tuple[bool, ...]]


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


class _Entry:
    """A graph, the program that it was compiled to, and what it depends on beside the form of a call.

    The graph's inputs are the tensors among the arguments, and then those that the guard returns.

    Args:
        graph: The graph.
        captured: What the function captures.
        guard: Returns the captured tensors; None where there are none.
        donated: Which inputs are donated.
        device: Where the graph runs.
        marks: Who wanted gradients at the trace; None if the function has not asked.
        records: Whether the function's result has a history, so that the function itself is called.
    """

    def __init__(
        self,
        graph: Graph,
        captured: Captured,
        guard: Guard | None,
        owner: tuple[int, ...],
        donated: Sequence[int],
        device: str,
        *,
        marks: Marks | None,
        records: bool,
    ) -> None:
        self.graph = graph
        self.device = device
        self.captured = captured
        self.guard = guard
        self.owner = owner
        self.marks = marks
        self.records = records
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

    def run_on_device(self, arrays: Sequence[Any], function: Callable[[], Result]) -> tuple[Sequence[Any] | None, Any]:
        """Run the program on a CUDA device, where kernels are compiled at their first launch.

        Returns:
            The results and None; or None and the value of the function itself, where a kernel cannot be compiled. The
            function tells a mistake of its caller's as well, such as a class that does not exist, by an error.
        """
        if self._failed or self.program is None or self._run is None:
            return None, function()
        try:
            results = self._run(*arrays)
        except Exception as error:
            if self._has_run or isinstance(error, MemoryError):
                raise
            value = function()
            self._failed = True
            _say_uncompiled("a function", error)
            return None, value
        self._has_run = True
        return results, None


def _say_uncompiled(what: str, error: Exception) -> None:
    """Warn that something runs as it would without `jit`."""
    why = f"{type(error).__name__}: {error}".splitlines()[0]
    _warn(f"{what} runs uncompiled, for it could not be compiled ({why})")


def _warn(message: str) -> None:
    """Give a warning; the line that it names is the one that calls the function."""
    level = 2
    while sys._getframe(level - 1).f_code.co_filename in (__file__, functools.__file__):
        level += 1
    warnings.warn(f"jit: {message}", RuntimeWarning, level)


class Jitted(Generic[Result]):
    """A function that runs from its graph; `jit` makes it.

    >>> minigrad.jit(minigrad.exp)(minigrad.zeros(2))
    tensor([1., 1.])
    """

    _captures = ("_fun",)  # what a function around it captures with it: not its graphs

    def __init__(self, fun: Callable[..., Result], static: Places, donated: Places) -> None:
        self._fun = fun
        self._static = static
        self._donated = donated
        self._quick: list[Callable[[Any, Any], Any]] = []
        self._entries: dict[Call, list[_Entry]] = {}
        self._own = Own()
        self._hits = self._misses = self._forgotten = 0
        functools.update_wrapper(self, fun, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the function as a method: an object's class may hold it."""
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        """Run the function from its graph; trace it first where the arguments have a form that is new."""
        for quick in self._quick:
            found = quick(args, kwargs)
            if found is not MISS:
                self._hits += 1
                return cast(Result, found)
        call, leaves = form_of(args, kwargs, self._static)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        recorded = grad_mode.enabled and any(x.requires_grad for x in tensors)
        if recorded or abstract_mode.depth or call.device == "both":
            return self._fun(*args, **kwargs)  # something differentiates, batches or traces this call
        if call.device == "cuda" and not backends.is_quick("cuda"):
            return self._fun(*args, **kwargs)
        entry, held = self._found(call, leaves)
        if entry is None:
            if self._count() >= MOST:
                return self._fun(*args, **kwargs)
            entry = self._trace(call, leaves)
            held = self._now(entry, *objects_of(leaves)) or ()
            if self._count() == MANY:
                self._say_many(call, entry, paths_of(args, kwargs, self._static))
        else:
            self._hits += 1
        if entry.records or (grad_mode.enabled and any(x.requires_grad for x in held)):
            return self._fun(*args, **kwargs)
        given = [x._array for x in (*tensors, *held)]
        if call.device == "cuda":
            found, value = entry.run_on_device(given, lambda: self._fun(*args, **kwargs))
            if found is None:
                return cast(Result, value)
            results = found
        else:
            if backends.is_quick() and not entry.has_quick_call:
                self._add_quick_call(entry, call, leaves)
            results = entry.run(given)
        wrapped = [Tensor(y) if isinstance(v, Var) else y for v, y in zip(entry.graph.outputs, results, strict=True)]
        return cast(Result, tree_unflatten(entry.graph.structure, wrapped))

    def _all(self) -> Iterator[_Entry]:
        """Go through all graphs."""
        return (entry for several in self._entries.values() for entry in several)

    def _count(self) -> int:
        """Return the number of graphs, with those that something outside has made untrue."""
        return len(list(self._all())) + self._forgotten

    def _say_many(self, call: Call, entry: _Entry, paths: Sequence[str]) -> None:
        """Warn that nearly each call seems to be traced, and say what was new at the last one."""
        several = self._entries[call]
        if self._forgotten:
            new, advice = ["what it changes itself is changed outside of it too"], "and such a value as an argument"
        elif len(several) > 1:
            new = captured_differences(entry.captured, several[-2].captured)
            advice = "and what changes in its surroundings as an argument"
        else:
            *_, before, _ = self._entries
            new = differences(call, before, paths)
            advice = "and a number that changes as a tensor"
        name = getattr(self._fun, "__name__", type(self._fun).__name__)
        _warn(
            f"{name} has been traced for {MANY} forms of arguments, which takes longer than running it: "
            f"{' and '.join(new[:2])}; give tensors of one shape, {advice}; from {MOST} graphs on the function itself "
            "is called for any other form"
        )

    def _now(self, entry: _Entry, *objects: Any) -> tuple[Tensor, ...] | None:
        """Return the captured tensors that a graph takes now; None if something else that it depends on has changed."""
        if self._own.places and not (
            entry.owner in ((), self._own.owner(objects)) and self._own.holds(self._fun, objects)
        ):
            return None
        return () if entry.guard is None else entry.guard(self._fun, *objects)

    def _found(self, call: Call, leaves: Sequence[Any]) -> tuple[_Entry | None, tuple[Tensor, ...]]:
        """Return what a call runs, and the captured tensors; None and nothing if it is new."""
        try:
            several = self._entries.get(call, ())
        except TypeError:
            raise refused_structure(call.structure) from None
        for entry in several:
            held = self._now(entry, *objects_of(leaves))
            if held is not None and entry.marks in (None, _marks(leaves, held)):
                return entry, held
        return None, ()

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Entry:
        """Return what a call runs, traced now if its form is new."""
        call, leaves = form_of(args, kwargs, self._static)
        return self._found(call, leaves)[0] or self._trace(call, leaves)

    def _add_quick_call(self, entry: _Entry, call: Call, leaves: Sequence[Any]) -> None:
        """Compile a graph, and remember how to call it quickly."""
        entry.has_quick_call = True
        if entry.program is not None:
            guard = None if entry.guard is None and not self._own.places else partial(self._now, entry)
            quick = quick_call(entry.program, call, leaves, guard, entry.marks)
            self._quick = [each for each in (quick, *self._quick) if each is not None][:MOST_QUICK]

    def _trace(self, call: Call, leaves: Sequence[Any]) -> _Entry:
        """Trace the function, and keep the graph."""

        def opened(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
            return self._fun(*map(_value, given), **{name: _value(x) for name, x in named.items()})

        if call.device == "both":
            raise ValueError("jit: tensors on different devices have no graph; move some with .to(device)")
        opened.__name__ = getattr(self._fun, "__name__", type(self._fun).__name__)
        objects = objects_of(leaves)
        self._forget(objects)
        before = Captured(self._fun, objects)
        graph, run = traced(opened, leaves, call.structure, call.device)
        captured = Captured(self._fun, objects)
        if self._own.add(captured.changed_since(before)):
            self._quick.clear()
            for entry in self._all():
                entry.has_quick_call = False
        if self._own.places:  # once, while it is traced: a list that it appends to
            captured = captured.without(self._own.places, self._fun, objects)
            self._own.note(self._fun, objects)
        outside = tuple(run.outside.values())
        held = [v for v, _ in outside]
        graph = optimize(replace(graph, inputs=(*graph.inputs, *held), captured=frozenset(held)))
        used = {v for equation in graph.equations for v in equation.uses()}
        used |= {v for v in graph.outputs if isinstance(v, Var)}
        inputs = tuple([v for v in graph.inputs if v in used or v not in graph.captured])
        graph = replace(graph, inputs=inputs, captured=graph.captured & used)
        taken = [x for v, x in outside if v in used]
        guard = captured.guard(taken, list(run.read.values()), run.is_outside)
        marks = _marks(leaves, taken)
        entry = _Entry(
            graph,
            captured,
            guard,
            self._own.owner(objects),
            self._places_of_donated(call.structure, leaves),
            call.device,
            marks=marks if run.asks else None,
            records=run.records and (run.asks or not any(marks[1])),
        )
        self._entries.setdefault(call, []).append(entry)
        self._misses += 1
        return entry

    def _forget(self, objects: Sequence[Any]) -> None:
        """Forget the graphs that are not true any more, since what the function changes itself was changed outside."""
        if self._own.holds(self._fun, objects):
            return
        owner = self._own.owner(objects)
        is_all = not self._own.holds_of_function(self._fun)
        before = len(list(self._all()))
        for call, several in list(self._entries.items()):
            self._entries[call] = [each for each in several if not is_all and each.owner != owner]
        self._quick.clear()
        self._forgotten += before - len(list(self._all()))

    def _places_of_donated(self, structure: PyTreeDef, leaves: Sequence[Any]) -> list[int]:
        """Return which inputs of the graph, by number, belong to donated arguments."""
        counts = [child.num_leaves for child in structure.children[0].children]
        owners = [n for n, count in enumerate(counts) for _ in range(count)]
        owners += [-1] * (len(leaves) - len(owners))
        inputs = [n for n, x in zip(owners, leaves, strict=True) if isinstance(x, Tensor)]
        return [place for place, n in enumerate(inputs) if n in self._donated.numbers]

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph that a call runs, traced now if it is not there yet.

        >>> minigrad.jit(lambda x: -(-x) * 2.0).graph(minigrad.zeros(2))
        a: float32[2]
        b: float32[2] = Mul a 2.0
        return b
        """
        return self._entry(args, kwargs).graph

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the text of what a call runs: the loops that are compiled, and the function that calls them.

        For tensors on a CUDA device these are the kernels, and the function that launches them. Without arguments it is
        the text of every graph that is there. Graphs inside of loops and choices come last. `jit.source(f)` is the
        same.

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
        shown = list(self._all()) if not args and not kwargs else []
        programs = [Program(entry.graph, device=entry.device) for entry in shown or [self._entry(args, kwargs)]]
        return "\n\n".join(program.whole_text() for program in programs)

    def memory(self, *args: Any, **kwargs: Any) -> Plan:
        """Return how many bytes a call takes for what it computes: each value by itself, and as they are planned.

        >>> f = minigrad.jit(lambda x: ((x @ x).exp() @ x).exp() @ x)
        >>> f.memory(minigrad.zeros(100, 100))
        Plan(before=200000, after=120000)
        """
        entry = self._entry(args, kwargs)
        planned = plan_for(prepare(entry.graph), entry.donated, entry.device)
        return replace(planned, before=plan_memory(entry.graph).before)

    def cache_info(self) -> CacheInfo:
        """Return how many calls found a graph, how many traced the function, and how many graphs there are.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> _ = f(minigrad.zeros(2)), f(minigrad.ones(2)), f(minigrad.zeros(3))
        >>> f.cache_info()
        CacheInfo(hits=1, misses=2, currsize=2)
        """
        return CacheInfo(self._hits, self._misses, len(list(self._all())))

    def cache_clear(self) -> None:
        """Forget all graphs.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> _ = f(minigrad.zeros(2))
        >>> f.cache_clear()
        >>> f.cache_info().currsize
        0
        """
        self._entries.clear()
        self._quick.clear()
        self._own = Own()
        self._hits = self._misses = self._forgotten = 0

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Say in one sentence whether a call would trace the function again, and why.

        The reason is a new form of the arguments, or a change in what the function captures. `jit.explain(f, ...)` is
        the same.

        >>> f = minigrad.jit(lambda x: x + 1.0)
        >>> f.explain(minigrad.zeros(2))
        'The function would be traced: it was not called yet.'
        >>> _ = f(minigrad.zeros(2))
        >>> f.explain(minigrad.zeros(2))
        'The graph is there: a call with these arguments runs it.'
        >>> f.explain(minigrad.zeros(3))
        'The function would be traced again: argument 0 is float32[3], and was float32[2].'
        """
        call, leaves = form_of(args, kwargs, self._static)
        (entry, held), paths = self._found(call, leaves), paths_of(args, kwargs, self._static)
        wanting = [path for path, x in zip(paths, leaves, strict=True) if isinstance(x, Tensor) and x.requires_grad]
        if wanting and grad_mode.enabled:
            return f"The function itself is called: {wanting[0]} wants gradients."
        if call.device == "both":
            return "The function itself is called: its tensors are on different devices."
        if grad_mode.enabled and any(x.requires_grad for x in held):
            return "The function itself is called: a tensor that it captures wants gradients."
        if entry is not None and entry.records:
            return "The function itself is called: its result has a history, for a backward pass."
        if entry is not None:
            return "The graph is there: a call with these arguments runs it."
        if not self._entries:
            return "The function would be traced: it was not called yet."
        if call in self._entries:
            objects = objects_of(leaves)
            now = Captured(self._fun, objects).without(self._own.places, self._fun, objects)
            nearest = captured_differences(now, self._entries[call][-1].captured)
        else:
            found = [(known.structure != call.structure, differences(call, known, paths)) for known in self._entries]
            _, nearest = min(reversed(found), key=lambda each: (each[0], len(each[1])))
        return f"The function would be traced again: {' and '.join(nearest[:2])}."


def _marks(leaves: Sequence[Any], held: Sequence[Tensor]) -> Marks:
    """Return whether gradients are on, and which of a graph's inputs want them."""
    return grad_mode.enabled, tuple([x.requires_grad for x in (*leaves, *held) if isinstance(x, Tensor)])


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Static) else x


def jit(
    fun: Callable[..., Result],
    static_argnums: int | Sequence[int] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    *,
    static_argnames: str | Sequence[str] | None = None,
) -> Jitted[Result]:
    """Return the function, compiled: traced at the first call, and run as fused loops from then on.

    It is traced once for each combination of shapes, dtypes, tree structure and values of what is no tensor. What the
    function captures counts as its arguments do: each call computes with captured tensors as they are then, and a
    number, a list or an attribute that has another value is traced again. Where a call is differentiated, batched or
    traced, the function itself is called. Tensors on a CUDA device have graphs, and kernels, of their own.

    Args:
        fun: A function of trees that returns a tree with tensors in it. It must not change tensors in place.
        static_argnums: Which positional arguments are compared as values, though they are trees or objects of any class
            that can be hashed. Negative numbers count from the last one.
        donate_argnums: Which positional arguments are not needed any more: results may be written to their memory. Do
            not look at their tensors after the call; they may hold anything.
        static_argnames: The same as static_argnums, by name.

    Raises:
        TraceError: When called, if the function cannot be traced; the message names the line.
        TypeError: When called, if an argument is neither tensor nor hashable.
        ValueError: If the function has no such argument.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.jit.html

    >>> f = minigrad.jit(lambda x, y: (x * y).sum())
    >>> f(minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_callable("jit", fun)
    static = places_of("static", fun, static_argnums, static_argnames)
    donated = places_of("donate", fun, donate_argnums)
    both = static.numbers & donated.numbers
    if both:
        raise ValueError(f"jit: argument {min(both)} is static, so it has no memory to donate")
    return Jitted(fun, static, donated)


jit.explain, jit.source = Jitted.explain, Jitted.source  # type: ignore[attr-defined]
