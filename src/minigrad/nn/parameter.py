"""Parameters: tensors that belong to a module and are trained."""

from __future__ import annotations

from typing import Any

from minigrad.tensors import Tensor, abstract_mode


class Parameter(Tensor):
    """A tensor that a `Module` registers when it is assigned to an attribute.

    Args:
        data: The starting values: a tensor of any shape and a floating dtype. Memory is shared with it.
        requires_grad: Whether training computes its gradient.

    Other attributes may be assigned, such as ``p.no_weight_decay = True`` to sort parameters into groups.

    >>> minigrad.nn.Parameter(minigrad.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    __slots__ = ("__dict__",)  # marks of the user's own: ``p.no_weight_decay = True``

    def __init__(self, data: object, requires_grad: bool = True) -> None:
        super().__init__(data._array if isinstance(data, Tensor) else data, requires_grad)
        if abstract_mode.running.trace is not None:
            abstract_mode.running.trace.note_shared(self, data)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        twin = super().__deepcopy__(memo)
        twin.grad = None  # as in PyTorch: a copy of a network starts without gradients
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (*super().__reduce_ex__(protocol), self.__dict__ or None)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{Tensor(self._array, self.requires_grad)!r}"
