"""Quick forms of the exercises of `minigrad.tensor_functions`: the same on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import backends, tensor_functions
from minigrad.backends import arrays, guarded
from minigrad.engine import TensorContext
from minigrad.machine import overrides
from minigrad.tensor_functions import along, as_rows, expand, index, matmul, permute, reshape, transpose, unindex
from minigrad.tensors import Tensor, abstract_mode, recorded
from minigrad.tensors.shapes import ALL_AXES

SHOWS = ("tensor_functions",)

_depth = abstract_mode.depth
_silence, _speak = guarded.silence, guarded.speak


class Sum(tensor_functions.Sum):
    """The sum of an array."""

    raw = True

    @staticmethod
    def forward(
        ctx: TensorContext,
        a: Any,
        dim: tuple[int, ...],
        keepdim: bool = False,
    ) -> Any:
        """Add up along some axes."""
        ctx.shape, ctx.dim, ctx.keepdim = a.shape, dim, keepdim
        return arrays.reduce("add", a, dim, keepdim)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Show each element the gradient of its sum."""
        shape = ctx.shape
        if d_output.__class__ is np.ndarray and not d_output.ndim and shape and 0 not in shape:
            return np.ndarray(shape, d_output.dtype, d_output, 0, (0,) * len(shape))  # one number, seen everywhere
        if d_output.ndim and not ctx.keepdim:
            d_output = reshape(d_output, tuple(1 if axis in ctx.dim else n for axis, n in enumerate(shape)))
        return expand(d_output, shape)


class Permute(tensor_functions.Permute):
    """An array with its axes in another order."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, order: tuple[int, ...]) -> Any:
        """Return a view."""
        ctx.order = order
        return arrays.permute(a, order)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Put the axes back."""
        order = ctx.order
        return permute(d_output, tuple(sorted(range(len(order)), key=order.__getitem__)))


class View(tensor_functions.View):
    """An array with another shape."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, shape: tuple[int, ...]) -> Any:
        """Return a view, or a copy of an array that has no such view."""
        ctx.shape = a.shape
        return a.reshape(shape)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Give the gradient the shape of the input."""
        return reshape(d_output, ctx.shape)


class Max(tensor_functions.Max):
    """The largest elements of an array along an axis."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dim: int) -> Any:
        """Take the first of the largest elements."""
        place = np.expand_dims(a.argmax(dim), dim)
        ctx.shape, ctx.dim = a.shape, dim
        ctx.save_for_backward(place)
        return np.take_along_axis(a, place, dim).squeeze(dim)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Put the gradient where the elements were taken."""
        (taken,) = ctx.saved_values
        kept = tuple(1 if axis == ctx.dim else n for axis, n in enumerate(ctx.shape))
        return unindex(reshape(d_output, kept), ctx.shape, along(taken, ctx.dim))

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The elements that were taken change the output."""
        (taken,) = ctx.saved_values
        change = index(tangents[0], along(taken, ctx.dim))
        return reshape(change, tuple(n for axis, n in enumerate(ctx.shape) if axis != ctx.dim))


def matmul_back(ctx: TensorContext, d_output: Any) -> Any:
    """Return the gradients of a product: on arrays as well, and only those that are asked for."""
    a, b = ctx.saved_values
    need_a, need_b = ctx.needs_input_grad
    d_a = matmul(d_output, transpose(b)) if need_a else None
    if not need_b:
        return d_a, None
    if b.ndim == 2 and a.ndim > 2:  # one matrix for the whole batch: one product instead of many and their sum
        a, d_output = as_rows(a), as_rows(d_output)
    return d_a, matmul(transpose(a), d_output)


def _whole_sum(specified: Callable[..., Tensor]) -> Any:
    """Return the quick form of `Tensor.sum`, for all elements of a small array of a floating type."""
    add_up = np.add.reduce

    @functools.wraps(specified)
    def quick(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        axis: Any = None,
        keepdims: bool = False,
        dtype: Any = None,
    ) -> Tensor:
        x = self._array
        some = dim is not None or axis is not None or keepdim or keepdims or dtype is not None
        if some or _depth or x.__class__ is not np.ndarray or x.size >= arrays.LARGE or x.dtype.kind != "f":
            return specified(self, dim, keepdim or keepdims, axis=axis, dtype=dtype)
        axes = ALL_AXES[x.ndim]
        ctx: Any = TensorContext((self,), (x,), {"dim": axes, "keepdim": False})
        ctx.shape, ctx.dim, ctx.keepdim = x.shape, axes, False
        token = _silence()
        try:
            array = add_up(x, None)
        finally:
            _speak(token)
        return recorded(Sum, (self,), ctx, array)

    return quick


for _specified, _form in (
    (tensor_functions.Sum, Sum),
    (tensor_functions.Permute, Permute),
    (tensor_functions.View, View),
    (tensor_functions.Max, Max),
):
    overrides.twin(tensor_functions.quick_forms, _specified, _form, unless=("tensor_functions",))
    if _specified in tensor_functions.WRITE_BACK:
        tensor_functions.WRITE_BACK[_form] = tensor_functions.WRITE_BACK[_specified]
overrides.twin(tensor_functions.MatMul, "backward", staticmethod(matmul_back), unless=("tensor_functions",))
overrides.twin(
    Tensor, "sum", _whole_sum(Tensor.sum), unless=("tensor_functions",), when=backends.is_quick_in_all_threads
)
