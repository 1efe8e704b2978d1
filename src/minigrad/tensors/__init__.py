"""Tensor: an array that remembers how it was computed.

    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    x.grad                      # tensor([2., 4.])

A result keeps its function and inputs in slots; `history`, `grad_fn` and contexts are views made on demand. The array
has its own strides (see `tensor_data`), so that permuting, slicing and expanding copy nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from minigrad import autodiff, backends, engine, functions, tensor_data, tensor_functions
from minigrad.autodiff import History, grad_mode
from minigrad.backends import arrays, guarded
from minigrad.backward import changes, shared, steps, walk
from minigrad.backward.changes import ticks
from minigrad.engine import TensorContext, context_of
from minigrad.errors import FunctionError, GraphError
from minigrad.functions import Elementwise, Function
from minigrad.layout import type_name
from minigrad.machine import overrides
from minigrad.machine.missing import missing, refused
from minigrad.tensor_data import TensorData
from minigrad.tensor_functions import quick_forms
from minigrad.tensors import abstract_mode, random
from minigrad.tensors.grad_fn import GradFn
from minigrad.tensors.inplace import InPlace, refuse_from_outside
from minigrad.tensors.methods import Methods
from minigrad.tensors.printing import printed
from minigrad.tensors.types import number_in, python_number

__all__ = ["Tensor", "function_of", "need_tensors"]

NUMBERS = frozenset((float, int, bool))
_CONVERT = "make a tensor of it with minigrad.tensor(...)"
abstract_depth = abstract_mode.depth


class Tensor(Methods, InPlace):
    """A multi-dimensional array with gradients.

    `minigrad.tensor`, `minigrad.zeros` and their kin make tensors. The constructor wraps an array as it is.

    Args:
        array: A NumPy array (strides >= 0) or a `DeviceArray`. It is not copied.
        requires_grad: Whether this is a leaf that `backward` gives a gradient.

    >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("__weakref__", "_array", "_ctx", "_extra", "_fn", "_grad", "_inputs", "_requires_grad", "_tick")

    _array: Any
    _fn: Any
    _inputs: Any  # a tuple of tensors and numbers; None once the graph is freed
    _ctx: Any  # None for an elementwise result, whose inputs and output are all that can be saved
    _grad: Tensor | None
    _extra: dict[str, Any] | None  # what few tensors have: a name, hooks
    _tick: int  # the clock's reading when it was made: see `minigrad.backward.changes`
    _requires_grad: bool
    abstract: ClassVar[bool] = False  # True where nobody can look at the elements: under vmap, in a trace

    def __init__(self, array: Any, requires_grad: bool = False) -> None:
        if array.__class__ is not np.ndarray:
            array = _wrapped(array, requires_grad)
        self._array = array
        self._fn = self._ctx = self._grad = self._extra = None
        self._inputs = ()
        self._tick = next(ticks)
        self._requires_grad = False
        if requires_grad:
            self.requires_grad_()

    # --- making tensors from arrays -------------------------------------------------------------------------

    @staticmethod
    def _of_array(array: Any) -> Tensor:
        """Wrap an array as a constant."""
        return Tensor(array)

    def from_host(self, array: Any) -> Tensor:
        """Wrap a NumPy array as a constant on this tensor's device."""
        return Tensor(array if arrays.on_host(self._array) else backends.cuda().from_host(array))

    def _new(self, data: TensorData) -> Tensor:
        """Wrap a `TensorData` as a constant on this tensor's device."""
        return Tensor(data.array if arrays.on_host(self._array) else backends.cuda().from_data(data))

    @property
    def _tensor(self) -> TensorData:
        """The storage, shape, strides and offset, by MiniTorch's name."""
        array = self._array
        return TensorData.of(array) if isinstance(array, np.ndarray) else array.data

    # --- applying functions ---------------------------------------------------------------------------------

    @classmethod
    def _apply(cls, function: type[Function], inputs: Sequence[Any], **options: Any) -> Tensor:
        """Compute a function of tensors and numbers, and record it if a tensor among them wants gradients."""
        if abstract_depth and (other := abstract_mode.answering((*inputs, *_parts(options)))) is not None:
            return cast(Tensor, other._apply(function, inputs, **options))
        values = [x._array if isinstance(x, Tensor) else x for x in inputs]
        quick = quick_forms.get(function)
        if quick is not None and values[0].__class__ is np.ndarray and backends.here.choice.quick:
            function = quick
        elif not function.raw:
            if issubclass(function, Elementwise):
                return _elementwise(function, inputs)
            return _apply_to_tensors(function, inputs, options)
        ctx = TensorContext(inputs, values, options)
        token = _silence()
        try:
            array = function.forward(ctx, *values, **options)
        finally:
            _speak(token)
        if array.__class__ is np.ndarray and not arrays.on_host(*values) and function is not tensor_functions.ToDevice:
            array = arrays.to_device(array, "cuda")  # it was computed by NumPy, for want of a kernel
        return recorded(function, inputs, ctx, array)

    # --- the Variable protocol ------------------------------------------------------------------------------

    unique_id = property(id, doc="A number that no other living object has.")

    @property
    def name(self) -> str:
        """The name given by the user, or the unique id."""
        return (self._extra or {}).get("name") or str(self.unique_id)

    @name.setter
    def name(self, name: str) -> None:
        self._further()["name"] = name

    @property
    def history(self) -> History | None:
        """How this tensor was made: empty for a leaf, None for a constant."""
        if not self.requires_grad:
            return None
        if self._fn is None:
            return History()
        return History(self._fn, context_of(self), self.parents)

    @property
    def parents(self) -> tuple[Tensor, ...]:
        """The inputs of the function that made this tensor, constants included, or none for a leaf.

        >>> x = minigrad.tensor([1.0], requires_grad=True)
        >>> (x * 3.0).parents[0] is x
        True
        """
        if self._inputs is None:
            raise shared.freed(self)
        return tuple([x if isinstance(x, Tensor) else _constant(x, self) for x in self._inputs])

    def is_constant(self) -> bool:
        """Return whether no gradient is wanted here, or beyond.

        >>> minigrad.tensor([1.0]).is_constant(), minigrad.tensor([1.0], requires_grad=True).is_constant()
        (True, False)
        """
        return not self.requires_grad

    def chain_rule(self, d_output: Any) -> Iterable[tuple[Tensor, Tensor]]:
        """Return each input that is not constant, with its gradient in the input's shape and type."""
        if self._extra is not None:
            d_output = shared.notice(self, d_output)
        if changes.last_change >= self._tick:
            steps.usable(self, context_of(self).saved_values)
        pairs = autodiff.chain_rule(self, d_output)
        return [(x, shared.own_gradient(x, d)) for x, d in cast(Any, pairs)]

    def accumulate_derivative(self, x: Any) -> None:
        """Add x to the gradient of this leaf."""
        if not self.requires_grad or self._fn is not None:
            raise GraphError("accumulate_derivative: only a leaf stores a gradient, not a constant or a result")
        x = shared.fit_tensor(self, x)
        if self._extra is not None:
            x = shared.notice(self, x)
        engine.accumulate_grad(self, x)

    # --- gradients ------------------------------------------------------------------------------------------

    @property
    def is_leaf(self) -> Any:
        """True if this tensor was not computed from one that requires gradients. Callable, as in MiniTorch.

        >>> x = minigrad.tensor([1.0], requires_grad=True)
        >>> bool(x.is_leaf), bool((x * 2).is_leaf)
        (True, False)
        """
        return _Answer(self._fn is None)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up here, or None.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad
        tensor([6.])
        """
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"grad: a gradient is a Tensor or None, not {type(value).__name__}")
        if value is not None and value.shape != self.shape:
            raise ValueError(f"grad: a gradient of shape {value.shape} for a tensor of shape {self.shape}")
        self._grad = value

    derivative = grad  # MiniTorch's name

    @property
    def grad_fn(self) -> GradFn | None:
        """The backward step of the function that made this tensor, or None for leaves and constants.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> x.grad_fn is None, (x * x).grad_fn.name()
        (True, 'MulBackward0')
        """
        return None if self._fn is None else GradFn(self)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradient of this tensor to the ``grad`` of every leaf that it depends on.

        Args:
            gradient: The gradient to start from, in this tensor's shape. It may be omitted for a single element.
            retain_graph: True keeps the graph for another pass; by default as create_graph.
            create_graph: True records the pass itself, so that the gradients can be differentiated again.
            inputs: The tensors, leaves or results on the way, that alone are given a gradient; None for all leaves.

        Raises:
            GraphError: If nothing here requires gradients, the graph was freed, or a value that a rule needs was
                changed in place.
            ValueError: If gradient is missing or has another shape.

        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).backward(minigrad.tensor([1.0, 10.0]))
        >>> x.grad
        tensor([ 2., 40.])
        """
        start = self._start(gradient, "backward")
        keep = create_graph if retain_graph is None else retain_graph
        walk.accumulate([(self, start)], inputs, keep, create_graph)

    def _start(self, gradient: Any, operation: str) -> Tensor:
        """Return the gradient to start from, checked."""
        if not self.requires_grad:
            raise GraphError(
                f"{operation}: this tensor depends on none that requires gradients (it is a constant, or was computed "
                "under no_grad)"
            )
        if gradient is None:
            if self.numel() != 1:
                raise ValueError(
                    f"{operation}: a tensor of shape {self.shape} has no single gradient; give one of that shape, or "
                    "reduce it first, for example with sum()"
                )
            array = self._array
            one = _ones.get(array.dtype) if array.__class__ is np.ndarray and not array.ndim else None
            return Tensor(arrays.full(array.shape, 1.0, array.dtype, array) if one is None else one)
        gradient = gradient if isinstance(gradient, Tensor) else self.from_host(np.asarray(gradient, self._array.dtype))
        if gradient._array.shape != self._array.shape:
            raise ValueError(
                f"{operation}: a gradient of shape {gradient.shape} for a tensor of shape {self.shape}; they must be "
                "the same"
            )
        return cast(Tensor, gradient)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this leaf want gradients, or not, and return it.

        >>> minigrad.zeros(2).requires_grad_()
        tensor([0., 0.], requires_grad=True)
        """
        if self._fn is not None and not requires_grad:
            raise _not_a_leaf()
        if requires_grad and self._array.dtype.kind != "f":
            raise TypeError(
                f"requires_grad: a tensor of {self._array.dtype} has no derivative; only floating-point tensors can "
                "require gradients: convert it first with .float() or .double()"
            )
        self._requires_grad = bool(requires_grad)
        return self

    def _assign_requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"requires_grad: assign True or False, not {value!r}")
        if self._fn is not None:
            raise _not_a_leaf()
        self.requires_grad_(value)

    # read by a getter in C: it takes half as long as a method, and the engine reads the slot
    requires_grad = property(attrgetter("_requires_grad"), _assign_requires_grad, doc="Whether gradients are wanted.")

    def retain_grad(self) -> None:
        """Keep the gradient of this result too, in ``grad``, when backward passes by.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> (y * y).backward()
        >>> y.grad
        tensor([12.])
        """
        if not self.requires_grad:
            raise GraphError("retain_grad: this tensor does not require gradients")
        self._further()["retain_grad"] = True

    @property
    def retains_grad(self) -> bool:
        """True after `retain_grad` was called on this result."""
        return self._fn is not None and bool((self._extra or {}).get("retain_grad"))

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call a function with the gradient of this tensor when a backward pass has it complete.

        Args:
            hook: May return another gradient, which takes its place.

        Returns:
            A handle with ``remove()``.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> handle = x.register_hook(lambda gradient: gradient * 10)
        >>> (x * x).backward()
        >>> x.grad
        tensor([60.])
        """
        if not self.requires_grad:
            raise GraphError("register_hook: this tensor does not require gradients")
        hooks = self._further().setdefault("hooks", {})
        key = next(ticks)
        hooks[key] = hook
        return _Handle(hooks, key)

    def _further(self) -> dict[str, Any]:
        """Return the dictionary of rare attributes: a name, hooks."""
        if self._extra is None:
            self._extra = {}
        return self._extra

    def detach(self) -> Tensor:
        """Return a constant that shares this tensor's memory, cut off the graph.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> (x * x).detach()
        tensor([9.])
        """
        # A view of its own, so that a rule which saves this array is not taken to have saved the other tensor's.
        twin, trace = Tensor(self._array[...]), abstract_mode.running.trace
        if trace is not None:
            trace.note_shared(twin, self)
        return twin

    @property
    def data(self) -> Tensor:
        """The same as `detach`. Assigning a tensor replaces the values without recording.

        >>> x = minigrad.tensor([3.0], requires_grad=True)
        >>> x.data
        tensor([3.])
        """
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.shape != self.shape:
            raise ValueError(f"data: needs a tensor of shape {self.shape}")
        refuse_from_outside(self, "data")
        if value.dtype != self.dtype:
            self._array = arrays.cast_to(abstract_mode.memory(value), self._array.dtype)
            return
        self._array = value._array
        if abstract_mode.running.trace is not None:
            abstract_mode.running.trace.note_shared(self, value)

    # --- operators ------------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # these eight are made below, of `ARITHMETIC`

        def __add__(self, other: Tensor | float) -> Tensor: ...
        def __radd__(self, other: Tensor | float) -> Tensor: ...
        def __sub__(self, other: Tensor | float) -> Tensor: ...
        def __rsub__(self, other: Tensor | float) -> Tensor: ...
        def __mul__(self, other: Tensor | float) -> Tensor: ...
        def __rmul__(self, other: Tensor | float) -> Tensor: ...
        def __truediv__(self, other: Tensor | float) -> Tensor: ...
        def __rtruediv__(self, other: Tensor | float) -> Tensor: ...

    def __pow__(self, other: Tensor | float) -> Tensor:
        if other.__class__ in NUMBERS and other == 2 and (other.__class__ is int or self._array.dtype.kind == "f"):
            return _elementwise(functions.Square, (self,))
        return _operate(functions.Pow, self, other)

    def __rpow__(self, other: Tensor | float) -> Tensor:
        return _operate(functions.Pow, other, self)

    def __neg__(self) -> Tensor:
        return _elementwise(functions.Neg, (self,))

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return _elementwise(functions.Abs, (self,))

    def __matmul__(self, other: object) -> Tensor:
        if isinstance(other, Tensor):
            return self.matmul(other)
        if _is_array(other):
            raise TypeError(f"matmul: the other factor must be a Tensor, not {type_name(other)}; {_CONVERT}")
        return cast(Tensor, NotImplemented)

    def __rmatmul__(self, other: object) -> Tensor:
        return self.__matmul__(other)  # which refuses arrays; a tensor on the left has answered itself

    def __lt__(self, other: Tensor | float) -> Tensor:
        return _operate(functions.LT, self, other)

    def __gt__(self, other: Tensor | float) -> Tensor:
        return _operate(functions.GT, self, other)

    def __le__(self, other: Tensor | float) -> Tensor:
        return _operate(functions.LE, self, other)

    def __ge__(self, other: Tensor | float) -> Tensor:
        return _operate(functions.GE, self, other)

    def __eq__(self, other: object) -> Tensor:
        return _operate(functions.EQ, self, other)

    def __ne__(self, other: object) -> Tensor:
        return _operate(functions.NE, self, other)

    def __invert__(self) -> Tensor:
        if abstract_depth and (other := abstract_mode.answering((self,))) is not None:
            return cast(Tensor, other._call("__invert__", self))
        if self._array.dtype.kind == "f":
            raise TypeError("~: only tensors of booleans or integers can be inverted")
        return self.from_host(~abstract_mode.elements(self))

    def __and__(self, other: object) -> Tensor:
        return self._logical("&", np.bitwise_and, other)

    def __or__(self, other: object) -> Tensor:
        return self._logical("|", np.bitwise_or, other)

    def __xor__(self, other: object) -> Tensor:
        return self._logical("^", np.bitwise_xor, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __lshift__(self, other: object) -> Tensor:
        raise TypeError("<<: tensors cannot be shifted; use x * 2**n")

    def __rshift__(self, other: object) -> Tensor:
        raise TypeError(">>: tensors cannot be shifted; use x // 2**n")

    __rlshift__, __rrshift__ = __lshift__, __rshift__

    def _logical(self, sign: str, form: Any, other: Any) -> Tensor:
        if abstract_depth and (answering := abstract_mode.answering((self, other))) is not None:
            return cast(Tensor, answering._call("_logical", self, sign=sign, form=form, other=other))
        value = abstract_mode.elements(other) if isinstance(other, Tensor) else other
        if not isinstance(value, int | float | np.generic | np.ndarray):
            return cast(Tensor, NotImplemented)
        own, kind = self._array.dtype.kind, "i" if isinstance(value, int) else np.asarray(value).dtype.kind
        if "f" in (own, kind):
            raise TypeError(f"{sign}: only tensors of booleans or integers can be combined")
        if own == "i" and isinstance(value, int):
            value = number_in(sign, value, self._array.dtype)
        return self.from_host(form(abstract_mode.elements(self), value))

    __hash__ = object.__hash__  # two tensors of the same values are two tensors

    # --- as a Python object ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len: a tensor without axes has no length")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("iteration: a tensor without axes has no elements to go through; use item()")
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is ambiguous; use .any() or .all(), or compare numbers"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub":
            raise TypeError(f"index: a tensor of {self._array.dtype} is no index; convert it with .long()")
        return int(self.item())

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.requires_grad:
            raise GraphError(
                "numpy: this tensor requires gradients, which an array would lose without a word; use detach() first"
            )
        return np.array(abstract_mode.elements(self), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Tensor:
        """Answer NumPy: its numbers take part in operators, its arrays and functions are refused in words."""
        names = _UFUNCS.get(ufunc.__name__)
        if names and method == "__call__" and not options:
            left, right = map(python_number, inputs)
            on_the_left = isinstance(left, Tensor)
            answer = getattr(left, names[0])(right) if on_the_left else getattr(right, names[1])(left)
            if answer is not NotImplemented:
                return cast(Tensor, answer)
        raise TypeError(
            f"numpy.{ufunc.__name__}: functions of NumPy take no Tensor; use those of minigrad, or give them "
            "tensor.detach().numpy()"
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Answer functions of NumPy: they get an array, but where they would call a method with NumPy's arguments."""
        try:
            return func._implementation(*args, **kwargs)
        except TypeError as error:
            if "unexpected keyword argument" not in str(error):
                raise
        raise TypeError(
            f"numpy.{func.__name__}: functions of NumPy take no Tensor; use those of minigrad, or give them "
            "tensor.detach().numpy()"
        )

    def __dlpack__(self, **options: Any) -> Any:
        if self.requires_grad:
            raise GraphError("dlpack: a tensor that requires gradients cannot be shared; use detach() first")
        return abstract_mode.elements(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast("tuple[int, int]", arrays.to_host(self._array).__dlpack_device__())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self), abstract_mode.elements(self), self.requires_grad, self.device)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._fn is not None:
            raise GraphError("deepcopy: only leaves can be copied with their gradients' state; use detach().clone()")
        twin = type(self)(arrays.contiguous(abstract_mode.memory(self)), self.requires_grad)
        twin._grad = None if self._grad is None else self._grad.clone()
        memo[id(self)] = twin
        return twin

    if not TYPE_CHECKING:  # names that are not there are errors of mypy's

        def __getattr__(self, name: str) -> Any:
            raise missing("minigrad.Tensor", name, self)

    def __repr__(self) -> str:
        return printed(self)

    def __format__(self, spec: str) -> str:
        if not self._array.ndim and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)


def _rebuilt(kind: type[Tensor], array: Any, requires_grad: bool, device: str) -> Tensor:
    return kind(array if device == "cpu" else backends.cuda().from_host(array), requires_grad)


class _Answer(int):
    """True or False, which can also be called: `is_leaf` in PyTorch, `is_leaf()` in MiniTorch."""

    __call__ = int.__bool__

    def __repr__(self) -> str:
        return repr(bool(self))


class _Handle:
    """The result of `register_hook`."""

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Call the hook no more."""
        self._hooks.pop(self._key, None)


def _not_a_leaf() -> GraphError:
    return GraphError("requires_grad_: only a leaf can be changed; use detach() to cut a result off its graph")


def _constant(value: Any, like: Tensor) -> Tensor:
    return Tensor(arrays.full((), value, np.dtype(type(value)), like._array))


# --- how functions are applied ------------------------------------------------------------------------------

_new = Tensor.__new__
_silence, _speak = guarded.silence, guarded.speak  # written out where a call more for each operation would show


def recorded(function: Any, inputs: Sequence[Any], ctx: Any, array: Any) -> Tensor:
    """Wrap a result, and record it if an input wants gradients."""
    if array.__class__ is not np.ndarray and not hasattr(array, "to_host"):
        array = np.asarray(array)  # a number of NumPy's
    result = _new(Tensor)
    result._array = array
    result._grad = result._extra = None
    result._tick = next(ticks)
    if grad_mode.enabled and function.differentiable and array.dtype.kind == "f":
        for x in inputs:
            if isinstance(x, Tensor) and x._requires_grad:
                result._requires_grad = True
                result._fn, result._inputs, result._ctx = function, tuple(inputs), ctx
                return result
    result._requires_grad, result._fn, result._inputs, result._ctx = False, None, (), None
    is_view = ctx is not None and function in tensor_functions.WRITE_BACK and not inputs[0]._requires_grad
    if is_view and changes.owner_of(array) is changes.owner_of(inputs[0]._array):
        changes.note_view(result, inputs[0], function, ctx.options)
    return result


def _parts(options: dict[str, Any]) -> Iterable[Any]:
    """Return the options of a function and the parts of those that are tuples: an index may be an abstract tensor."""
    return (part for x in options.values() for part in (x if isinstance(x, tuple) else (x,)))


_without_recording = autodiff.no_grad()


def _apply_to_tensors(function: type[Function], inputs: Sequence[Any], options: dict[str, Any]) -> Tensor:
    """Run a function whose forward takes and returns tensors."""
    ctx = TensorContext(inputs, [getattr(x, "_array", x) for x in inputs], options)
    begun = next(ticks)
    with _without_recording:
        try:
            output = function.forward(ctx, *inputs, **options)
        except TypeError:
            functions._check_arity(function, len(inputs), options)
            raise
    if not isinstance(output, Tensor):
        raise FunctionError(f"{function.__name__}.forward returned {type(output).__name__}; it must return a Tensor")
    if id(output) in map(id, ctx.constants):
        return Tensor(output._array)
    result = recorded(function, inputs, ctx, output._array)
    ctx.during = engine.During(function.__name__, begun, result._tick)
    if id(output) in map(id, ctx.saved_values):
        ctx.result = output._array
        ctx.saved_values = tuple([output._array if saved is output else saved for saved in ctx.saved_values])
    return result


def _elementwise(function: type[Elementwise], inputs: Sequence[Any]) -> Tensor:
    """Compute an elementwise function of tensors and numbers."""
    if abstract_depth and (other := abstract_mode.answering(inputs)) is not None:
        return cast(Tensor, other._apply(function, inputs))
    values = [x._array if isinstance(x, Tensor) else x for x in inputs]
    _check_operands(function, inputs, values)
    token = _silence()
    try:
        array = arrays.elementwise(function.kernel, *values)
    except TypeError:
        _refuse_minus(function, values)
        raise
    except ValueError:
        _check_shapes(function, values)
        raise
    except OverflowError:
        _refuse_outside(function, values)
        raise
    finally:
        _speak(token)
    return recorded(function, inputs, None, array)


def _check_operands(function: type[Function], inputs: Sequence[Any], values: Sequence[Any]) -> None:
    for x in inputs:
        if not (isinstance(x, Tensor) or x.__class__ in NUMBERS or isinstance(x, Real)):
            raise TypeError(f"{function.__name__}: an operand is a tensor or a number, not {type_name(x)}; {_CONVERT}")
    if not arrays.on_host(*values):
        _check_devices(function, inputs)


def _is_array(value: Any) -> bool:
    """Return whether a value is NumPy's, or an array of another library, which is not asked for its opinion."""
    return isinstance(value, np.ndarray | np.bool_) or (hasattr(value, "__dlpack__") and not isinstance(value, Tensor))


def _wrapped(array: Any, requires_grad: Any) -> Any:
    """Return the array that the constructor of tensors wraps, also for one of NumPy's numbers.

    Raises:
        TypeError: If it is anything else.
    """
    if isinstance(array, np.ndarray) or hasattr(array, "to_host"):
        return array
    if isinstance(array, np.generic):
        return np.asarray(array)
    sizes = f"{array}, {requires_grad}" if isinstance(requires_grad, int) and requires_grad > 1 else f"{array}"
    of_sizes = f", and minigrad.empty({sizes}) one of that shape" if isinstance(array, int) else ""
    raise TypeError(
        f"Tensor: wraps an array as it is, not {type_name(array)}; minigrad.tensor(data) makes a tensor of numbers or "
        f"lists{of_sizes}"
    )


def _check_devices(function: type[Function], inputs: Sequence[Any]) -> None:
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    if len({x.device for x in tensors}) > 1:
        where = " and ".join(f"{x.shape} on {x.device!r}" for x in tensors)
        raise ValueError(f"{function.__name__}: operands are on different devices ({where}); move one with .to(device)")


def _check_shapes(function: type[Function], values: Sequence[Any]) -> None:
    """Raise a sentence that names the axis if shapes do not broadcast."""
    shape: Sequence[int] = ()
    for value in values:
        shape = tensor_data.shape_broadcast(shape, getattr(value, "shape", ()))


def _refuse_minus(function: type[Function], values: Sequence[Any]) -> None:
    """Say which operation booleans have in place of minus, which NumPy refuses too."""
    if all(getattr(x, "dtype", np.dtype(type(x))).kind == "b" for x in values):
        instead = "~ or logical_not()" if len(values) == 1 else "^ or logical_xor()"
        raise TypeError(f"{function.__name__}: booleans have no minus; use {instead}, or convert them with .long()")


def _refuse_outside(function: type[Function], values: Sequence[Any]) -> None:
    """Name the Python number that the type in which an operation computes does not hold."""
    numbers = [x for x in values if not hasattr(x, "dtype")]
    for x in numbers:
        number_in(function.__name__, x, arrays.promote(values))


_UFUNCS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "power": ("__pow__", "__rpow__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
}
"""NumPy's operators by their names there, and the methods that answer with a tensor on the left and on the right."""


def need_tensors(operation: str, *values: Any) -> None:
    """Refuse an object that is no tensor.

    Raises:
        TypeError: If a value is anything else.
    """
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{operation}: needs a Tensor, not {type_name(value)}; {_CONVERT}")


_OF_NUMBERS: dict[str, Callable[[Tensor, Any], Tensor]] = {"pow": Tensor.__rpow__, "remainder": Tensor.__rmod__}
"""The functions whose first argument may be a number, and the second a tensor."""


def function_of(name: str) -> Callable[..., Any]:
    """Return a method as a function: ``exp(x)`` for ``x.exp()``.

    >>> from minigrad.tensors import function_of
    >>> function_of("exp")(minigrad.tensor([0.0]))
    tensor([1.])
    """

    @functools.wraps(getattr(Tensor, name))
    def function(input: Tensor, *args: Any, **options: Any) -> Any:
        if not isinstance(input, Tensor):
            if name in _OF_NUMBERS and args and isinstance(args[0], Tensor):
                return _OF_NUMBERS[name](args[0], input)
            raise TypeError(f"{name}: needs a Tensor, not {type_name(input)}; {_CONVERT}")
        try:
            return getattr(input, name)(*args, **options)  # looked up late: quick twins come and go
        except TypeError as error:
            if not options or cast(Any, error).__traceback__.tb_next is not None:  # it was raised further in
                raise
            raise refused(f"minigrad.{name}", error) from None

    return function


random.tensor_class = Tensor

_ones = {dtype: np.ones((), dtype) for dtype in arrays.FLOATS}
for _one in _ones.values():
    _one.flags.writeable = False


def _operate(function: type[Elementwise], *inputs: Any) -> Tensor:
    """Apply a function for an operator. Python turns NotImplemented into its TypeError for unsupported operands."""
    others = [x for x in inputs if not isinstance(x, Tensor)]
    if others and others[0].__class__ not in NUMBERS:
        if not any(map(_is_array, others)) and not all(isinstance(x, Real) for x in others):
            return cast(Tensor, NotImplemented)
        inputs = tuple(map(python_number, inputs))
        _check_operands(function, inputs, ())
    return _elementwise(function, inputs)


def _operator(function: type[Elementwise], reverse: bool) -> Callable[[Tensor, Any], Tensor]:
    def method(self: Tensor, other: Any) -> Tensor:
        return _operate(function, other, self) if reverse else _operate(function, self, other)

    return method


ARITHMETIC = {"add": functions.Add, "sub": functions.Sub, "mul": functions.Mul, "truediv": functions.Div}
for _name, _function in ARITHMETIC.items():
    setattr(Tensor, f"__{_name}__", _operator(_function, False))
    setattr(Tensor, f"__r{_name}__", _operator(_function, True))

overrides.load_quick("softmax", "tensor_functions", "tensors")
