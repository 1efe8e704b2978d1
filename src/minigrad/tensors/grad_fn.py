"""`grad_fn`: the computation graph as PyTorch shows it, one object for each backward step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.errors import GraphError

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class GradFn:
    """The backward step of a result, or, for a leaf, the step that adds to its ``grad``.

    Args:
        tensor: The result or leaf.

    Attributes:
        variable: The leaf, where this is its ``AccumulateGrad``, or None for a result.

    >>> x = minigrad.tensor([1.0], requires_grad=True)
    >>> (x * 2).grad_fn
    <MulBackward0>
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.variable = tensor if tensor._fn is None else None

    def name(self) -> str:
        """Return the name by PyTorch's pattern, such as ``"MulBackward0"``.

        >>> x = minigrad.tensor([1.0], requires_grad=True)
        >>> x.exp().grad_fn.name()
        'ExpBackward0'
        """
        return "AccumulateGrad" if self._tensor._fn is None else f"{self._tensor._fn.__name__}Backward0"

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """The steps that this one hands its gradients to, one for each input, or None where an input wants none.

        >>> x = minigrad.tensor([1.0], requires_grad=True)
        >>> len((x.exp() + x).grad_fn.next_functions)
        2
        """
        if self._tensor._inputs is None:
            raise GraphError(f"next_functions: the graph of this {self.name()} was freed by a backward pass")
        wants = [getattr(x, "requires_grad", False) for x in self._tensor._inputs]
        return tuple((GradFn(x) if w else None, 0) for x, w in zip(self._tensor._inputs, wants, strict=True))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, GradFn) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<{self.name()}>"
