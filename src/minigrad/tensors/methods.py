"""The methods of `Tensor` that compute or look, by PyTorch's names; `minigrad.exp(x)` and its kin call them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import DTypeLike

from minigrad import backends, functions, tensor_data, tensor_functions
from minigrad.backends import arrays, guarded
from minigrad.elementwise.entry import OPS, Op
from minigrad.machine import overrides
from minigrad.tensors import abstract_mode
from minigrad.tensors.along import ValuesAndIndices
from minigrad.tensors.comparing import Comparing
from minigrad.tensors.composed import Composed, in_common, scaled
from minigrad.tensors.placing import Placing
from minigrad.tensors.rounding import Rounding
from minigrad.tensors.selecting import Selecting
from minigrad.tensors.shapes import Shapes, axes_of, axis_of, by_numpys_name
from minigrad.tensors.types import need_booleans, value_in

if TYPE_CHECKING:
    from minigrad.elementwise.derived import OfTensors
    from minigrad.tensors import Tensor
else:
    OfTensors = object  # its methods are made below, of the table

__all__ = ["Methods", "ValuesAndIndices"]


Axes = int | Sequence[int] | None
"""One axis, several, or all."""


def _float(x: Any) -> Any:
    """Return a floating-point tensor: integers and booleans are converted as in PyTorch."""
    return x if x._array.dtype.kind == "f" else x.to(backends.default_float())


class Methods(Rounding, Selecting, Placing, Comparing, Composed, OfTensors):
    """Elementwise functions, reductions, products, and what the modules beside this one add.

    >>> x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.exp().log().sum(dim=0)
    tensor([4., 6.])
    """

    __slots__ = ()

    # --- elementwise ----------------------------------------------------------------------------------------

    def sign(self) -> Tensor:
        """Return -1, 0 or 1 for every element.

        >>> minigrad.tensor([-3.0, 0.0, 2.0]).sign()
        tensor([-1.,  0.,  1.])
        """
        x = cast(Any, self)
        return x.clone() if x._array.dtype.kind == "b" else functions.Sign.apply(x)  # True is 1 already

    def pow(self, exponent: Any) -> Tensor:
        """Return every element to a power.

        >>> minigrad.tensor([2.0, 3.0]).pow(2)
        tensor([4., 9.])
        """
        return cast(Any, self) ** exponent

    def add(self, other: Tensor | float, *, alpha: float = 1.0) -> Tensor:
        """Return self + alpha * other.

        >>> minigrad.tensor([1.0, 2.0]).add(10.0, alpha=2.0)
        tensor([21., 22.])
        """
        return functions.Add.apply(self, self._times("add", other, alpha))

    def sub(self, other: Tensor | float, *, alpha: float = 1.0) -> Tensor:
        """Return self - alpha * other.

        >>> minigrad.tensor([1.0, 2.0]).sub(minigrad.tensor([0.5, 0.5]))
        tensor([0.5, 1.5])
        """
        return functions.Sub.apply(self, self._times("sub", other, alpha))

    def _times(self, operation: str, other: Any, alpha: float) -> Any:
        """Return alpha * other, in the type that it has beside this tensor."""
        return other if alpha == 1 else scaled(operation, in_common((self, other))[1], alpha)

    def mul(self, other: Tensor | float) -> Tensor:
        """Return self * other.

        >>> minigrad.tensor([1.0, 2.0]).mul(3.0)
        tensor([3., 6.])
        """
        return functions.Mul.apply(self, other)

    def div(self, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
        """Return self / other.

        Args:
            other: A number or a tensor that broadcasts.
            rounding_mode: "floor" rounds down, as `floor_divide`, "trunc" towards 0; such a result is a constant.

        >>> minigrad.tensor([1.0, 2.0]).div(4.0)
        tensor([0.25, 0.50])
        """
        if rounding_mode is None:
            return functions.Div.apply(self, other)
        return cast(Any, self)._rounded_quotient(other, rounding_mode)

    def maximum(self, other: Tensor | float) -> Tensor:
        """Return the larger element of each pair; nan where one is nan.

        >>> minigrad.tensor([1.0, 5.0]).maximum(minigrad.tensor([3.0, 2.0]))
        tensor([3., 5.])
        """
        return functions.Max.apply(self, other)

    def minimum(self, other: Tensor | float) -> Tensor:
        """Return the smaller element of each pair; nan where one is nan.

        >>> minigrad.tensor([1.0, 5.0]).minimum(minigrad.tensor([3.0, 2.0]))
        tensor([1., 2.])
        """
        return functions.Min.apply(self, other)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """Return every element moved into [min, max].

        Args:
            min: The lower bound, a number or a tensor, or None.
            max: The upper bound, likewise.

        >>> minigrad.tensor([-3.0, 0.5, 3.0]).clamp(min=-1.0, max=1.0)
        tensor([-1.0,  0.5,  1.0])
        """
        if min is None and max is None:
            raise ValueError("clamp: give min, max or both")
        if cast(Any, self)._array.dtype.kind != "f" and (min is None or max is None):  # infinity is no integer
            return self.maximum(min) if max is None else self.minimum(max)
        return functions.Clip.apply(self, -np.inf if min is None else min, np.inf if max is None else max)

    clip = clamp

    def where(self, condition: Any, other: Any) -> Tensor:
        """Return the element where the condition holds, else that of other.

        >>> x = minigrad.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0.0)
        tensor([0., 2.])
        """
        need_booleans("where", condition)
        return functions.Where.apply(condition, self, other)

    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """Return a value where a mask of booleans holds, else the element.

        >>> x = minigrad.tensor([-1.0, 2.0])
        >>> x.masked_fill(x < 0, 9.0)
        tensor([9., 2.])
        """
        need_booleans("masked_fill", mask)
        return functions.Where.apply(mask, value_in("masked_fill", value, self.dtype), self)

    def isnan(self) -> Tensor:
        """Return where elements are nan.

        >>> minigrad.tensor([1.0, float("nan")]).isnan()
        tensor([False,  True])
        """
        return functions.NE.apply(self, self)

    def isinf(self) -> Tensor:
        """Return where elements are infinite.

        >>> minigrad.tensor([1.0, float("inf")]).isinf()
        tensor([False,  True])
        """
        return functions.EQ.apply(self.abs(), np.inf)

    def isfinite(self) -> Tensor:
        """Return where elements are neither nan nor infinite.

        >>> minigrad.tensor([1.0, float("inf"), float("nan")]).isfinite()
        tensor([ True, False, False])
        """
        return functions.LT.apply(self.abs(), np.inf)

    # --- reductions -----------------------------------------------------------------------------------------

    def sum(
        self,
        dim: Axes = None,
        keepdim: bool = False,
        *,
        axis: Axes = None,
        keepdims: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Add up the elements, all of them or along axes.

        Args:
            dim: An axis or several. None takes all, () none.
            keepdim: Whether these axes stay, with size 1.
            axis: NumPy's name for dim, which every reduction takes.
            keepdims: NumPy's name for keepdim.
            dtype: The type to convert to first, and that of the result.

        >>> x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> x.sum(), x.sum(dim=0)
        (tensor(10.), tensor([4., 6.]))
        >>> x.sum(1, keepdim=True)
        tensor([[3.],
                [7.]])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "sum")
        keepdim = keepdim or keepdims
        x = cast(Any, self)
        if dtype is not None:
            return cast("Tensor", x.to(dtype=dtype).sum(dim, keepdim).to(dtype=dtype))
        return tensor_functions.Sum.apply(x, dim=axes_of(x, dim, "sum"), keepdim=keepdim)

    def mean(
        self,
        dim: Axes = None,
        keepdim: bool = False,
        *,
        axis: Axes = None,
        keepdims: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Return the mean of the elements, all of them or along axes. It is nan where there are none.

        The arguments are those of `sum`.

        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).mean(dim=0)
        tensor([2., 3.])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "mean")
        keepdim = keepdim or keepdims
        x = cast(Any, self if dtype is None else cast(Any, self).to(dtype=dtype))
        _refuse_integers(x, "mean")
        axes = axes_of(x, dim, "mean")
        return tensor_functions.Sum.apply(x, dim=axes, keepdim=keepdim) / _count_along(x, axes)

    def var(
        self,
        dim: Axes = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: int | None = None,
        axis: Axes = None,
        keepdims: bool = False,
    ) -> Tensor:
        """Return the variance: the mean squared distance from the mean.

        Args:
            dim: An axis or several. None takes all. A single truth value is taken for unbiased, as in PyTorch.
            unbiased: Whether to divide by n - 1 instead of n.
            keepdim: Whether these axes stay, with size 1.
            correction: What to take from n, in place of unbiased.
            axis: NumPy's name for dim, which every reduction takes.
            keepdims: NumPy's name for keepdim.

        >>> x = minigrad.tensor([1.0, 2.0, 3.0, 4.0])
        >>> x.var(), x.var(unbiased=False)
        (tensor(1.6667), tensor(1.25))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "var")
        keepdim = keepdim or keepdims
        if isinstance(dim, bool):  # x.var(False), as in PyTorch
            unbiased, dim = dim, None
        x = cast(Any, self)
        _refuse_integers(x, "var")
        axes = axes_of(x, dim, "var")
        count = _count_along(x, axes)
        distance = x - tensor_functions.Sum.apply(x, dim=axes, keepdim=True) / count
        total = tensor_functions.Sum.apply(distance.square(), dim=axes, keepdim=keepdim)
        return total / max(count - (int(unbiased) if correction is None else correction), 0)

    def std(
        self,
        dim: Axes = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: int | None = None,
        axis: Axes = None,
        keepdims: bool = False,
    ) -> Tensor:
        """Return the square root of the variance.

        >>> minigrad.tensor([1.0, 3.0]).std(unbiased=False)
        tensor(1.)
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "std")
        keepdim = keepdim or keepdims
        _refuse_integers(self, "std")
        variance = self.var(dim, unbiased, keepdim, correction=correction)
        constant = variance == 0.0  # there, the gradient is 0 and not that of the square root, as in PyTorch
        if not constant.abstract and not constant.any():
            return variance.sqrt()
        return variance.masked_fill(constant, 1.0).sqrt().masked_fill(constant, 0.0)

    def prod(
        self,
        dim: Axes = None,
        keepdim: bool = False,
        *,
        axis: Axes = None,
        keepdims: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Multiply the elements, all of them or along axes. The arguments are those of `sum`.

        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).prod(dim=1)
        tensor([ 2., 12.])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "prod")
        keepdim = keepdim or keepdims
        x = cast(Any, self)
        if dtype is not None:
            return cast("Tensor", x.to(dtype=dtype).prod(dim, keepdim).to(dtype=dtype))
        return tensor_functions.Prod.apply(x, dim=axes_of(x, dim, "prod"), keepdim=keepdim)

    def max(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the largest element, or along an axis the largest elements and the indices of the first of them.

        Without dim, equal elements share the gradient. With dim, the first one gets it.

        >>> x = minigrad.tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> x.max()
        tensor(7.)
        >>> values, indices = x.max(dim=1)
        >>> values, indices
        (tensor([5., 7.]), tensor([1, 0]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "max")
        keepdim = keepdim or keepdims
        return self._extreme("max", tensor_functions.Amax, dim, keepdim)

    def min(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Any:
        """Return the smallest element, or along an axis the smallest elements and the indices of the first of them.

        >>> values, indices = minigrad.tensor([[1.0, 5.0], [7.0, 2.0]]).min(dim=1)
        >>> values, indices
        (tensor([1., 2.]), tensor([0, 1]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "min")
        keepdim = keepdim or keepdims
        return self._extreme("min", tensor_functions.Amin, dim, keepdim)

    def _extreme(self, name: str, whole: Any, dim: Any, keepdim: bool) -> Any:
        x = cast(Any, self)
        if isinstance(dim, Shapes):  # torch.max(a, b)
            return x.maximum(dim) if name == "max" else x.minimum(dim)
        if dim is None:
            _refuse_empty(x, tuple(range(x.ndim)), name)
            return whole.apply(x, dim=tuple(range(x.ndim)), keepdim=keepdim)
        axis = axis_of(x, dim, name)
        _refuse_empty(x, (axis,), name)
        if not x.ndim:
            return ValuesAndIndices(x.clone(), getattr(x, f"arg{name}")(dim))
        if name == "max":
            values = tensor_functions.Max.apply(x, dim=axis)
        elif x._array.dtype.kind == "f":
            values = -tensor_functions.Max.apply(-x, dim=axis)
        else:  # ~x is -x - 1: the smallest integer has no negative
            values = ~tensor_functions.Max.apply(~x, dim=axis)
        indices = getattr(x, f"arg{name}")(dim, keepdim)
        return ValuesAndIndices(values.unsqueeze(axis) if keepdim else values, indices)

    def amax(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the largest elements along axes. Equal ones share the gradient.

        >>> minigrad.tensor([[1.0, 5.0], [7.0, 2.0]]).amax(dim=0)
        tensor([7., 5.])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "amax")
        keepdim = keepdim or keepdims
        x = cast(Any, self)
        axes = axes_of(x, dim, "amax")
        _refuse_empty(x, axes, "amax")
        return tensor_functions.Amax.apply(x, dim=axes, keepdim=keepdim)

    def amin(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return the smallest elements along axes. Equal ones share the gradient.

        >>> minigrad.tensor([[1.0, 5.0], [7.0, 2.0]]).amin(dim=0)
        tensor([1., 2.])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "amin")
        keepdim = keepdim or keepdims
        x = cast(Any, self)
        axes = axes_of(x, dim, "amin")
        _refuse_empty(x, axes, "amin")
        return tensor_functions.Amin.apply(x, dim=axes, keepdim=keepdim)

    def argmax(
        self, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
    ) -> Tensor:
        """Return where the largest element is, the first of equal ones: in the flattened tensor, or along an axis.

        >>> x = minigrad.tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> x.argmax(), x.argmax(dim=0)
        (tensor(2), tensor([1, 0]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "argmax")
        keepdim = keepdim or keepdims
        return self._where_extreme("argmax", dim, keepdim)

    def argmin(
        self, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
    ) -> Tensor:
        """Return where the smallest element is, the first of equal ones: in the flattened tensor, or along an axis.

        >>> minigrad.tensor([[1.0, 5.0], [7.0, 2.0]]).argmin(dim=1)
        tensor([0, 1])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "argmin")
        keepdim = keepdim or keepdims
        return self._where_extreme("argmin", dim, keepdim)

    def _where_extreme(self, name: str, dim: int | None, keepdim: bool) -> Tensor:
        x = cast(Any, self)
        if abstract_mode.depth and (other := abstract_mode.answering((x,))) is not None:
            return cast("Tensor", other._call("_where_extreme", x, name=name, dim=dim, keepdim=keepdim))
        axis = None if dim is None else axis_of(x, dim, name)
        _refuse_empty(x, tuple(range(x.ndim)) if axis is None else (axis,), name)
        array = abstract_mode.elements(x)
        if not array.ndim:
            return cast("Tensor", x.from_host(np.zeros((), np.int64)))
        return cast("Tensor", x.from_host(np.asarray(getattr(np, name)(array, axis=axis, keepdims=keepdim))))

    def any(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return whether an element is not 0.

        >>> minigrad.tensor([[0, 1], [0, 0]]).any(dim=1)
        tensor([ True, False])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "any")
        keepdim = keepdim or keepdims
        return self._truth(np.any, dim, keepdim, "any")

    def all(self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        """Return whether no element is 0.

        >>> minigrad.tensor([[1, 1], [1, 0]]).all(dim=1)
        tensor([ True, False])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "all")
        keepdim = keepdim or keepdims
        return self._truth(np.all, dim, keepdim, "all")

    def _truth(self, form: Any, dim: Any, keepdim: bool, operation: str) -> Tensor:
        x = cast(Any, self)
        if abstract_mode.depth and (other := abstract_mode.answering((x,))) is not None:
            options = {"form": form, "dim": dim, "keepdim": keepdim, "operation": operation}
            return cast("Tensor", other._call("_truth", x, **options))
        array = abstract_mode.elements(x)
        result = form(array, axis=axes_of(x, dim, operation), keepdims=keepdim)
        return cast("Tensor", x.from_host(np.asarray(result)))

    def logsumexp(
        self, dim: Axes = None, keepdim: bool = False, *, axis: Axes = None, keepdims: bool = False
    ) -> Tensor:
        """Return log(e^x1 + e^x2 + ...) along axes, without overflow.

        >>> minigrad.tensor([1000.0, 1000.0]).logsumexp(0)
        tensor(1000.6932)
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "logsumexp")
        keepdim = keepdim or keepdims
        x = _float(self)
        if not x.numel():
            return x.exp().sum(dim, keepdim).log()
        axes = axes_of(x, dim, "logsumexp")
        form = tensor_functions.closed_forms.get("logsumexp")
        if form is None:
            return _logsumexp_by_log_softmax(x, axes, keepdim)
        return form.apply(x, dim=axes, keepdim=keepdim)

    def softmax(self, dim: int = -1, dtype: DTypeLike | None = None, *, axis: int | None = None) -> Tensor:
        """Return e^x over the sum of e^x along an axis, in another type if one is given.

        >>> minigrad.tensor([[0.0, 0.0], [1.0, 3.0]]).softmax()
        tensor([[0.5000, 0.5000],
                [0.1192, 0.8808]])
        """
        x = _float(self) if dtype is None else cast(Any, self).to(dtype=dtype)
        axis = axis_of(x, dim if axis is None else by_numpys_name(dim, axis, "softmax", -1), "softmax")
        if not x.numel() or not x.ndim:
            return x * 0.0 + 1.0
        return _along(x, axis, "softmax", "softmax")

    def log_softmax(self, dim: int = -1, dtype: DTypeLike | None = None, *, axis: int | None = None) -> Tensor:
        """Return the logarithm of the softmax along an axis, in another type if one is given.

        >>> minigrad.tensor([0.0, 0.0]).log_softmax()
        tensor([-0.6931, -0.6931])
        """
        x = _float(self) if dtype is None else cast(Any, self).to(dtype=dtype)
        axis = axis_of(x, dim if axis is None else by_numpys_name(dim, axis, "log_softmax", -1), "log_softmax")
        if not x.numel() or not x.ndim:
            return x * 0.0
        return _along(x, axis, "log_softmax", "logsoftmax")

    logsoftmax = log_softmax

    def reduce_with(self, kernel: str, dim: Sequence[int], keepdim: bool = False) -> Tensor:
        """Fold axes away with a kernel, without recording. Forward rules call this method.

        Args:
            kernel: "add", "mul", "max" or "min".
            dim: The axes, counted from 0.
            keepdim: Whether they stay, with size 1.
        """
        x = cast(Any, self)
        return x._of_array(guarded.call(arrays.reduce, kernel, abstract_mode.memory(x), tuple(sorted(dim)), keepdim))

    def view_with(self, method: Literal["permute", "view"], *how: int) -> Tensor:
        """Return a view of the same storage, without recording. Forward rules call this method.

        Args:
            method: The one of `TensorData` that makes the view.
            *how: Its arguments.
        """
        x = cast(Any, self)
        return cast("Tensor", x._new(getattr(x._tensor, method)(*how)))

    # --- products -------------------------------------------------------------------------------------------

    def dot(self, tensor: Tensor) -> Tensor:
        """Return the sum of the products of two vectors' elements.

        Raises:
            ValueError: If they are not two vectors of one length.

        >>> minigrad.tensor([1.0, 2.0]).dot(minigrad.tensor([3.0, 4.0]))
        tensor(11.)
        """
        a, b = cast(Any, self), cast(Any, tensor)
        if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
            raise ValueError(f"dot: {a.shape} and {b.shape}; both must be vectors of one length")
        products = a * b
        return products.sum().to(products.dtype) if products.dtype.kind == "i" else products.sum()

    def matmul(self, other: Tensor) -> Tensor:
        """Multiply matrices in the last two axes. Leading axes broadcast.

        A vector is a row on the left and a column on the right.

        Raises:
            ValueError: If the sizes do not fit, or an operand has no axes.

        >>> a = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> a.matmul(minigrad.tensor([[1.0], [1.0]]))
        tensor([[3.],
                [7.]])
        >>> (minigrad.zeros(5, 2, 3) @ minigrad.zeros(3, 4)).shape
        (5, 2, 4)
        """
        a, b = cast(Any, self), cast(Any, other)
        _check_matmul(a, b)
        if a._array.ndim == 1 and b._array.ndim == 1:
            return a.dot(b)
        if b._array.ndim == 1:
            return (a @ b.unsqueeze(1)).squeeze(-1)
        if a._array.ndim == 1:
            return (a.unsqueeze(0) @ b).squeeze(-2)
        if a._array.dtype != b._array.dtype:
            common = arrays.promote((a._array, b._array))
            a, b = a.to(common), b.to(common)
        return tensor_functions.MatMul.apply(a, b)

    def mm(self, mat2: Tensor) -> Tensor:
        """Multiply two matrices.

        >>> minigrad.eye(2).mm(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[1., 2.],
                [3., 4.]])
        """
        return self._matmul_of(2, "mm", mat2)

    def bmm(self, mat2: Tensor) -> Tensor:
        """Multiply two batches of matrices, of one batch size.

        >>> minigrad.zeros(5, 2, 3).bmm(minigrad.zeros(5, 3, 4)).shape
        (5, 2, 4)
        """
        return self._matmul_of(3, "bmm", mat2)

    def _matmul_of(self, rank: int, name: str, other: Tensor) -> Tensor:
        a, b = cast(Any, self), cast(Any, other)
        if a.ndim != rank or getattr(b, "ndim", 0) != rank or a.shape[:-2] != b.shape[:-2]:
            shapes = f"{a.shape} and {tuple(getattr(b, 'shape', ()))}"
            raise ValueError(f"{name}: {shapes}; both need {rank} axes and the same batch; matmul broadcasts")
        return self.matmul(other)

    # --- comparing whole tensors ----------------------------------------------------------------------------

    def allclose(self, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
        """Return whether all elements differ by at most atol + rtol * |other|.

        >>> minigrad.tensor([1.0]).allclose(minigrad.tensor([1.000001]))
        True
        """
        a, b = (np.asarray(abstract_mode.elements(x) if isinstance(x, Shapes) else x) for x in (self, other))
        return bool(np.allclose(a, b, rtol, atol, equal_nan))

    def equal(self, other: Any) -> bool:
        """Return whether shapes and all elements are the same.

        >>> minigrad.tensor([1.0, 2.0]).equal(minigrad.tensor([1.0, 3.0]))
        False
        """
        a, b = (np.asarray(abstract_mode.elements(x) if isinstance(x, Shapes) else x) for x in (self, other))
        return bool(np.array_equal(a, b))


def _of_the_table(op: Op) -> Any:
    """Make the method of an elementwise operation."""

    def method(self: Tensor) -> Tensor:
        return getattr(functions, op.function).apply(self)

    method.__name__, method.__qualname__ = op.method, f"Methods.{op.method}"
    method.__doc__ = op.documented(f"Return {op.about('every element')}.", f"{{0}}.{op.method}()")
    return method


for _op in OPS.values():
    if _op.method:
        setattr(Methods, _op.method, _of_the_table(_op))


def _along(x: Any, axis: int, form: str, exercise: str) -> Tensor:
    """Apply a closed form along an axis; an edition that has none leaves it to the exercise that it would show."""
    if form in tensor_functions.closed_forms:
        return tensor_functions.closed_forms[form].apply(x, dim=axis)
    return overrides.exercise(f"nn.functional.{exercise}")(x, axis)


def _logsumexp_by_log_softmax(x: Any, axes: Sequence[int], keepdim: bool) -> Tensor:
    """Return log(e^x1 + e^x2 + ...) along axes: the number by which an element exceeds its log-probability."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.permute(*kept, *axes).reshape(*[x.shape[axis] for axis in kept], -1)
    largest = rows.argmax(-1, keepdim=True)  # of all elements the one that is no infinity, if there is any
    result = (rows - rows.log_softmax(-1)).gather(-1, largest).squeeze(-1)
    return result.view(*[1 if axis in axes else n for axis, n in enumerate(x.shape)]) if keepdim else result


def _count_along(x: Any, axes: Sequence[int]) -> int:
    """Return how many elements lie along axes."""
    shape = x._array.shape
    return math.prod([shape[axis] for axis in axes])


def _refuse_integers(x: Any, operation: str) -> None:
    if x._array.dtype.kind != "f":
        raise TypeError(
            f"{operation}: a tensor of {x._array.dtype} has no {operation} of its type; convert it with .float()"
        )


def _refuse_empty(x: Any, axes: Sequence[int], operation: str) -> None:
    for axis in axes:
        if x._array.shape and x._array.shape[axis] == 0:
            raise ValueError(f"{operation}: a tensor of shape {x.shape} has no element along axis {axis}")


def _check_matmul(a: Any, b: Any) -> None:
    if not hasattr(b, "_array"):
        raise TypeError(f"matmul: the other factor must be a Tensor, not {type(b).__name__}")
    left, right = a._array.shape, b._array.shape
    if not left or not right:
        raise ValueError(f"matmul: {left} times {right}; both factors need at least one axis, use * for numbers")
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        raise ValueError(
            f"matmul: {left} times {right}; the last axis of the first has size {left[-1]}, the "
            f"{'second to last' if len(right) > 1 else 'only'} axis of the second {inner}; they must match"
        )
    if a._array.__class__ is not b._array.__class__ and a.device != b.device:
        raise ValueError(f"matmul: {left} is on {a.device!r}, {right} on {b.device!r}; move one with .to(device)")
    if left[:-2] != right[:-2]:
        tensor_data.shape_broadcast(left[:-2], right[:-2])
