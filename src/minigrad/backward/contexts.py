"""The contexts of functions of tensors: they keep arrays at first, and tensors when a rule itself is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from minigrad.autodiff import Context
from minigrad.functions import OUTPUT, saved_pattern

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = ["OUTPUT", "TensorContext", "context_of", "saved_pattern"]


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

    def __init__(self, inputs: Sequence[Any], values: Sequence[Any], options: dict[str, Any]) -> None:
        self.inputs = inputs
        self.values = values  # type: ignore[assignment]
        self.options = options

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each input, whether its gradient is asked for."""
        return tuple([getattr(x, "requires_grad", False) for x in self.inputs])

    def as_variables(self) -> Context:
        """Return the same context with tensors in place of saved arrays, so that a rule itself is recorded."""
        if self.tensors:
            return self
        twin = self._with([self._variable_of(value) for value in self.saved_values])
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
            return saved
        like = self.output if self.output is not None else self.inputs[0]
        return like.from_host(saved)  # a constant: an index, a mask

    def _with(self, saved: Iterable[Any]) -> Context:
        twin = TensorContext.__new__(TensorContext)
        twin.__dict__.update(self.__dict__)
        twin.saved_values = tuple(saved)
        return twin


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
