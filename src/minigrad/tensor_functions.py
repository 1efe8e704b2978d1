"""Differentiable functions of tensors: whatever is not elementwise.

Elementwise functions are in `minigrad.functions`; they serve numbers and tensors with one rule. The functions here
move elements about, add them up or multiply matrices. Four of them, `Sum`, `Permute`, `View` and `Max`, are exercises
and work on tensors, as does `matmul_back`, the rule of the matrix product. The others say ``raw = True``: their
forward is given the tensors' arrays, and their rules are written with operators and the helpers at the end of this
file, which take arrays and tensors alike. So one rule serves the quick engine, which has nothing to record, and
higher derivatives, where the rule itself is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from minigrad import backends, functions, layout
from minigrad.autodiff import no_grad
from minigrad.backends import arrays
from minigrad.errors import FunctionError, IndexingError
from minigrad.functions import Function

if TYPE_CHECKING:
    from minigrad.engine import TensorContext
    from minigrad.tensors import Tensor

__all__ = [
    "AlongAxes",
    "Amax",
    "Amin",
    "Cast",
    "Cat",
    "Clone",
    "CumSum",
    "Expand",
    "Flip",
    "Index",
    "IndexAdd",
    "IndexPut",
    "Linear",
    "LinearFunction",
    "MatMul",
    "Max",
    "Permute",
    "Prod",
    "Sum",
    "ToDevice",
    "View",
    "all_functions",
    "along",
    "as_rows",
    "either",
    "expand",
    "index",
    "indicator",
    "matmul",
    "matmul_back",
    "permute",
    "reshape",
    "sum_over",
    "transpose",
    "unindex",
    "with_axes",
]


class LinearFunction(Function):
    """A function whose change is the same function of the change, as for `Sum`, `Permute` and `View`."""

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Apply the function to the change."""
        return cls.apply(*[t.contiguous() for t in tangents], **ctx.options)


class AlongAxes(Function):
    """A function along the axes that its option `dim` names."""


closed_forms: dict[str, type[AlongAxes]] = {}
"""Softmax and its like, each as one function, by the name of the method (`minigrad.quick.softmax`)."""


class Sum(LinearFunction):
    """The sum over some axes.

    `Tensor.sum` applies it, after it has counted negative axes from the front.
    """

    @staticmethod
    def forward(
        ctx: TensorContext,
        a: Tensor,
        dim: tuple[int, ...],
        keepdim: bool = False,
    ) -> Tensor:
        """Add up the elements along axes, and save what backward needs.

        Args:
            ctx: Keeps what `backward` needs, of any type:
                ``ctx.save_for_backward(...)``.
            a: A tensor of any shape. ``a.reduce_with("add", dim, keepdim)`` is the
                tensor of its sums.
            dim: The axes to sum over, counted from 0, in ascending order.
            keepdim: Whether these axes stay, with size 1.

        Returns:
            The sums: of shape (2, 4) for an a of shape (2, 3, 4) and dim (1,), of shape
            (2, 1, 4) if keepdim is true.
        """
        ### BEGIN SOLUTION
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim, keepdim)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: TensorContext, d_output: Tensor) -> Tensor:
        """Return the gradient of a.

        Every element moves the sum that it went into one for one.

        So the gradient of an element is that of its sum: d_output, repeated along the
        axes in dim. Where forward has dropped these axes, they must first come back in
        their old places, with size 1. ``x.view(*sizes)`` gives a tensor such axes, and
        ``x.expand(*shape)`` repeats it along them. These methods are recorded where the
        gradient is to be differentiated again; what goes by way of an array is not.

        Args:
            ctx: What forward saved: ``ctx.saved_values``, a tuple.
            d_output: The gradient of the sums, in their shape.

        Returns:
            The gradient of a, in the shape of a.
        """
        ### BEGIN SOLUTION
        shape, dim = ctx.saved_values
        kept = [1 if axis in dim else size for axis, size in enumerate(shape)]
        return d_output.view(*kept).expand(*shape)
        ### END SOLUTION


class Permute(LinearFunction):
    """The same elements with the axes in another order.

    `Tensor.permute` applies it, after checking the order.
    """

    @staticmethod
    def forward(ctx: TensorContext, a: Tensor, order: tuple[int, ...]) -> Tensor:
        """Return a view of a whose axis i is axis ``order[i]`` of a.

        Save what backward needs.

        Args:
            ctx: Keeps what `backward` needs, of any type:
                ``ctx.save_for_backward(...)``.
            a: A tensor. ``a.view_with("permute", *order)`` is the tensor of that view,
                which shares its storage.
            order: A permutation of a's axes, counted from 0.

        Returns:
            The view: of shape (4, 2, 3) for an a of shape (2, 3, 4) and the order (2,
            0, 1). Nothing is copied.
        """
        ### BEGIN SOLUTION
        ctx.save_for_backward(order)
        return a.view_with("permute", *order)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: TensorContext, d_output: Tensor) -> Tensor:
        """Return the gradient of a: each element's goes back to its old place.

        Axis i of d_output belongs to axis ``order[i]`` of a, so the axes of d_output
        are to be permuted by the inverse of the order: the one that undoes it. For (2,
        0, 1) that is (1, 2, 0). ``d_output.permute(*axes)`` does so and is recorded
        where the gradient is to be differentiated again; ``view_with`` is not.

        Args:
            ctx: What forward saved: ``ctx.saved_values``, a tuple.
            d_output: The gradient of the permuted tensor, in its shape and with a
                storage and strides of its own: those of a say nothing about them.

        Returns:
            The gradient of a, in the shape of a.
        """
        ### BEGIN SOLUTION
        (order,) = ctx.saved_values
        inverse = [0] * len(order)
        for position, axis in enumerate(order):
            inverse[axis] = position
        return d_output.permute(*inverse)
        ### END SOLUTION


class View(LinearFunction):
    """The same elements, in row-major order, with another shape.

    `Tensor.view` applies it, after checking the shape.
    """

    @staticmethod
    def forward(ctx: TensorContext, a: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return a view of a with another shape, and save what backward needs."""
        ctx.save_for_backward(a.shape)
        return a.view_with("view", *shape)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Tensor) -> Tensor:
        """Return the gradient of a: the same elements in a's shape."""
        (shape,) = ctx.saved_values
        return d_output.contiguous().view(*shape)


class Max(Function):
    """The largest elements along an axis."""

    @staticmethod
    def forward(ctx: TensorContext, a: Tensor, dim: int) -> Tensor:
        """Return the largest element along an axis, without that axis.

        Save what backward needs.

        Args:
            ctx: Keeps what `backward` needs.
            a: A tensor. ``a.argmax(dim, keepdim=True)`` says where the first of its
                largest elements are, and ``a.gather(dim, index)`` takes the elements at
                such places.
            dim: The axis, counted from 0.
        """
        ### BEGIN SOLUTION
        index = a.argmax(dim, keepdim=True)
        ctx.save_for_backward(index, a.shape, dim)
        return a.gather(dim, index).squeeze(dim)
        ### END SOLUTION

    @staticmethod
    def backward(ctx: TensorContext, d_output: Tensor) -> Tensor:
        """Return the gradient of a: only the element that was taken moves the output.

        It is the first of equal ones.

        Args:
            ctx: What forward saved.
            d_output: The gradient of the largest elements, in their shape.

        Returns:
            The gradient of a: 0 but at the elements that were taken.
            ``values.scatter_to(shape, dim, index)`` gives a tensor of that shape which
            is 0 but for values at the places that index names.
        """
        ### BEGIN SOLUTION
        index, shape, dim = ctx.saved_values
        return d_output.unsqueeze(dim).scatter_to(shape, dim, index)
        ### END SOLUTION

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The elements that were taken change the output."""
        index, _, dim = ctx.saved_values
        return tangents[0].gather(dim, index).squeeze(dim)


quick_forms: dict[type[Function], type[Function]] = {}
"""What computes on arrays in place of an exercise above, where nothing forbids it (`minigrad.quick`)."""


# --- moving elements about ----------------------------------------------------------------------------------


class _Linear(LinearFunction):
    """The same on arrays."""

    raw = True


class Expand(_Linear):
    """Axes of size 1 repeated, new axes in front, nothing copied."""

    @staticmethod
    def forward(ctx: TensorContext, a: Any, shape: tuple[int, ...]) -> Any:
        """Return a view of that shape."""
        ctx.shape = a.shape
        return arrays.expand(a, shape)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The engine sums every gradient to its input's shape; nothing is left to do."""
        return d_output


class Index(_Linear):
    """The elements that a key selects: integers, slices, None, ..., and arrays of integers or booleans."""

    @staticmethod
    def forward(ctx: TensorContext, a: Any, key: Any) -> Any:
        """Return a view for integers, slices and None, a copy for arrays."""
        ctx.key, ctx.shape = key, a.shape
        try:
            if _is_basic(key):
                return a[key]
            _save_arrays(ctx, key)
            return arrays.to_host(a)[key]
        except IndexError as error:
            if _is_basic(key):
                layout.slice_view(a.shape, a.shape, key)  # which says what is wrong
            raise IndexingError(f"cannot index shape {tuple(a.shape)}: {error}") from None

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Put the gradient where the elements came from; an element selected twice gets both."""
        return unindex(d_output, ctx.shape, ctx.key)

    @staticmethod
    def add_back(ctx: TensorContext, d_output: Any, gradient: Any) -> bool:
        """Add the gradient where the elements came from, if that is a view: a loop over rows stays linear."""
        part = gradient[ctx.key] if _is_basic(ctx.key) and d_output.dtype == gradient.dtype else None
        if part.__class__ is not np.ndarray:
            return False
        part += d_output
        return True


@lru_cache(maxsize=8)
def _columns_of(shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
    """Return the numbers along every axis but the first, each in an array that repeats along the others."""
    return np.ogrid[tuple(slice(n) for n in shape)][1:]


def _rows_of(key: Any, shape: Sequence[int]) -> Any:
    """Return the numbers of the rows that a key selects; None where it does not select whole rows."""
    if isinstance(key, np.ndarray):
        return key if key.dtype.kind in "iu" else None
    # As `index_add` has it: a number for each element, the same all along a row, and every column in order.
    if not isinstance(key, tuple) or len(key) != len(shape) or not all(isinstance(each, np.ndarray) for each in key):
        return None
    numbers, *columns = key
    whole = numbers.dtype.kind in "iu" and numbers.ndim > 0 and numbers.size > 0
    whole = whole and numbers.shape[1:] == tuple(shape[1:]) and not any(numbers.strides[1:])
    whole = whole and all(map(np.array_equal, columns, _columns_of(tuple(shape))))  # shapes are compared as well
    return numbers[(slice(None), *(0,) * len(columns))] if whole else None


class IndexAdd(_Linear):
    """Zeros of a shape, to which values are added where a key selects: the transpose of `Index`."""

    @staticmethod
    def forward(
        ctx: TensorContext,
        values: Any,
        shape: tuple[int, ...],
        key: Any,
    ) -> Any:
        """Return the array; elements selected twice get both values."""
        ctx.key = key
        _save_arrays(ctx, key)
        on_host = arrays.to_host(values)
        out = arrays.full(shape, 0.0, on_host.dtype)
        if _is_basic(key):
            out[key] += on_host
        elif (rows := _rows_of(key, shape)) is not None:
            arrays.add_rows(out, rows, on_host)
        else:
            np.add.at(out, key, on_host)
        return out

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Take the elements that the values went to."""
        return index(d_output, ctx.key)


class IndexPut(Function):
    """A tensor with other values where a key selects."""

    raw = True

    @staticmethod
    def put(a: Any, values: Any, key: Any) -> Any:
        """Return a changed copy of an array."""
        out = np.array(arrays.to_host(a), order="C")
        out[key] = arrays.to_host(values)
        return out

    @staticmethod
    def forward(ctx: TensorContext, a: Any, values: Any, key: Any) -> Any:
        """Return the changed copy."""
        ctx.key = key
        _save_arrays(ctx, key)
        return IndexPut.put(a, values, key)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Overwritten elements have gradient 0. The new values get the gradient of their places."""
        if hasattr(d_output, "chain_rule"):
            return IndexPut.apply(d_output, 0.0, key=ctx.key), index(d_output, ctx.key)
        return IndexPut.put(d_output, 0.0, ctx.key), index(d_output, ctx.key)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The change of the tensor, with the change of the values in its place."""
        d_a, d_values = tangents
        if d_a is None:
            d_a = d_values.new_zeros(ctx.values[0].shape)
        return cls.apply(d_a, 0.0 if d_values is None else d_values, key=ctx.key)


class ToDevice(Function):
    """The same values on another device."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, device: str) -> Any:
        """Copy from the device or to it."""
        ctx.device = "cpu" if arrays.on_host(a) else "cuda"
        return arrays.to_device(a, device)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Move the gradient back."""
        return either(ToDevice, d_output, device=ctx.device)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Move the change along."""
        return cls.apply(*tangents, **ctx.options)


class Flip(_Linear):
    """The elements in reverse order along some axes; a copy, since strides are never negative."""

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dims: tuple[int, ...]) -> Any:
        """Return the reversed copy."""
        ctx.dims = dims
        return np.array(np.flip(arrays.to_host(a), dims), order="C")  # ascontiguousarray would add an axis to a number

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Turn the gradient round again."""
        return either(Flip, d_output, dims=ctx.dims)


class Cat(Function):
    """Tensors one behind the other along an axis."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, *parts: Any, dim: int) -> Any:
        """Return the joined copy."""
        ctx.dim, ctx.sizes = dim, [part.shape[dim] for part in parts]
        return np.concatenate([arrays.to_host(part) for part in parts], axis=dim)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Cut the gradient into the parts again."""
        ends = np.cumsum(ctx.sizes).tolist()
        before = (slice(None),) * ctx.dim
        return tuple(
            index(d_output, (*before, slice(end - size, end))) for size, end in zip(ctx.sizes, ends, strict=True)
        )

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Join the changes; a part that stays changes by zeros."""
        known = next(t for t in tangents if t is not None)
        parts = []
        for size, tangent in zip(ctx.sizes, tangents, strict=True):
            shape = (*known.shape[: ctx.dim], size, *known.shape[ctx.dim + 1 :])
            parts.append(known.new_zeros(shape) if tangent is None else tangent)
        return cls.apply(*parts, dim=ctx.dim)


class Clone(_Linear):
    """A copy."""

    @staticmethod
    def forward(ctx: TensorContext, a: Any) -> Any:
        """Return a row-major copy."""
        return arrays.contiguous(a)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The copy moves with the original."""
        return d_output


class Cast(_Linear):
    """The same values in another type. Between floating-point types it has a gradient."""

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dtype: Any) -> Any:
        """Return the converted copy."""
        return a.astype(dtype)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The engine converts every gradient to its input's type."""
        return d_output


# --- reductions ---------------------------------------------------------------------------------------------


class Prod(Function):
    """The product over some axes."""

    raw = True

    @staticmethod
    def forward(
        ctx: TensorContext,
        a: Any,
        dim: tuple[int, ...],
        keepdim: bool = False,
    ) -> Any:
        """Multiply the elements along axes."""
        ctx.dim, ctx.keepdim = dim, keepdim
        ctx.save_for_backward(a)
        return arrays.reduce("mul", a, dim, keepdim)

    @classmethod
    def _others(cls, ctx: TensorContext) -> Any:
        """Return, for each element, the product of all others: without a division, which would fail at zeros."""
        (a,) = ctx.saved_values
        axes = ctx.dim
        kept = tuple(axis for axis in range(a.ndim) if axis not in axes)
        lines = permute(a, (*kept, *axes))
        moved_shape = lines.shape
        rows, n = [moved_shape[i] for i in range(len(kept))], int(np.prod([a.shape[i] for i in axes], dtype=int))
        lines = reshape(lines, (*rows, n))
        off = _off_diagonal(n, lines)
        table = functions.where(off, expand(reshape(lines, (*rows, 1, n)), (*rows, n, n)), 1.0)
        others = either(Prod, table, dim=(len(rows) + 1,)) if n else lines
        back = tuple(sorted(range(a.ndim), key=(*kept, *axes).__getitem__))
        return permute(reshape(others, moved_shape), back)

    @classmethod
    def backward(cls, ctx: TensorContext, d_output: Any) -> Any:
        """An element moves the product by the product of the others."""
        others = cls._others(ctx)
        return with_axes(d_output, others.shape, ctx) * others

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Add up each change times the product of the other elements."""
        return sum_over(cls._others(ctx.as_variables()) * tangents[0], ctx.dim, ctx.keepdim)


def _off_diagonal(n: int, like: Any) -> Any:
    mask = ~np.eye(n, dtype=bool)
    return like.from_host(mask) if hasattr(like, "chain_rule") else mask


def with_axes(x: Any, shape: Sequence[int], ctx: TensorContext) -> Any:
    """Give a reduced array its axes back, with size 1."""
    if ctx.keepdim:
        return x
    return reshape(x, tuple(1 if axis in ctx.dim else n for axis, n in enumerate(shape)))


class CumSum(_Linear):
    """The running sums along an axis.

    It has a rule of its own: as a product with a triangle of ones it would take time and memory with the square of the
    axis, and a nan would reach the sums before it.
    """

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dim: int) -> Any:
        """Add up from the front, floats in float64, as PyTorch does."""
        ctx.dim = dim
        on_host = arrays.to_host(a)
        wide = np.float64 if on_host.dtype.kind == "f" else on_host.dtype
        return np.cumsum(on_host, dim, dtype=wide).astype(on_host.dtype, copy=False)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """An element moves its own sum and all behind it: running sums from the end."""
        dims = (ctx.dim,)
        from_the_end = either(CumSum, either(Flip, d_output, dims=dims), dim=ctx.dim)
        return either(Flip, from_the_end, dims=dims)


class Amax(Function):
    """The largest element over some axes; equal ones share the gradient."""

    raw = True
    kernel: ClassVar[str] = "max"

    @classmethod
    def forward(
        cls,
        ctx: TensorContext,
        a: Any,
        dim: tuple[int, ...],
        keepdim: bool = False,
    ) -> Any:
        """Return the largest elements; nan where there is one."""
        ctx.dim, ctx.keepdim = dim, keepdim
        output = arrays.reduce(cls.kernel, a, dim, keepdim)
        ctx.save_for_backward(a, output)
        return output

    @classmethod
    def _share(cls, ctx: TensorContext) -> Any:
        """Return each element's part in its maximum: 1 / n where n elements are equal to it, 0 elsewhere."""
        a, output = ctx.saved_values
        highest = with_axes(output, a.shape, ctx)
        hit = indicator((a == highest) + (a != a) * (highest != highest), a)
        return hit / sum_over(hit, ctx.dim, True)

    @classmethod
    def backward(cls, ctx: TensorContext, d_output: Any) -> Any:
        """The largest element moves the output; equal ones share it, as in PyTorch."""
        share = cls._share(ctx)
        return with_axes(d_output, share.shape, ctx) * share

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Add up the changes of the largest elements, by their shares."""
        return sum_over(cls._share(ctx.as_variables()) * tangents[0], ctx.dim, ctx.keepdim)


class Amin(Amax):
    """The smallest element over some axes; equal ones share the gradient."""

    kernel = "min"


# --- products -----------------------------------------------------------------------------------------------


def matmul_back(a: Tensor, b: Tensor, d_output: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of a and b, where the output is the matrix product a @ b.

    Each of them is a product of two matrices again: ``x @ y`` multiplies them, and
    ``x.mT`` exchanges the last two axes. Both are recorded where the gradient is to be
    differentiated again; what goes by way of an array is not.

    Axes in front of the last two are a batch, one product for each entry: ``x @ y`` and
    ``x.mT`` leave them where they are. Where a or b has fewer of them, or a size of 1,
    it was broadcast over the batch. Its gradient may then have the batch's shape: the
    engine sums it to the factor's own, by `unbroadcast`.

    Args:
        a: The left factor, of shape (..., n, k).
        b: The right factor, of shape (..., k, m).
        d_output: The gradient of the output, of shape (..., n, m).

    Returns:
        The gradient of a and the gradient of b, in this order.
    """
    ### BEGIN SOLUTION
    return d_output @ b.mT, a.mT @ d_output
    ### END SOLUTION


class MatMul(Function):
    """The matrix product: (..., n, k) by (..., k, m), leading axes broadcast."""

    raw = True
    crosswise = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, b: Any) -> Any:
        """Multiply."""
        ctx.save_for_backward(a, b)
        return arrays.matmul(a, b)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Ask `matmul_back`, which computes with tensors."""
        a, b = ctx.saved_values
        if hasattr(d_output, "chain_rule"):
            return _pair(matmul_back(a, b, d_output))
        tensor = ctx.inputs[0]._of_array
        with no_grad():
            gradients = _pair(matmul_back(tensor(a), tensor(b), tensor(d_output)))
        return tuple([getattr(gradient, "_array", gradient) for gradient in gradients])

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Each factor's change times the other factor."""
        a, b = ctx.as_variables().saved_values
        d_a, d_b = tangents
        terms = [matmul(d_a, b)] if d_a is not None else []
        terms += [matmul(a, d_b)] if d_b is not None else []
        return sum(terms[1:], terms[0])


def _pair(gradients: Any) -> Any:
    """Return what `matmul_back` returned, if it is two gradients."""
    if not isinstance(gradients, tuple | list) or len(gradients) != 2:
        given = f"{len(gradients)} values" if isinstance(gradients, tuple | list) else type(gradients).__name__
        raise FunctionError(f"matmul_back returned {given}: return the gradient of a and the gradient of b")
    return gradients


class Linear(Function):
    """x W^T + b, the linear layer: x of shape (..., k), W of (m, k), b of (m,) or none."""

    raw = True
    crosswise = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, weight: Any, bias: Any = None) -> Any:
        """Multiply and add."""
        ctx.save_for_backward(x, weight)
        if (
            x.__class__ is np.ndarray
            and x.ndim == 2
            and x.size + weight.size < arrays.LARGE
            and backends.here.choice.quick
        ):
            out = x @ weight.T
            if bias is not None:
                out += bias
            return out
        rows = x if x.ndim == 2 else as_rows(x)
        out = arrays.matmul(rows, arrays.permute(weight, (1, 0)))
        if bias is not None:
            out = arrays.add_in_place(out, bias)
        return out if x.ndim == 2 else arrays.reshape(out, (*x.shape[:-1], weight.shape[0]))

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """As for a matrix product; the bias was broadcast over the rows."""
        x, weight = ctx.saved_values
        need_x, need_weight, *need_bias = ctx.needs_input_grad
        if d_output.__class__ is np.ndarray and x.ndim == 2 and x.size + weight.size < arrays.LARGE:
            d_x = d_output @ weight if need_x else None
            d_weight = d_output.T @ x if need_weight else None
            return (d_x, d_weight, np.add.reduce(d_output, 0)) if need_bias else (d_x, d_weight)
        d_x = matmul(d_output, weight) if need_x else None
        d_weight = matmul(transpose(as_rows(d_output)), as_rows(x)) if need_weight else None
        return (d_x, d_weight, d_output) if need_bias else (d_x, d_weight)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Each factor's change times the other factor, and the change of the bias."""
        x, weight = ctx.as_variables().saved_values
        d_x, d_weight, *d_bias = tangents
        terms = [matmul(d_x, transpose(weight))] if d_x is not None else []
        terms += [matmul(x, transpose(d_weight))] if d_weight is not None else []
        terms += [d for d in d_bias if d is not None]
        return sum(terms[1:], terms[0])


# --- for arrays and tensors alike, used by the rules above --------------------------------------------------


def either(function: type[Function], *inputs: Any, **options: Any) -> Any:
    """Apply a function to tensors with recording, to arrays without."""
    if any(hasattr(x, "chain_rule") for x in inputs):
        return function.apply(*inputs, **options)
    return function.forward(cast(Any, _Nothing()), *inputs, **options)


class _Nothing:
    """The context of a function that nobody will differentiate."""

    def save_for_backward(self, *values: Any) -> None:
        """Keep nothing."""


def expand(x: Any, shape: tuple[int, ...]) -> Any:
    """Repeat axes of size 1, and add axes in front, to get a shape.

    >>> minigrad.tensor_functions.expand(minigrad.zeros(1, 3), (2, 3)).shape
    (2, 3)
    """
    if x.__class__ is np.ndarray:
        return arrays.expand(x, shape)
    return either(Expand, x, shape=shape)


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """Return the elements in row-major order in another shape.

    >>> minigrad.tensor_functions.reshape(minigrad.arange(4), (2, 2)).shape
    (2, 2)
    """
    return x.reshape(shape)


def permute(x: Any, order: tuple[int, ...]) -> Any:
    """Return the axes in another order.

    >>> minigrad.tensor_functions.permute(minigrad.zeros(2, 3), (1, 0)).shape
    (3, 2)
    """
    return Permute.apply(x, order=order) if hasattr(x, "chain_rule") else arrays.permute(x, order)


def transpose(x: Any) -> Any:
    """Exchange the last two axes.

    >>> minigrad.tensor_functions.transpose(minigrad.zeros(2, 3)).shape
    (3, 2)
    """
    if x.__class__ is np.ndarray:
        return x.swapaxes(-1, -2)
    return permute(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def sum_over(x: Any, axes: tuple[int, ...], keepdim: bool = False) -> Any:
    """Add up the elements along axes.

    >>> minigrad.tensor_functions.sum_over(minigrad.ones(2, 3), (1,), keepdim=False)
    tensor([3., 3.])
    """
    if hasattr(x, "chain_rule"):
        return Sum.apply(x, dim=axes, keepdim=keepdim)
    return arrays.reduce("add", x, axes, keepdim)


def matmul(a: Any, b: Any) -> Any:
    """Multiply matrices.

    >>> minigrad.tensor_functions.matmul(minigrad.ones(2, 3), minigrad.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    if hasattr(a, "chain_rule") or hasattr(b, "chain_rule"):
        return MatMul.apply(a, b)
    return arrays.matmul(a, b)


def index(x: Any, key: Any) -> Any:
    """Take the elements that a key selects."""
    return either(Index, x, key=key)


def unindex(values: Any, shape: Sequence[int], key: Any) -> Any:
    """Return zeros of a shape, with values added where a key selects."""
    return either(IndexAdd, values, shape=tuple(shape), key=key)


def along(index: Any, dim: int) -> tuple[Any, ...]:
    """Return the key that takes the elements which `numpy.takealong_axis` takes."""
    is_abstract = getattr(index, "abstract", False)  # vmap and trace take such a tensor as it is
    places = index if is_abstract else arrays.to_host(getattr(index, "_array", index))
    lines = np.ogrid[tuple(slice(n) for n in places.shape)]
    return tuple(places if axis == dim else line for axis, line in enumerate(lines))


def indicator(condition: Any, like: Any) -> Any:
    """Return 1 where a condition holds and 0 elsewhere, in the type of another array or tensor."""
    return condition.to(like.dtype) if hasattr(condition, "chain_rule") else np.asarray(condition, like.dtype)


def as_rows(x: Any) -> Any:
    """Return a matrix with all leading axes in one."""
    return x if x.ndim == 2 else x.reshape((-1 if x.size else 0, x.shape[-1]))


def _is_basic(key: Any) -> bool:
    """Return whether a key selects a view: no array, and so no element twice."""
    for part in key if isinstance(key, tuple) else (key,):
        if not (part is None or part is Ellipsis or isinstance(part, (int, slice))):
            return False
    return True


def _save_arrays(ctx: TensorContext, key: Any) -> None:
    """Save the arrays of a key: the rule needs their elements, so a later change in place is an error."""
    parts = key if isinstance(key, tuple) else (key,)
    ctx.save_for_backward(*[part for part in parts if isinstance(part, np.ndarray)])


def _whole(base: Tensor, values: Tensor, **options: Any) -> tuple[Any, Tensor]:
    return (...,), values.reshape(base.shape)


def _in_order(
    base: Tensor,
    values: Tensor,
    order: tuple[int, ...],
) -> tuple[Any, Tensor]:
    return (...,), values.permute(*sorted(range(len(order)), key=order.__getitem__))


def _selected(base: Tensor, values: Tensor, key: Any) -> tuple[Any, Tensor]:
    return key, values


WRITE_BACK: dict[type[Function], Callable[..., tuple[Any, Tensor]]] = {
    Index: _selected,
    Permute: _in_order,
    View: _whole,
    Expand: _whole,
}
"""The functions that make views. Each says where new values of a view go in the tensor that it looks at."""


def all_functions() -> Sequence[type[Function]]:
    """Return every differentiable function of this module, for tests that must cover them all."""
    own = [value for name, value in globals().items() if name[0] != "_" and isinstance(value, type)]
    listed = [f for f in own if issubclass(f, Function) and f not in (Function, LinearFunction, AlongAxes)]
    return [*listed, *closed_forms.values()]
