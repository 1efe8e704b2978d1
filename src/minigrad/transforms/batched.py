"""Batched tensors: what `vmap` hands to a function. To the function each is one example, of one example's shape.

A batched tensor holds a tensor with one more axis in front, which counts the examples, and the level of its vmap. A
vmap inside another has a higher level, and holds a batched tensor of the lower one. An operation takes the inputs of
the highest level apart, applies the function's batching rule to what they hold, and hides the result's first axis
again. So only tensors without hidden axes are recorded, and derivatives follow from their graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from minigrad import layout, tensor_functions
from minigrad.backward.changes import ticks
from minigrad.errors import BatchingError
from minigrad.functions import Function
from minigrad.tensors import Tensor, abstract_mode, methods
from minigrad.tensors.devices import Device
from minigrad.tensors.shapes import axes_of, axis_of
from minigrad.transforms import batching_rules, indexing
from minigrad.transforms.abstract import AbstractTensor, NoArray


class _Example(NoArray):
    """The array of one example of a batch."""

    __slots__ = ()

    def to_host(self) -> Any:
        """Refuse: an operation without a batching rule asks for the elements."""
        if not abstract_mode.running.maps:
            raise BatchingError(
                "vmap: a batched tensor is used outside of its vmap, perhaps because the function kept it in a list or "
                "an attribute; return it from the function"
            )
        raise BatchingError(
            f"vmap: an operation asks for the elements of a batched tensor of shape {self.shape}, or writes it into a "
            "tensor that is not batched; use operations that make new tensors, or map the other tensor too"
        )

    def error(self, message: str) -> Exception:
        """Return the error for something that has no one answer for a batch."""
        return BatchingError(f"vmap: {message}")


class BatchedTensor(AbstractTensor):
    """One element of a batch, as a function under `vmap` sees it.

    Args:
        value: The whole batch: a tensor whose first axis counts the examples.
        level: The level of the vmap.

    >>> minigrad.transforms.vmap(lambda x: x.sum())(minigrad.ones(3, 2))
    tensor([2., 2., 2.])
    """

    __slots__ = ("_level", "_value")

    _value: Tensor
    _level: int

    def __init__(self, value: Tensor, level: int) -> None:
        self._value, self._level = value, level
        self._array = _Example(value.shape[1:], value.dtype)
        self._fn = self._ctx = self._grad = self._extra = None
        self._inputs = ()
        self._tick = next(ticks)
        self._is_own = False

    @classmethod
    def _apply(cls, function: type[Function], inputs: Sequence[Any], **options: Any) -> Tensor:
        """Apply a function to all examples at once, by its batching rule."""
        for name, option in options.items():
            if isinstance(option, cls):
                raise BatchingError(
                    f"vmap: {function.__name__} takes {name} as an option, the same for all examples, and cannot be "
                    "mapped over it; pass all examples at once, or loop over them"
                )
        if abstract_mode.running.branch is not None:
            inputs = abstract_mode.running.branch.of_chosen(inputs)
        level = max(x._level for x in inputs if isinstance(x, cls))
        is_batched = [isinstance(x, cls) and x._level == level for x in inputs]
        values = [x._value if mine else x for x, mine in zip(inputs, is_batched, strict=True)]
        return cls(batching_rules.apply(function, values, is_batched, options), level)

    def _with(self, value: Tensor) -> BatchedTensor:
        twin = BatchedTensor(value, self._level)
        twin._tick = self._tick  # another view of what is as old
        return twin

    @property
    def _requires_grad(self) -> bool:  # type: ignore[override]
        """Whether the batch is recorded."""
        return bool(self._value.requires_grad)

    # --- what has no rule of its own: types, places, copies -------------------------------------------------

    @property
    def device(self) -> Device:
        """Where the elements are."""
        return self._value.device

    def from_host(self, array: Any) -> Tensor:
        """Wrap a NumPy array as a constant, the same for all examples."""
        return self._value.from_host(array)

    def is_contiguous(self) -> bool:
        """Return True: whatever needs rows in order makes a copy."""
        return True

    def contiguous(self) -> Tensor:
        """Return the tensor itself."""
        return self

    def detach(self) -> Tensor:
        """Return a constant that shares the batch's memory."""
        return self._with(self._value.detach())

    def clone(self) -> Tensor:
        """Return a copy."""
        return self._with(self._value.clone())

    def to(self, *args: Any, **options: Any) -> Tensor:
        """Return the tensor with another type or on another device."""
        return self._with(self._value.to(*args, **options))

    def __invert__(self) -> Tensor:
        return self._with(~self._value)

    @staticmethod
    def _call(method: str, x: Any, *, other: Any, **options: Any) -> Any:
        """Answer an operator of another tensor and a batched one, which commutes."""
        return getattr(other, method)(other=x, **options)

    def _logical(self, sign: str, form: Any, other: Any) -> Tensor:
        level = max(x._level for x in (self, other) if isinstance(x, BatchedTensor))
        mine = [_has(x, level) for x in (self, other)]
        held = [cast(Any, x)._value if own else x for x, own in zip((self, other), mine, strict=True)]
        first, second = batching_rules.aligned(held, mine)
        if not isinstance(first, Tensor | np.ndarray):  # the operators commute
            first, second = second, first
        return BatchedTensor(first._logical(sign, form, second), level)

    # --- shapes ---------------------------------------------------------------------------------------------

    def view(self, *shape: Any) -> Tensor:
        """Return the same elements with another shape."""
        sizes = layout.view_shape(self.shape, layout.sizes_of(shape, "view"))
        return self._with(self._value.reshape(self._value.shape[0], *sizes))

    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Return the same elements with another shape."""
        return self.view(*sizes) if shape is None else self.view(*sizes, shape)

    def expand(self, *sizes: Any) -> Tensor:
        """Return a view in which axes of size 1 repeat."""
        old = self.shape
        new = layout.expand(old, (0,) * len(old), layout.sizes_of(sizes, "expand"))[0]
        batch = self._value.shape[0]
        wide = self._value.reshape(batch, *(1,) * (len(new) - len(old)), *old)
        return self._with(wide.expand(batch, *new))

    def __getitem__(self, key: Any) -> Tensor:
        if abstract_mode.among(key if isinstance(key, tuple) else (key,)) is not None:
            return self.taken_from(self, key)
        before, chosen = self._keys(key)
        x: Any = self if before is None else self[before]
        return self._with(indexing.take(x._value, indexing.checked(x.shape, chosen)))

    @staticmethod
    def taken_from(x: Tensor, key: Any) -> Tensor:
        """Return what a key with batched tensors in it selects from a tensor."""
        parts = key if isinstance(key, tuple) else (key,)
        top = max((each for each in (x, *parts) if isinstance(each, BatchedTensor)), key=lambda each: each._level)
        level, size = top._level, top._value.shape[0]
        mine = [isinstance(each, AbstractTensor) for each in parts]  # one that a trace computes is repeated for all
        held = [expose(each, level, size) if own else each for each, own in zip(parts, mine, strict=True)]
        value = cast(Any, x)._value if _has(x, level) else x
        return BatchedTensor(indexing.take_each(value, _has(x, level), held, mine), level)

    def scattered(self, x: Tensor, shape: Sequence[int], axis: int) -> Tensor:
        """Return zeros of a shape, with a tensor's values at the places that this index names along an axis."""
        level = max(each._level for each in (self, x) if isinstance(each, BatchedTensor))
        lines = tensor_functions.along(self, axis)
        mine = [_has(each, level) for each in lines]
        key = [each._value if own else each for each, own in zip(lines, mine, strict=True)]
        size = cast(Any, self if _has(self, level) else x)._value.shape[0]
        return BatchedTensor(indexing.put_each(expose(x, level, size), tuple(shape), key, mine), level)

    @staticmethod
    def put_along(x: Tensor, axis: int, index: Any, values: Any) -> Tensor:
        """Return a tensor with values at the places that an index names along an axis, where one of them is batched.

        With an axis in front that counts the examples it is one scatter for all of them.
        """
        top = max((x, index, values), key=lambda each: getattr(each, "_level", -1))
        level, size = cast(BatchedTensor, top)._level, cast(BatchedTensor, top)._value.shape[0]
        whole, places, new = (expose(each, level, size) for each in (x, index, values))
        return BatchedTensor(whole.scatter(axis + 1, places, new), level)

    # --- reductions that are not differentiated -------------------------------------------------------------

    def _order(self, axis: int, descending: bool) -> Tensor:
        if not self.ndim:
            return self._with(self._value.new_zeros(self._value.shape[0]).long())
        return self._with(self._value._order(axis + 1, descending))

    def _where_extreme(self, name: str, dim: int | None, keepdim: bool) -> Tensor:
        methods._refuse_empty(self, tuple(range(self.ndim)) if dim is None else (axis_of(self, dim, name),), name)
        if dim is None or not self.ndim:
            found = getattr(self._value.reshape(self._value.shape[0], -1), name)(1)
            return self._with(found.reshape(-1, *(1,) * (self.ndim if keepdim else 0)))
        return self._with(getattr(self._value, name)(axis_of(self, dim, name) + 1, keepdim))

    def _truth(self, form: Any, dim: Any, keepdim: bool, operation: str) -> Tensor:
        axes = tuple(axis + 1 for axis in axes_of(self, dim, operation))
        return self._with(self._value._truth(form, axes, keepdim, operation))

    # --- changes in place: of the batch, as a loop over examples would make them ------------------------------

    def _put(self, operation: str, key: Any, value: Any) -> Tensor:
        held, is_mine = self._given(operation, value)
        indexing.put(self._value, indexing.checked(self.shape, key), held, is_mine, operation)
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        if abstract_mode.among(key if isinstance(key, tuple) else (key,)) is not None:
            raise BatchingError(
                "vmap: assignment to a place that differs from example to example has no batching rule; use "
                "minigrad.where(place, value, x)"
            )
        super().__setitem__(key, value)

    def _given(self, operation: str, value: Any) -> tuple[Any, bool]:
        """Return what a value holds for all examples of this level, and whether it is a batch of them."""
        if isinstance(value, BatchedTensor) and value._level > self._level:
            raise BatchingError(
                f"vmap: {operation} cannot write values that differ from example to example into a tensor that all "
                "examples share; use the operation that makes a new tensor"
            )
        is_mine = _has(value, self._level)
        return (value._value if is_mine else value), is_mine

    # --- Python's protocols ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"BatchedTensor({self._value.shape[0]} examples of shape {self.shape}, dtype={self.dtype})"


def _has(x: Any, level: int) -> bool:
    return isinstance(x, BatchedTensor) and x._level == level


# --- axes that hide and come back ---------------------------------------------------------------------------


def expose(x: Any, level: int, size: int) -> Any:
    """Return a tensor with the axis of a level in front; one without it is repeated."""
    if isinstance(x, BatchedTensor):
        if x._level == level:
            return x._value
        if x._level > level:  # (size, examples, ...) becomes (examples, size, ...)
            return x._with(_swapped(expose(x._value, level, size)))
    return x.unsqueeze(0).expand(size, *x.shape)


def hide(x: Any, level: int) -> BatchedTensor:
    """Return a tensor whose first axis counts the examples of a level, without that axis."""
    if isinstance(x, BatchedTensor) and x._level > level:
        return x._with(hide(_swapped(x._value), level))
    return BatchedTensor(x, level)


def expose_all(x: Any, maps: Sequence[abstract_mode.Running]) -> Any:
    """Return a tensor with the axes of some vmaps in front, the first one's first."""
    for each in reversed(maps):
        x = expose(x, each.level, each.size)
    return x


def hide_all(x: Any, maps: Sequence[abstract_mode.Running]) -> Any:
    """Hide the axes that `expose_all` has shown."""
    for each in maps:
        x = hide(x, each.level)
    return x


def _swapped(x: Any) -> Any:
    return x.permute(1, 0, *range(2, x.ndim))


def levels_of(x: Any) -> tuple[int, ...]:
    """Return the levels of a tensor's hidden axes, the lowest first."""
    return (*levels_of(x._value), x._level) if isinstance(x, BatchedTensor) else ()


# --- changes in place, and what has no answer for a whole batch ------------------------------------------------


def _in_place(name: str) -> Any:
    def method(self: BatchedTensor, *args: Any, **options: Any) -> Any:
        given = [self._given(name, x) for x in args]
        others = [indexing.padded(held, self.ndim) if is_mine else held for held, is_mine in given]
        getattr(self._value, name)(*others, **options)
        return self

    return method


_CHANGES = "add sub mul div pow remainder neg abs exp log sqrt square tanh sigmoid relu clamp masked_fill"
for _name in _CHANGES.split():
    setattr(BatchedTensor, f"{_name}_", _in_place(f"{_name}_"))


_TRUTH = "`if`, `while`, `and`, `or` and `not` cannot ask for the truth of a batched tensor"
_NUMBER = "has no one value in a batch; compute with the tensor itself, and take numbers out after vmap"
_REFUSED: dict[str, str] = {
    "__bool__": f"{_TRUTH}, which differs from example to example; use minigrad.where(condition, a, b)",
    **{name: f"{name.strip('_')}() {_NUMBER}" for name in ("__float__", "__int__", "item", "tolist", "numpy")},
    "__index__": f"an index that is a batched tensor {_NUMBER}; in x[i] such a tensor may stand",
    "__array__": "NumPy's functions cannot take a batched tensor; use those of minigrad",
    "__dlpack__": f"dlpack {_NUMBER}",
    "__contains__": "`in` has no one answer for a batch; use (x == value).any()",
    "allclose": "allclose() has no one answer for a batch; use ((x - y).abs() <= tolerance).all()",
    "equal": "equal() has no one answer for a batch; use (x == y).all()",
    "backward": "backward() cannot run inside vmap, where gradients differ by example; use minigrad.transforms.grad",
    "requires_grad_": "a batched tensor cannot be made a leaf; use minigrad.transforms.grad inside the function",
}


def _refused(message: str) -> Callable[..., Any]:
    def method(self: BatchedTensor, *args: Any, **options: Any) -> Any:
        raise BatchingError(f"vmap: {message}")

    return method


for _name, _message in _REFUSED.items():
    setattr(BatchedTensor, _name, _refused(_message))
