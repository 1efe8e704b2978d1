"""The engine of tensors: what a function hands to its backward rule, and two duties towards every gradient.

A rule never has to sum its gradient to an input's shape; the backward pass does, by `unbroadcast`. The pass itself is
`autodiff.backpropagate`, which serves tensors as well (`minigrad.backward.specification`), and its quick twin
`minigrad.backward.walk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minigrad.autodiff import Context, grad_mode
from minigrad.errors import FunctionError, GraphError
from minigrad.functions import OUTPUT, Function, saved_pattern

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = [
    "During",
    "TensorContext",
    "accumulate_grad",
    "context_of",
    "elementwise_context",
    "made_in_forward",
    "unbroadcast",
]


def unbroadcast(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum a gradient to the shape of an input that was broadcast.

    An element that was repeated moved every place it was repeated to: its derivative is
    the sum over all of them. So the gradient is summed over the axes along which the
    input was repeated, those that it does not have (shapes are aligned at their last
    axes) and those where its size is 1 and the gradient's is not, be it even 0.

    For the shape (3, 1), a gradient of shape (2, 3, 4) is summed over the axes 0 and 2.
    ``gradient.sum(dim=axes)`` drops the axes in the tuple axes, and ``sum(dim=axes,
    keepdim=True)`` keeps them with size 1; ``view(*shape)`` changes the shape. These
    methods are recorded where the gradient is to be differentiated again; what goes by
    way of an array is not.

    Args:
        gradient: The gradient in the shape that the input was broadcast to.
        shape: The input's own shape, perhaps with fewer axes.

    Returns:
        The gradient in the input's own shape.
    """
    ### BEGIN SOLUTION
    padded = (1,) * (gradient.ndim - len(shape)) + shape
    repeated = [axis for axis, size in enumerate(padded) if size != gradient.shape[axis]]
    return gradient.sum(dim=repeated).view(*shape)
    ### END SOLUTION


def accumulate_grad(leaf: Tensor, gradient: Tensor) -> None:
    """Add one backward pass's gradient to what a leaf has from earlier ones, its ``leaf.grad``.

    The first gradient is stored as a copy, since its memory may be another tensor's
    too. A later sum is a new tensor, so that who holds the earlier gradient still has
    its values. Both are recorded where gradients are to be differentiated again.

    Args:
        leaf: A tensor with ``grad``: None, or a tensor of the leaf's shape.
        gradient: The gradient, of the leaf's shape; it is left as it is.
    """
    leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient


@dataclass(frozen=True)
class During:
    """When a function's forward on tensors ran, by the clock of `minigrad.backward.changes`."""

    function: str
    begun: int
    ended: int


class TensorContext(Context):
    """The values that a function of tensors hands from forward to backward.

    Attributes:
        saved_values: What `save_for_backward` was given: arrays or tensors, and anything else.
        values: What forward was called with.
        inputs: The tensors and numbers that the values belong to.
        output: The tensor that forward's result belongs to.
        options: The keyword arguments of forward.
    """

    saved_values: tuple[Any, ...] = ()
    output: Any = None
    result: Any = None
    tensors = False
    constants: tuple[Any, ...] = ()
    during: During | None = None

    if TYPE_CHECKING:  # a function may keep anything else here, under any name

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, inputs: Sequence[Any], values: Sequence[Any], options: dict[str, Any]) -> None:
        self.inputs = inputs
        self.values = values  # type: ignore[assignment]
        self.options = options

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each input, whether its gradient is asked for."""
        return tuple([getattr(x, "requires_grad", False) for x in self.inputs])

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Let forward's result be a constant."""
        self.__dict__["constants"] = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Take PyTorch's switch, without effect: the gradient of a single output is never missing."""

    def mark_dirty(self, *inputs: Any) -> None:
        """Refuse functions that change their inputs.

        Raises:
            FunctionError: Always.
        """
        raise FunctionError("ctx.mark_dirty: a Function does not change its inputs; return a new tensor from forward")

    def save_for_forward(self, *values: Any) -> None:
        """Refuse a second list of saved values.

        Raises:
            FunctionError: Always.
        """
        raise FunctionError("ctx.save_for_forward: jvp reads what save_for_backward kept; use that")

    def as_variables(self) -> TensorContext:
        """Return the same context with tensors in place of saved arrays, so that a rule itself is recorded."""
        if self.tensors:
            return self
        twin = self._with([self._variable_of(value) for value in self.saved_values])
        if self.during is not None and grad_mode.enabled:
            kept = {key: self._without_history(value) for key, value in self.__dict__.items() if key != "saved_values"}
            twin.__dict__.update(kept)
        twin.__dict__["tensors"] = True
        return twin

    def _variable_of(self, saved: Any) -> Any:
        if not hasattr(saved, "dtype"):
            return saved
        for value, variable in zip(self.values, self.inputs, strict=True):
            if value is saved:
                return variable
        if saved is getattr(self.output, "_array", None) or saved is self.result:
            return self.output
        if hasattr(saved, "chain_rule"):
            return self._without_history(saved)
        like = self.output if self.output is not None else self.inputs[0]
        return like.from_host(saved)  # a constant: an index, a mask

    def _without_history(self, value: Any) -> Any:
        """Give what a forward on tensors made and kept a history that ends with an error.

        Forward is not recorded, so such a value would pass for a constant when the rule is differentiated.
        """
        if not hasattr(value, "chain_rule") or self.during is None or not grad_mode.enabled:
            return value
        during = self.during
        if value is self.output or not during.begun < value._tick < during.ended or value.dtype.kind != "f":
            return value
        return made_in_forward(value, [x for x in self.inputs if getattr(x, "requires_grad", False)], during)

    def _with(self, saved: Iterable[Any]) -> TensorContext:
        twin = TensorContext.__new__(TensorContext)
        twin.__dict__.update(self.__dict__)
        twin.saved_values = tuple(saved)
        return twin


def made_in_forward(value: Any, wanted: Sequence[Any], during: During) -> Any:
    """Return a value that forward made and kept, with a history that ends with an error.

    Args:
        value: A tensor without a history.
        wanted: The inputs of the function that want gradients.
        during: When forward ran.
    """
    if not wanted or value.dtype.kind != "f":
        return value
    node, behind = value.detach(), (value, *wanted)
    node._requires_grad, node._fn, node._inputs = True, _MadeInForward, behind
    node._ctx = TensorContext(behind, [x._array for x in behind], {"of": during.function})
    return node


class _MadeInForward(Function):
    """A value that a forward on tensors made and kept, so that its derivative was not recorded."""

    raw = True

    @staticmethod
    def forward(ctx: Any, *values: Any, of: str = "") -> Any:
        """Return the first value; the others are inputs of the function named `of`."""
        return values[0]

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> Any:
        """Refuse: a term of the second derivative would be missing.

        Raises:
            GraphError: Always.
        """
        raise GraphError(_unknown(ctx))

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """Refuse likewise.

        Raises:
            GraphError: Always.
        """
        raise GraphError(_unknown(ctx))


_MadeInForward.__name__ = "MadeInForward"  # as graphs call it


def _unknown(ctx: Any) -> str:
    shape = tuple(ctx.inputs[0].shape)
    return (
        f"{ctx.options['of']}.backward: it uses a value of shape {shape} that forward computed and kept, whose own "
        "derivative is unknown, so a second derivative would lack a term; save inputs or the output and compute the "
        "value from them in backward, or save a mask as booleans"
    )


def elementwise_context(result: Tensor) -> TensorContext:
    """Return the context of an elementwise result, with tensors for the saved values."""
    inputs = result._inputs
    ctx = TensorContext(inputs, [getattr(x, "_array", x) for x in inputs], {})
    ctx.output, ctx.tensors = result, True
    places = saved_pattern(result._fn, len(inputs))
    ctx.saved_values = tuple([result if place == OUTPUT else inputs[place] for place in places])
    return ctx


def context_of(result: Tensor) -> TensorContext:
    """Return the context of any recorded result, knowing its inputs and output."""
    if result._ctx is None:
        return elementwise_context(result)
    ctx = result._ctx._with(result._ctx.saved_values)
    ctx.inputs, ctx.output = result._inputs, result
    return ctx  # type: ignore[no-any-return]
