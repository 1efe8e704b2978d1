"""Softmax, its logarithm and the logarithm of a sum of exponentials, each as one function with its own rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad import functions
from minigrad.backends import arrays
from minigrad.machine import overrides
from minigrad.tensor_functions import AlongAxes, closed_forms, sum_over, with_axes

if TYPE_CHECKING:
    from minigrad.engine import TensorContext
    from minigrad.tensors import Tensor

SHOWS = ("nn.functional.softmax", "nn.functional.logsoftmax")


class LogSumExp(AlongAxes):
    """log(e^a1 + e^a2 + ...) over some axes, without overflow."""

    raw = True

    @staticmethod
    def forward(
        ctx: TensorContext,
        a: Any,
        dim: tuple[int, ...],
        keepdim: bool = False,
    ) -> Any:
        """Take the largest element m out first: m + log(sum of e^(a - m))."""
        ctx.dim, ctx.keepdim = dim, keepdim
        highest = arrays.reduce("max", a, dim, True)
        highest = arrays.elementwise(
            "where", arrays.elementwise("eq", arrays.elementwise("sub", highest, highest), 0.0), highest, 0.0
        )
        powers = arrays.elementwise("exp", arrays.elementwise("sub", a, highest))
        total = arrays.elementwise("log", arrays.reduce("add", powers, dim, True))
        output = arrays.elementwise("add", total, highest)
        if not keepdim:
            output = arrays.reshape(output, tuple(n for axis, n in enumerate(a.shape) if axis not in dim))
        ctx.save_for_backward(a, output)
        return output

    @classmethod
    def backward(cls, ctx: TensorContext, d_output: Any) -> Any:
        """The derivative is e^(a - output): the softmax."""
        a, output = ctx.saved_values
        weights = functions.exp(a - with_axes(output, a.shape, ctx))
        return with_axes(d_output, a.shape, ctx) * weights

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Weigh the changes with the softmax."""
        a, output = ctx.as_variables().saved_values
        weights = functions.exp(a - with_axes(output, a.shape, ctx))
        return sum_over(weights * tangents[0], ctx.dim, ctx.keepdim)


class Softmax(AlongAxes):
    """e^a over the sum of e^a along an axis."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dim: int) -> Any:
        """Take the largest element out first, so that nothing overflows."""
        ctx.dim = dim
        form = arrays.fused("softmax", a, dim)
        if form:
            output = form(a)
        else:
            highest = arrays.reduce("max", a, (dim,), True)
            powers = arrays.elementwise("exp", arrays.elementwise("sub", a, highest))
            output = arrays.elementwise("div", powers, arrays.reduce("add", powers, (dim,), True))
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Each output grows with its own input, and shrinks with all of them."""
        (y,) = ctx.saved_values
        form = arrays.fused("softmax_backward", d_output, ctx.dim)
        if form:
            return form(d_output, y)
        return y * (d_output - sum_over(d_output * y, (ctx.dim,), True))

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The matrix of derivatives is symmetric: forward and backward are the same product."""
        return cls.backward(ctx.as_variables(), tangents[0])

    @staticmethod
    def steps(x: Tensor, dim: int) -> Tensor:
        """Compute the same by operations of tensors, which loops can fuse."""
        powers = (x - x.amax(dim, keepdim=True)).exp()
        return powers * (1.0 / powers.sum(dim, keepdim=True))


class LogSoftmax(AlongAxes):
    """The logarithm of the softmax along an axis: a - log(sum of e^a)."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, a: Any, dim: int) -> Any:
        """Take the largest element out first, and never the logarithm of a small softmax."""
        ctx.dim = dim
        form = arrays.fused("log_softmax", a, dim)
        if form:
            output = form(a)
        else:
            shifted = arrays.elementwise("sub", a, arrays.reduce("max", a, (dim,), True))
            total = arrays.reduce("add", arrays.elementwise("exp", shifted), (dim,), True)
            output = arrays.elementwise("sub", shifted, arrays.elementwise("log", total))
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Each output grows with its own input, and shrinks with all of them, by their softmax."""
        (y,) = ctx.saved_values
        form = arrays.fused("log_softmax_backward", d_output, ctx.dim)
        if form:
            return form(d_output, y)
        return d_output - functions.exp(y) * sum_over(d_output, (ctx.dim,), True)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The change of the input, less its mean under the softmax."""
        (y,) = ctx.as_variables().saved_values
        return tangents[0] - sum_over(functions.exp(y) * tangents[0], (ctx.dim,), True)

    @staticmethod
    def steps(x: Tensor, dim: int) -> Tensor:
        """Compute the same by operations of tensors, which loops can fuse."""
        shifted = x - x.amax(dim, keepdim=True)
        return shifted - shifted.exp().sum(dim, keepdim=True).log()


for _name, _form in (("softmax", Softmax), ("log_softmax", LogSoftmax), ("logsumexp", LogSumExp)):
    overrides.twin(closed_forms, _name, _form, unless=())
