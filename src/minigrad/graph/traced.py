"""Traced tensors: what `trace` hands to a function. Each stands for a value that the graph will compute.

A traced tensor knows shape and dtype, and has no elements. An operation on it becomes an equation. Gradients are
recorded as for other tensors: so a backward pass inside the function is traced too.
"""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import layout, tensor_functions
from minigrad.backends import arrays
from minigrad.backward.changes import ticks
from minigrad.errors import TraceError
from minigrad.functions import Function
from minigrad.tensors import Tensor, abstract_mode, shapes, types
from minigrad.tensors.devices import Device
from minigrad.tensors.inplace import InPlace
from minigrad.tensors.placing import Placing
from minigrad.tensors.shapes import axis_of
from minigrad.transforms.abstract import AbstractTensor, NoArray
from minigrad.transforms.batched import BatchedTensor

if TYPE_CHECKING:
    from minigrad.graph.program import Var
    from minigrad.graph.tracing import Trace

_HERE, _PYTHONS = str(Path(__file__).parents[1]), sysconfig.get_paths()["stdlib"]


def _is_of_a_library(path: str) -> bool:
    """Return whether a line stands in this library, or in Python's own, and not in the function that is traced."""
    return path.startswith(_HERE) or (path.startswith(_PYTHONS) and "site-packages" not in path)


def refuse(message: str) -> TraceError:
    """Return the error for something that a trace cannot do, with the line of the function that asked for it."""
    frame: Any = sys._getframe(1)
    while frame is not None and _is_of_a_library(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return TraceError(f"trace: {message}")
    path, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, number).strip()
    return TraceError(f"trace: {message} ({Path(path).name}, line {number}{': ' if text else ''}{text})")


LEFT = (
    "a traced tensor is used outside of its trace, perhaps because the function kept it in a list or an attribute; "
    "return it from the function"
)


class _Unknown(NoArray):
    """Stands where a tensor has its array, with its shape and type."""

    __slots__ = ()

    def to_host(self) -> Any:
        """Refuse: something asks for the elements."""
        if abstract_mode.running.draw is None:
            raise refuse(LEFT)
        raise refuse(
            f"an operation asks for the elements of a traced tensor of shape {self.shape}, which are unknown until the "
            "graph runs; use an operation of minigrad, or call the function without jit"
        )

    def error(self, message: str) -> Exception:
        """Return the error for something that a trace cannot do, with the line that asked for it."""
        return refuse(message)


# --- operations that are no functions of their own -------------------------------------------------------------


class _Draw(Function):
    """Random numbers from a stream. Two equations never draw the same ones."""

    raw = True
    differentiable = False

    @staticmethod
    def forward(ctx: Any, numbers: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
        """Draw the numbers of one run."""
        return np.asarray(numbers(shape))


Draw = _Draw
Draw.__name__ = "Draw"  # as graphs call it

_methods: dict[str, type[Function]] = {}


def function_of(name: str) -> type[Function]:
    """Return the function that calls a method of tensors which has no class of its own."""
    if name in _methods:
        return _methods[name]

    class Method(Function):
        differentiable = False

        @staticmethod
        def forward(ctx: Any, *inputs: Any, **options: Any) -> Any:
            return getattr(Tensor, name)(*inputs, **options)

    Method.__name__ = name.strip("_")
    return _methods.setdefault(name, Method)


def method_of(op: type[Function]) -> str:
    """Return the name of the method that a function calls; "" for any other function."""
    return next((name for name, found in _methods.items() if found is op), "")


# --- the tensors ----------------------------------------------------------------------------------------------


class TracedTensor(AbstractTensor):
    """A value of a graph that is being traced.

    Args:
        trace: Whose graph it is.
        var: The value.

    >>> minigrad.graph.trace(lambda x: print(x) or x, minigrad.zeros(2, 3))
    TracedTensor(float32[2,3])
    a: float32[2,3]
    return a
    """

    __slots__ = ("_trace", "_var")

    _trace: Trace
    _var: Var

    def __init__(self, trace: Trace, var: Var) -> None:
        self._trace, self._var = trace, var
        self._array = _Unknown(var.shape, var.dtype)
        self._fn = self._ctx = self._grad = self._extra = None
        self._inputs = ()
        self._tick = next(ticks)
        self._requires_grad = self._is_own = False

    @classmethod
    def _apply(cls, function: type[Function], inputs: Sequence[Any], **options: Any) -> Tensor:
        """Add an equation; but vmap's rule comes first, for a batched tensor may hold a traced one."""
        batched = next((x for x in inputs if isinstance(x, BatchedTensor)), None)
        if batched is not None:
            return batched._apply(function, inputs, **options)
        trace: Trace = max(_all_traced((*inputs, options)), key=lambda x: x._trace.depth)._trace
        return trace.emit(function, inputs, options)

    def _call(self, method: str, x: Any, **options: Any) -> Tensor:
        """Add an equation that calls a method."""
        return TracedTensor._apply(function_of(method), (x,), **options)

    @property
    def device(self) -> Device:
        """Where the elements will be: "cpu" or "cuda"."""
        return Device(self._trace.device)

    def from_host(self, array: Any) -> Tensor:
        """Wrap a NumPy array as a constant; what a forward rule keeps is a traced tensor already."""
        return array if isinstance(array, TracedTensor) else Tensor(arrays.to_device(array, self.device))

    def is_contiguous(self) -> bool:
        """Return True: an equation that needs rows in order makes a copy."""
        return True

    def detach(self) -> Tensor:
        """Return the same value, cut off the graph of gradients."""
        return TracedTensor(self._trace, self._var)

    def own(self, d: Tensor) -> Any:
        """Return a gradient as a value that nobody else has, also one that depends on no input of the trace."""
        trace = max(_all_traced((self, d)), key=lambda x: x._trace.depth)._trace
        own: Any = trace.emit(tensor_functions.Clone, (d,), {})
        own._is_own = True
        return own

    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        if not self._is_own:
            raise refuse(_CHANGED)
        return super().__iadd__(other)

    def to(self, *args: Any, **options: Any) -> Tensor:
        """Return the tensor with another type."""
        args, copies = types.switches_apart(args)
        given = [*args, options.get("device"), options.get("dtype")]
        named = [x for x in given if isinstance(x, str) and not hasattr(np, x)]
        if any(types._device(x) != self.device for x in (*named, *[x.device for x in args if isinstance(x, Tensor)])):
            raise refuse(f"a graph stays on the device {self.device!r}; call the function without jit to move tensors")
        kinds = [x.dtype if isinstance(x, Tensor) else x for x in given if x is not None and x not in named]
        return super().to(kinds[-1] if kinds else self.dtype, copy=bool(copies or options.get("copy")))

    def view(self, *shape: Any) -> Tensor:
        """Return the same elements with another shape."""
        sizes = layout.view_shape(self.shape, layout.sizes_of(shape, "view"))
        return cast(Tensor, tensor_functions.View.apply(self, shape=tuple(sizes)))

    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Return the same elements with another shape."""
        return self.view(*sizes) if shape is None else self.view(*sizes, shape)

    def expand(self, *sizes: Any) -> Tensor:
        """Return a view in which axes of size 1 repeat."""
        shape = layout.expand(self.shape, (0,) * self.ndim, layout.sizes_of(sizes, "expand"))[0]
        return cast(Tensor, tensor_functions.Expand.apply(self, shape=tuple(shape)))

    def __getitem__(self, key: Any) -> Tensor:
        if abstract_mode.among(key if isinstance(key, tuple) else (key,)) is not None:
            return self.taken_from(self, key)
        before, chosen = self._keys(key)
        x = self if before is None else self[before]
        return cast(Tensor, tensor_functions.Index.apply(x, key=chosen))

    @staticmethod
    def taken_from(x: Tensor, key: Any) -> Tensor:
        """Return what a key with traced tensors in it selects from a tensor."""
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(each, BatchedTensor) for each in (x, *parts)):
            return BatchedTensor.taken_from(x, key)
        if any(isinstance(each, TracedTensor) and each.dtype.kind == "b" for each in parts):
            raise refuse("the shape of x[mask] depends on the mask's values; use minigrad.where(mask, x, other)")
        places = {id(each): np.zeros(each.shape, np.int64) for each in parts if isinstance(each, TracedTensor)}
        plain = [places[id(each)] if id(each) in places else shapes._part(each, x.shape) for each in parts]
        before, chosen = shapes._selection_first([*plain, *[Ellipsis] * (Ellipsis not in map(_dots, plain))], x.ndim)
        traced = {id(places[id(each)]): each for each in parts if id(each) in places}
        x = x if before is None else x[before]
        found = tuple(traced.get(id(each), each) for each in chosen)
        return TracedTensor._apply(tensor_functions.Index, (x,), key=found)

    def scattered(self, x: Tensor, shape: Sequence[int], axis: int) -> Tensor:
        """Return zeros of a shape, with a tensor's values at the places that this index names along an axis."""
        key = tensor_functions.along(self, axis)
        return TracedTensor._apply(tensor_functions.IndexAdd, (x,), shape=tuple(shape), key=key)

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """Return the elements at given places along an axis."""
        axis_of(self, dim, "gather")
        return super().gather(dim, index)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Tensor:
        """Answer NumPy's numbers, and refuse its functions."""
        try:
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        except TypeError:
            raise refuse(_REFUSED["__array__"]) from None

    def __repr__(self) -> str:
        return f"TracedTensor({self._var.type})"


def _dots(part: Any) -> Any:
    return part if part is Ellipsis else None


def _all_traced(x: Any) -> Iterator[TracedTensor]:
    """Go through the traced tensors in nested tuples and dictionaries."""
    if isinstance(x, TracedTensor):
        yield x
    elif isinstance(x, tuple | list | dict):
        for each in x.values() if isinstance(x, dict) else x:
            yield from _all_traced(each)


_NUMBER = "asks for the value of a traced tensor, which is unknown until the graph runs; compute with the tensor itself"
_REFUSED = {
    "__bool__": "`if`, `while`, `and`, `or` and `not` cannot ask for the truth of a traced tensor; use "
    "minigrad.where(condition, a, b), minigrad.graph.cond or while_loop, or pass the value as a static argument",
    **{name: f"{name.strip('_')}() {_NUMBER}" for name in ("__float__", "__int__", "item", "tolist", "numpy")},
    "__index__": f"an index {_NUMBER}; in x[i] such a tensor may stand",
    "__array__": "NumPy's functions cannot take a traced tensor; use those of minigrad",
    "__dlpack__": f"dlpack {_NUMBER}",
    "__contains__": "`in` has no answer before the graph runs; use (x == value).any()",
    "allclose": "allclose() has no answer before the graph runs; use ((x - y).abs() <= tolerance).all()",
    "equal": "equal() has no answer before the graph runs; use (x == y).all()",
    "backward": "backward() changes leaves; use minigrad.transforms.grad inside the function",
    "requires_grad_": "a traced tensor cannot be made a leaf; use minigrad.transforms.grad inside the function",
}
_IN_PLACE = (name for kind in (InPlace, Placing) for name in vars(kind) if name.endswith("_") and name[0] != "_")
for _name in (*_IN_PLACE, "__setitem__"):
    _REFUSED[_name] = f"{_name} changes a traced tensor in place; use the operation that makes a new tensor"
_CHANGED = "`+=` and its kin change a traced tensor in place; write x = x + y"
_REFUSED |= dict.fromkeys((name for name in vars(InPlace) if name[:3] == "__i" and name != "__iadd__"), _CHANGED)


def _answer(name: str) -> property:
    """Return a property that notes that the traced function asks who wants gradients, which the library does too."""

    def answer(self: TracedTensor) -> Any:
        if abstract_mode.running.trace is not None and not _is_of_a_library(sys._getframe(1).f_code.co_filename):
            abstract_mode.running.trace.asks = True
        return getattr(super(TracedTensor, self), name)

    return property(answer, getattr(getattr(Tensor, name), "fset", None))


for _name in ("requires_grad", "is_constant", "is_leaf", "grad_fn"):
    setattr(TracedTensor, _name, _answer(_name))


def _refused(message: str) -> Callable[..., Any]:
    def method(self: TracedTensor, *args: Any, **options: Any) -> Any:
        raise refuse(message)

    return method


for _name, _message in _REFUSED.items():
    setattr(TracedTensor, _name, _refused(_message))
