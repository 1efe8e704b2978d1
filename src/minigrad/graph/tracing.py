"""Tracing: a function is run once on traced tensors, and what it does with them becomes a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from minigrad import backends, engine
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded
from minigrad.backward import changes
from minigrad.errors import TraceError
from minigrad.functions import Elementwise, Function
from minigrad.graph.program import Equation, Graph, Several, Var, frozen
from minigrad.graph.traced import LEFT, Draw, TracedTensor, function_of, refuse
from minigrad.machine import overrides
from minigrad.tensors import Tensor, _check_shapes, abstract_mode
from minigrad.transforms.batched import BatchedTensor
from minigrad.transforms.trees import PyTreeDef, leaves_by_path, tree_flatten


class Trace:
    """The equations of one run of a function on traced tensors.

    The shape and dtype of each result, and what the forward rule saves, are found by running that rule on zeros: no
    second table of shape rules is needed.

    Args:
        parent: The trace inside of which this one runs, for a function that becomes a graph inside of an equation.
        device: Where the graph will run, if there is no such trace: "cpu" or "cuda".

    Attributes:
        depth: How many traces it runs inside of.
        since: The clock's reading when it began (`minigrad.backward.changes`): what is older comes from outside.
        captured: The tensors of the traces around it that it uses, and the values that stand for them.
        outside: Of a trace that is inside of no other: the tensors that are older and that it uses, likewise.
        read: The older tensors whose elements the function has asked for, while it was traced.
        mode: Whether gradients were on when it began.
        asks: Whether the function has asked a traced tensor who wants gradients, or has switched them on or off.
        records: Whether the function has returned a tensor with a history, which no result of a graph has.
    """

    def __init__(self, parent: Trace | None = None, device: str = "cpu") -> None:
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.since = next(changes.ticks)
        self.device: str = device if parent is None else parent.device
        self.captured: dict[int, tuple[Var, Tensor]] = {}
        self.outside: dict[int, tuple[Var, Tensor]] = {}
        self.read: dict[int, Tensor] = {}
        self._shown: dict[int, tuple[Tensor, Tensor]] = {}
        self.equations: list[Equation] = []
        self._constants: dict[int, Constant] = {}
        self._older: list[Constant] = []
        self.is_running = True
        self.mode = grad_mode.enabled
        self.asks = self.records = False

    def is_outside(self, x: Any) -> bool:
        """Return whether a value is a tensor that was made before the trace began, or shows one's memory."""
        return isinstance(x, Tensor) and (x._tick < self.since or id(x) in self._shown)

    def note_shared(self, x: Tensor, base: Any) -> None:
        """Take note that a new tensor has the memory of another one, which may come from outside."""
        if self.is_outside(base):
            self._shown[id(x)] = x, self._owner(base)

    def _owner(self, x: Tensor) -> Tensor:
        return self._shown[id(x)][1] if id(x) in self._shown else x

    def note_read(self, x: Tensor) -> None:
        """Take note that the function looks at the elements of a tensor: the graph has them, as they are now."""
        if self.is_outside(x):
            x = self._owner(x)
            self.read[id(x)] = x

    def standing_for(self, x: Tensor) -> TracedTensor:
        """Return a traced tensor that stands for one from outside."""
        return TracedTensor(self, self.operand(x))

    def _apply(self, function: type[Function], inputs: Sequence[Any], **options: Any) -> Tensor:
        """Add an equation about tensors from outside alone."""
        return self.emit(function, inputs, options)

    def _call(self, method: str, x: Any, **options: Any) -> Tensor:
        """Add an equation that calls a method of a tensor from outside."""
        return self.emit(function_of(method), (x,), options)

    def emit(self, function: type[Function], inputs: Sequence[Any], options: dict[str, Any]) -> Tensor:
        """Add an equation, and return its result."""
        if grad_mode.enabled is not self.mode:
            (abstract_mode.running.trace or self).asks = True
        operands = tuple(self.operand(x) for x in inputs)
        known = _tensors_in(options)
        variables = {id(x): self.operand(x) for x in known}
        zeros = {id(x): np.zeros(x.shape, x.dtype) for x in known}
        given = _exchanged(options, zeros)
        concrete = self._on_zeros(function, inputs, given)
        if not overrides.is_ours(function):
            _check_numbers(function, concrete, lambda: self._on_zeros(function, inputs, given, of_other_numbers))
        array = concrete._array
        shape = array.shape
        if issubclass(function, Elementwise):
            shape = _shape_of_all(function, inputs)
        result = TracedTensor(self, Var(tuple(shape), array.dtype))
        outputs, saved = [result._var], list[tuple[Any, ...]]()
        if concrete.requires_grad:
            result._requires_grad, result._fn, result._inputs = True, concrete._fn, tuple(inputs)
            if concrete._ctx is not None:
                same = {id(x._array): y for x, y in zip(concrete._inputs, inputs, strict=True) if isinstance(x, Tensor)}
                same |= {id(x): y for x, y in zip(concrete._inputs, inputs, strict=True) if isinstance(x, Tensor)}
                same |= {id(zeros[id(x)]): x for x in known} | {id(array): result}
                same |= {id(x): None for x in _arrays_in(options)}
                result._ctx = self._context(concrete._ctx, inputs, same, outputs, saved)
                result._ctx.options = options  # for rules that apply the function again, with the places that it had
        given = _exchanged(options, variables)
        self.equations.append(Equation(function, operands, given, tuple(outputs), tuple(saved)))
        return result

    def _context(
        self,
        ctx: Any,
        inputs: Sequence[Any],
        same: dict[int, Any],
        outputs: list[Var],
        saved: list[tuple[Any, ...]],
    ) -> Any:
        """Return a context with traced tensors in place of arrays that depend on the inputs."""

        def traced(x: Any, path: tuple[Any, ...]) -> Any:
            array = getattr(x, "_array", x)
            if isinstance(array, np.ndarray):
                for known in (id(x), id(array)):
                    if known in same:
                        return x if same[known] is None else same[known]
                outputs.append(Var(array.shape, array.dtype))
                saved.append(path)
                made = TracedTensor(self, outputs[-1])
                same[id(array)] = made if ctx.during is None else engine.made_in_forward(made, wanted, ctx.during)
                return same[id(array)]
            if type(x) in (tuple, list):
                return type(x)([traced(each, (*path, n)) for n, each in enumerate(x)])
            return x

        twin, wanted = ctx._with(ctx.saved_values), [x for x in inputs if getattr(x, "requires_grad", False)]
        fixed = ("inputs", "values", "options", "output", "result", "constants", "during")
        for name, value in list(twin.__dict__.items()):
            if name not in fixed:
                twin.__dict__[name] = traced(value, (name,))
        twin.__dict__.update(tensors=True, result=None)
        return twin

    @staticmethod
    def _on_zeros(
        function: type[Function], inputs: Sequence[Any], options: dict[str, Any], make: Callable[..., Any] = np.zeros
    ) -> Tensor:
        """Run a function on zeros of the inputs' shapes; one element is enough where all are treated alike."""
        if function is Draw:  # an empty draw takes nothing from the stream
            kind = np.asarray(options["numbers"]((0, *options["shape"]))).dtype
            return Tensor(np.zeros(options["shape"], kind))
        one = issubclass(function, Elementwise)
        zeros = []
        for x in inputs:
            if isinstance(x, Tensor):
                zero = Tensor(make((1,) * x.ndim if one else x.shape, x.dtype))
                zero._requires_grad = x.requires_grad
                zeros.append(zero)
            else:
                zeros.append(x)
        here, trace = abstract_mode.running, abstract_mode.running.trace
        here.trace = None  # a rule of the user's may take tensors from outside: this run is for shapes alone
        try:
            with guarded.ieee(), backends.without_compiler():
                return Tensor._apply(function, zeros, **options)
        finally:
            here.trace = trace

    def operand(self, x: Any) -> Any:
        """Return what stands in an equation for a tensor or a number."""
        if not isinstance(x, Tensor):
            return x
        if isinstance(x, TracedTensor):
            if x._trace.is_running and x._trace.depth < self.depth:
                return self._captured(x)
            if x._trace is not self or not self.is_running:
                raise refuse(LEFT)
            return x._var
        if isinstance(x, BatchedTensor):
            raise refuse("a captured tensor must belong to no vmap from outside; pass it as an argument")
        if x.device != self.device:
            raise refuse(
                f"a captured tensor is on the device {x.device!r}, and the arguments are on {self.device!r}; move it "
                f"with .to({self.device!r})"
            )
        if self.is_outside(x):
            if self.depth:
                return self._captured(x)
            x = self._owner(x)
            return self.outside.setdefault(id(x), (Var(x.shape, x.dtype), x))[0]
        known = self._constants.get(id(x))
        if known is None or known.has_changed():
            self._older += [known] if known else []
            known = self._constants[id(x)] = Constant(x)
        return known.var

    def _captured(self, x: Tensor) -> Var:
        return self.captured.setdefault(id(x), (Var(x.shape, x.dtype), x))[0]

    def constants(self) -> list[Constant]:
        """Return the tensors that the function made, and that depend on none from outside."""
        return [*self._older, *self._constants.values()]

    def emit_several(
        self, function: type[Several], inputs: Sequence[Any], options: dict[str, Any], results: Sequence[Var]
    ) -> list[Tensor]:
        """Add an equation with several results, of types that are known."""
        outputs = tuple(Var(v.shape, v.dtype) for v in results)
        self.equations.append(Equation(function, tuple(map(self.operand, inputs)), options, outputs))
        return [TracedTensor(self, v) for v in outputs]

    def draw(self, numbers: Callable[[Any], Any], shape: tuple[int, ...]) -> Tensor:
        """Add an equation that draws random numbers."""
        return self.emit(Draw, (), {"numbers": numbers, "shape": tuple(shape)})


def of_other_numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array of numbers that differ from zeros and from each other.

    >>> from minigrad.graph.tracing import of_other_numbers
    >>> of_other_numbers((2, 2), minigrad.float64)
    array([[0.5, 1.5],
           [2.5, 3.5]])
    """
    size = int(np.prod(shape))
    return (np.arange(size).reshape(shape) + 0.5).astype(dtype) if dtype.kind == "f" else np.zeros(shape, dtype)


def _check_numbers(function: type[Function], first: Tensor, run: Callable[[], Tensor]) -> None:
    """Refuse a function of the user's that keeps a number for its gradient which depends on elements.

    A trace runs its forward on zeros. So what it keeps may be arrays, which a graph keeps too, but no such number.
    """
    if first._ctx is None:
        return
    try:
        second = run()
    except Exception:  # of numbers that the function does not take
        return
    kept, other = _plain(first._ctx), _plain(second._ctx)
    changed = next((name for name in kept if kept[name] != other.get(name)), "")
    if changed:
        raise refuse(
            f"forward of {function.__name__} keeps ctx.{changed}, a number that depends on its inputs' elements, which "
            "are unknown until the graph runs; keep a tensor in its place"
        )


def _plain(ctx: Any) -> dict[str, Any]:
    """Return what a context holds beside arrays, comparable."""
    return {
        name: frozen(_without_arrays(value), {})
        for name, value in ctx.__dict__.items()
        if name not in ("inputs", "values", "options", "output", "result")
    }


def _without_arrays(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return tuple(map(_without_arrays, x))
    return x if isinstance(x, bool | int | float | str | None) else type(x).__name__


def _shape_of_all(function: type[Function], inputs: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape to which inputs broadcast."""
    try:
        return np.broadcast_shapes(*[getattr(x, "shape", ()) for x in inputs])
    except ValueError:
        _check_shapes(function, inputs)
        raise


class Constant:
    """A tensor that the function made while it was traced, as it was when it was used.

    Attributes:
        tensor: The tensor.
        var: The value that stands for it.
        array: Its elements then.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.var = Var(tensor.shape, tensor.dtype)
        self.array = arrays.to_host(tensor._array.copy())
        self.tensor, self._memory, self._tick = tensor, tensor._array, next(changes.ticks)

    def has_changed(self) -> bool:
        """Return whether the tensor was changed in place since then, so that the next use is of another value."""
        owner = changes.owner_of(self._memory)
        return self.tensor._array is not self._memory or changes.modified.get(id(owner), 0) > self._tick


def _tensors_in(options: Any) -> list[Any]:
    if isinstance(options, Tensor):
        return [options]
    below = options.values() if isinstance(options, dict) else options if isinstance(options, tuple | list) else ()
    return [x for each in below for x in _tensors_in(each)]


def _arrays_in(options: Any) -> list[Any]:
    if isinstance(options, np.ndarray):
        return [options]
    below = options.values() if isinstance(options, dict) else options if isinstance(options, tuple | list) else ()
    return [x for each in below for x in _arrays_in(each)]


def _exchanged(options: Any, new: dict[int, Any]) -> Any:
    """Return options with other values in place of their tensors."""
    if id(options) in new and isinstance(options, Tensor):
        return new[id(options)]
    if type(options) in (tuple, list):
        return type(options)([_exchanged(each, new) for each in options])
    if isinstance(options, dict):
        return {name: _exchanged(each, new) for name, each in options.items()}
    return options


def trace(fun: Callable[..., Any], *args: Any) -> Graph:
    """Run a function once, on shapes and types, and return the graph of what it computes.

    Args:
        fun: A function of trees that returns a tree with tensors in it.
        *args: Trees. Tensors and arrays in them become inputs; only their shapes and types matter. Everything else is
            given to the function as it is.

    Raises:
        TraceError: If the function asks for the value of a tensor, changes one in place or returns none. The message
            names the line.

    Source: https://docs.jax.dev/en/latest/jaxpr.html

    >>> minigrad.graph.trace(lambda p, x: (x @ p["w"]).tanh(), {"w": minigrad.zeros(3, 2)}, minigrad.zeros(4, 3))
    a: float32[3,2]
    b: float32[4,3]
    c: float32[4,2] = MatMul b a
    d: float32[4,2] = Tanh c
    return d
    """
    leaves, structure = tree_flatten(args)
    graph, run = traced(fun, leaves, structure)
    outside = tuple((v, arrays.to_host(x._array.copy())) for v, x in run.outside.values())
    return replace(graph, constants=(*outside, *graph.constants))


def traced(
    fun: Callable[..., Any], leaves: Sequence[Any], structure: PyTreeDef, device: str = "cpu"
) -> tuple[Graph, Trace]:
    """Return the graph of a function for a device, and its trace. The graph lacks what the trace has from outside."""
    run = Trace(device=device)
    return traced_in(run, fun, leaves, structure), run


def traced_in(run: Trace, fun: Callable[..., Any], leaves: Sequence[Any], structure: PyTreeDef) -> Graph:
    """Return the graph of a function that is traced now."""
    inputs = list[Var]()
    given = list[Any]()
    for x in leaves:
        if isinstance(x, Tensor | np.ndarray):
            inputs.append(Var(tuple(x.shape), x.dtype))
            x, wants = TracedTensor(run, inputs[-1]), getattr(x, "requires_grad", False)
            x._requires_grad = wants and not grad_mode.enabled  # for a function that asks, or records all the same
        given.append(x)
    here = abstract_mode.running
    before = here.draw, here.maps, here.since, here.refuse, here.trace
    here.draw, here.maps, here.since, here.refuse = run.draw, [], run.since, refuse
    here.trace = here.trace or run
    abstract_mode.depth.enter()
    try:
        returned = fun(*structure.unflatten(given))
        results, tree = tree_flatten(returned)
        is_number = not inputs and results and all(isinstance(y, Real) for y in results)  # of numbers alone
        if not any(isinstance(y, Tensor) for y in results) and not is_number:
            raise TraceError(
                f"trace: {_name_of(fun)} returns no tensor ({_shown(returned)}); return tensors or trees of them"
            )
        outputs = tuple(run.operand(y) for y in results)
        run.records = any(isinstance(y, Tensor) and y.requires_grad and not y.is_leaf for y in results)
    finally:
        abstract_mode.depth.leave()
        here.draw, here.maps, here.since, here.refuse, here.trace = before
        run.is_running = False
    constants = tuple((each.var, each.array) for each in run.constants())
    return Graph(tuple(inputs), constants, tuple(run.equations), outputs, tree)


def _name_of(fun: Any) -> str:
    return str(getattr(fun, "__name__", type(fun).__name__))


def _shown(tree: Any) -> str:
    paths = ", ".join(f"{path} is {type(x).__name__}" for path, x in leaves_by_path(tree, "result")[:3])
    return paths or "the result is empty"
