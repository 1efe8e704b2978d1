"""Operations that change a tensor's values where they stand, and what differentiation cannot allow of them.

After ``x.mul_(2.0)`` the tensor x has a new history, and what was computed from the old values still belongs to the
old one: the tensor before the change lives on as a node of its own (`changes.before_change`). A rule that saved the
overwritten values refuses to run (`changes.note_change`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import autodiff, engine, functions, tensor_functions
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded
from minigrad.backward import changes
from minigrad.backward.changes import ViewOf
from minigrad.elementwise.entry import OPS, Op
from minigrad.errors import GraphError, IndexingError
from minigrad.functions import Function
from minigrad.tensors import abstract_mode
from minigrad.tensors.random import default_generator, draws_floats
from minigrad.tensors.types import need_booleans, number_in, python_number, value_in

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


_without_recording = autodiff.no_grad()


class InPlace:
    """The methods of `Tensor` that end with an underscore, and their operators.

    >>> x = minigrad.tensor([1.0, 2.0])
    >>> x += 10.0
    >>> x
    tensor([11., 12.])
    """

    __slots__ = ()

    def add_(self, other: Tensor | float, *, alpha: float = 1.0) -> Tensor:
        """Add other, times alpha.

        >>> minigrad.tensor([1.0, 2.0]).add_(10.0, alpha=0.5)
        tensor([6., 7.])
        """
        return _change(self, "add_", functions.Add, cast(Any, self)._times("add_", other, alpha))

    def sub_(self, other: Tensor | float, *, alpha: float = 1.0) -> Tensor:
        """Subtract other, times alpha.

        >>> minigrad.tensor([1.0, 2.0]).sub_(1.0)
        tensor([0., 1.])
        """
        return _change(self, "sub_", functions.Sub, cast(Any, self)._times("sub_", other, alpha))

    def mul_(self, other: Tensor | float) -> Tensor:
        """Multiply by other.

        >>> minigrad.tensor([1.0, 2.0]).mul_(3.0)
        tensor([3., 6.])
        """
        return _change(self, "mul_", functions.Mul, other)

    def div_(self, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
        """Divide by other, and round as in `div`.

        >>> minigrad.tensor([1.0, 2.0]).div_(4.0)
        tensor([0.25, 0.50])
        """
        if rounding_mode is not None:
            return self._constant("div_", cast(Any, self).detach().div(other, rounding_mode=rounding_mode))
        return _change(self, "div_", functions.Div, other)

    def floor_divide_(self, other: Tensor | float) -> Tensor:
        """Divide by other, and take the largest whole number that is not above the quotient: ``self //= other``.

        >>> minigrad.tensor([5.0, -5.0]).floor_divide_(3.0)
        tensor([ 1., -2.])
        """
        return self._constant("floor_divide_", cast(Any, self).detach().floor_divide(other))

    def remainder_(self, other: Tensor | float) -> Tensor:
        """Keep what is left after whole steps of other, with the sign of other: ``self %= other``.

        >>> minigrad.tensor([5.0, -5.0]).remainder_(3.0)
        tensor([2., 1.])
        """
        return _change(self, "remainder_", functions.Remainder, other)

    def pow_(self, exponent: Tensor | float) -> Tensor:
        """Raise to a power.

        >>> minigrad.tensor([2.0, 3.0]).pow_(2)
        tensor([4., 9.])
        """
        return _change(self, "pow_", functions.Pow, exponent)

    def floor_(self) -> Tensor:
        """Replace every element by the largest whole number that is not above it.

        >>> minigrad.tensor([-1.5, 1.5]).floor_()
        tensor([-2.,  1.])
        """
        return self.copy_(cast(Any, self).detach().floor())

    def round_(self, *, decimals: int = 0) -> Tensor:
        """Replace every element by the nearest whole number, or keep some decimals.

        >>> minigrad.tensor([0.6, 1.5]).round_()
        tensor([1., 2.])
        """
        return self.copy_(cast(Any, self).detach().round(decimals=decimals))

    def clamp_(self, min: float | None = None, max: float | None = None) -> Tensor:
        """Move every element into [min, max].

        >>> minigrad.tensor([-3.0, 0.5, 3.0]).clamp_(-1.0, 1.0)
        tensor([-1.0,  0.5,  1.0])
        """
        if cast(Any, self)._array.dtype.kind != "f" and (min is None) != (max is None):  # infinity is no integer
            return _change(self, "clamp_", *((functions.Max, min) if max is None else (functions.Min, max)))
        low, high = -np.inf if min is None else min, np.inf if max is None else max
        return _change(self, "clamp_", functions.Clip, low, high)

    def zero_(self) -> Tensor:
        """Set every element to 0.

        >>> minigrad.tensor([1.0, 2.0]).zero_()
        tensor([0., 0.])
        """
        return self.fill_(0.0)

    def fill_(self, value: Any) -> Tensor:
        """Set every element to a value.

        >>> minigrad.zeros(2).fill_(7.0)
        tensor([7., 7.])
        """
        return self._put("fill_", (...,), value)

    def copy_(self, other: Any, non_blocking: bool = False) -> Tensor:
        """Set every element to that of another tensor, which may broadcast and have another type.

        Args:
            other: The tensor, or numbers.
            non_blocking: Taken, and without effect: the copy is complete when this returns.

        >>> x = minigrad.zeros(2, 2)
        >>> x.copy_(minigrad.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
        """
        return self._put("copy_", (...,), other)

    def masked_fill_(self, mask: Any, value: Any) -> Tensor:
        """Set the elements where a mask of booleans holds.

        >>> x = minigrad.tensor([-1.0, 2.0])
        >>> x.masked_fill_(x < 0, 0.0)
        tensor([0., 2.])
        """
        need_booleans("masked_fill_", mask)
        return _change(
            self, "masked_fill_", functions.Where, value_in("masked_fill_", value, cast(Any, self).dtype), mask
        )

    def uniform_(self, low: float = 0.0, high: float = 1.0, generator: Any = None) -> Tensor:
        """Fill with random numbers, evenly from [low, high).

        >>> x = minigrad.zeros(100).uniform_(2.0, 3.0)
        >>> bool(((x >= 2) * (x <= 3)).all())
        True
        """
        draws_floats("uniform_", cast(Any, self).dtype)
        return self.copy_((generator or default_generator).uniform(low, high, cast(Any, self).shape))

    def normal_(self, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
        """Fill with random numbers from the normal distribution.

        >>> x = minigrad.zeros(1000).normal_(mean=5.0, std=2.0)
        >>> round(x.mean().item()), round(x.std().item())
        (5, 2)
        """
        draws_floats("normal_", cast(Any, self).dtype)
        return self.copy_((generator or default_generator).normal(mean, std, cast(Any, self).shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        before, chosen = cast(Any, self)._keys(key)
        changed = self if before is None else cast(Any, self)[before]
        changed._put("assignment", chosen, value)

    def _put(self, operation: str, key: Any, value: Any) -> Tensor:
        tensor = cast("Tensor", self)
        if not hasattr(value, "chain_rule"):
            value = tensor.from_host(_values(value, tensor._array.dtype, operation))
        recorded = _check(tensor, operation, (value,))
        if recorded and _view(tensor) is not None:
            twin = tensor.clone()
            return _write_through(tensor, operation, cast(Any, twin)._put(operation, key, value))
        target, values = tensor._array, abstract_mode.memory(value)
        try:
            target[key] = arrays.to_device(values, tensor.device)
        except IndexError as error:
            raise IndexingError(f"{operation}: cannot index shape {tensor.shape}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{operation} to a tensor of shape {tensor.shape}: {error}") from None
        changes.note_change(target)
        if recorded:
            _record(tensor, tensor_functions.IndexPut, (tensor, value), target, key=key)
        return tensor

    def __iadd__(self, other: Tensor | float) -> Tensor:
        return self.add_(other)

    def __isub__(self, other: Tensor | float) -> Tensor:
        return self.sub_(other)

    def __imul__(self, other: Tensor | float) -> Tensor:
        return self.mul_(other)

    def __itruediv__(self, other: Tensor | float) -> Tensor:
        return self.div_(other)

    def __ipow__(self, other: Tensor | float) -> Tensor:
        return self.pow_(other)

    def __imod__(self, other: Tensor | float) -> Tensor:
        return self.remainder_(other)

    def __ifloordiv__(self, other: Tensor | float) -> Tensor:
        return self.floor_divide_(other)

    def __iand__(self, other: Any) -> Tensor:
        return self._constant("&=", cast(Any, self) & other)

    def __ior__(self, other: Any) -> Tensor:
        return self._constant("|=", cast(Any, self) | other)

    def __ixor__(self, other: Any) -> Tensor:
        return self._constant("^=", cast(Any, self) ^ other)

    def _constant(self, operation: str, result: Any) -> Tensor:
        """Replace the values by those of an operation that has no derivative."""
        _need_fit(cast(Any, self), operation, result)
        return self._put(operation, (...,), result)


def _values(value: Any, dtype: Any, operation: str) -> Any:
    """Return a number, list or array as an array of a type."""
    number = python_number(value)
    if isinstance(number, int | float):
        return np.asarray(number_in(operation, number, dtype), dtype)
    if value is not None:
        try:
            return np.asarray(value, dtype)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{operation}: {value!r} is neither a tensor nor numbers")


def _change(tensor: Any, operation: str, function: type[Function], *others: Any) -> Tensor:
    """Replace a tensor's values by a function of them."""
    recorded = _check(tensor, operation, others)
    if recorded and _view(tensor) is not None:
        twin = tensor.clone()
        _change(twin, operation, function, *[twin if x is tensor else x for x in others])
        return _write_through(tensor, operation, twin)
    inputs = (others[1], others[0], tensor) if function is functions.Where else (tensor, *others)
    with _without_recording:
        result = function.apply(*inputs)
    _need_fit(tensor, operation, result)
    if not recorded:
        _overwrite(tensor, result._array)
        return cast("Tensor", tensor)
    position = next(i for i, x in enumerate(inputs) if x is tensor)
    keeps = position in functions.saved_pattern(cast(Any, function), len(inputs))
    before = arrays.contiguous(tensor._array) if keeps else tensor._array
    _overwrite(tensor, result._array)
    _record(tensor, function, inputs, before)
    return cast("Tensor", tensor)


def _need_fit(tensor: Any, operation: str, result: Any) -> None:
    """Refuse a result that a tensor cannot keep in its place."""
    new, own = result._array, tensor._array
    if new.shape != own.shape:
        raise ValueError(
            f"{operation}: the result has shape {result.shape}, but a tensor of shape {tensor.shape} keeps its shape; "
            "use the operation that makes a new tensor"
        )
    if "biuf".index(new.dtype.kind) > "biuf".index(own.dtype.kind):
        raise TypeError(f"{operation}: a result of {new.dtype} cannot be kept in {own.dtype}")


def _overwrite(tensor: Any, values: Any) -> None:
    tensor._array[...] = values
    changes.note_change(tensor._array)


def refuse_from_outside(tensor: Any, operation: str) -> None:
    """Refuse, in a trace, to change a tensor that was made before it: the change would happen once, not at each run."""
    since, refuse = abstract_mode.running.since, abstract_mode.running.refuse
    base = tensor
    while since is not None and refuse is not None and base is not None:
        if base._tick < since or abstract_mode.running.trace.is_outside(base):
            raise refuse(
                f"{operation} changes a tensor from outside of the function, once, while it is traced, and not at each "
                "run; give the tensor as an argument, and return a new one"
            )
        view = _view(base)
        base = None if view is None else view.base


def _check(tensor: Any, operation: str, others: tuple[Any, ...]) -> bool:
    """Refuse a change that differentiation or a trace cannot allow, and return whether it has to be recorded."""
    if abstract_mode.running.since is not None:
        refuse_from_outside(tensor, operation)
    array = tensor._array
    strides = array.strides if isinstance(array, np.ndarray) else tensor.stride()
    if 0 in strides and array.size and any(s == 0 and n > 1 for s, n in zip(strides, array.shape, strict=True)):
        raise ValueError(
            f"{operation}: several elements of this expanded tensor of shape {tensor.shape} share their memory; "
            "clone() it first"
        )
    if not grad_mode.enabled or not any(getattr(x, "requires_grad", False) for x in (tensor, *others)):
        return False
    if tensor.requires_grad and tensor._fn is None:
        raise GraphError(
            f"{operation}: a leaf that requires gradients cannot be changed in place; do it under no_grad(), or use "
            "the operation that makes a new tensor"
        )
    if tensor._array.dtype.kind != "f":
        raise TypeError(f"{operation}: a tensor of {tensor._array.dtype} cannot keep gradients")
    view = _view(tensor)
    if view is not None and view.function not in tensor_functions.WRITE_BACK:
        said = (
            f"this tensor is a view that {view.function.__name__}.forward returned, and the history of the tensor that "
            "it looks at would not know of the change; clone() the view"
        )
        raise GraphError(f"{operation}: {getattr(view.function, 'in_place', said)}")
    may_be_view = view is None and (tensor._fn is None or tensor._inputs is None)
    if may_be_view and guarded.has_other_views(tensor._array, changes.known_views(tensor)):
        raise GraphError(
            f"{operation}: this tensor is a view of another, whose history would not know of the change; assign to "
            "the other one, as in x[0] = value, or clone() the view"
        )
    changes.refuse_stale_view(tensor, np.inf)
    return True


def _view(tensor: Any) -> ViewOf | None:
    """Return how a view was made; None for a tensor with memory of its own."""
    base = changes.viewed(tensor)
    if base is not None:
        return ViewOf(base, tensor._fn, tensor._ctx.options)
    return (tensor._extra or {}).get("view_of") if tensor._fn is None else None


def _write_through(tensor: Any, operation: str, values: Any) -> Tensor:
    """Give a view new values, by way of the tensor that it looks at: so the histories of both know of the change."""
    view = cast(ViewOf, _view(tensor))
    key, values = tensor_functions.WRITE_BACK[view.function](view.base, values, **view.options)
    view.base._put(operation, key, values)
    if tensor._tick > view.base._tick:  # a view of what was a constant, which has its part in the new history already
        return cast("Tensor", tensor)
    again = tensor._apply(view.function, (view.base,), **view.options)
    changes.before_change(tensor, tensor._array)
    tensor._fn, tensor._inputs, tensor._ctx, tensor._requires_grad = again._fn, again._inputs, again._ctx, True
    tensor._tick = next(changes.ticks)
    return cast("Tensor", tensor)


def _record(tensor: Any, function: type[Function], inputs: tuple[Any, ...], before: Any, **options: Any) -> None:
    """Give a changed tensor its new history. The old history goes on in a node of its own.

    Args:
        tensor: The tensor, changed already.
        function: What changed it.
        inputs: The function's inputs, the tensor among them.
        before: Its values before, where the rule needs them, else its array.
        **options: Of the function.
    """
    old = changes.before_change(tensor, before)
    inputs = tuple([old if x is tensor else x for x in inputs])
    ctx = None
    if function.raw:
        ctx = engine.TensorContext(inputs, [getattr(x, "_array", x) for x in inputs], options)
        function.forward(ctx, *ctx.values, **options)
    tensor._fn, tensor._inputs, tensor._ctx, tensor._requires_grad = function, inputs, ctx, True
    tensor._tick = next(changes.ticks)
    changes.renew_views(tensor)


def _of_the_table(op: Op) -> Any:
    """Make the method of an elementwise operation that puts the results into the tensor."""
    name = f"{op.method}_"

    def method(self: Tensor) -> Tensor:
        return _change(self, name, getattr(functions, op.function))

    method.__name__, method.__qualname__ = name, f"InPlace.{name}"
    method.__doc__ = op.documented(f"Replace every element x by {op.about('x', 'x')}.", f"{{0}}.{name}()")
    return method


for _op in OPS.values():
    if _op.method and _op.in_place:
        setattr(InPlace, f"{_op.method}_", _of_the_table(_op))
