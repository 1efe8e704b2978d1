"""Gradients on demand, by PyTorch's names: `grad` returns them instead of adding them to leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from minigrad.autodiff import enable_grad, grad_mode, is_grad_enabled, no_grad
from minigrad.functions import Function
from minigrad.gradient_check import gradcheck, gradgradcheck
from minigrad.machine.first_use import first_use
from minigrad.machine.modes import F, Mode, Setting
from minigrad.tensors.gradients import backward, grad, jvp

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "jvp",
    "no_grad",
    "set_grad_enabled",
]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


class set_grad_enabled(Setting):  # noqa: N801 - PyTorch's name
    """Record from now on, or not; as a context manager until its end, as a decorator while the function runs.

    Args:
        mode: Whether to record.

    >>> x = minigrad.ones(2, requires_grad=True)
    >>> with minigrad.set_grad_enabled(False):
    ...     (x * 2.0).requires_grad
    False
    """

    __slots__ = ()

    def __init__(self, mode: bool) -> None:
        super().__init__(
            grad_mode, "enabled", bool(mode), "set_grad_enabled(True)" if mode else "set_grad_enabled(False)"
        )


@overload
def inference_mode(mode: bool = True) -> Mode: ...
@overload
def inference_mode(mode: F) -> F: ...
def inference_mode(mode: Any = True) -> Any:
    """Compute without recording, as `no_grad`; with mode=False record, as `enable_grad`.

    >>> x = minigrad.ones(2, requires_grad=True)
    >>> with minigrad.inference_mode():
    ...     (x * 2.0).requires_grad
    False
    """
    if isinstance(mode, bool):
        return Mode(grad_mode, "enabled", not mode, f"inference_mode({mode})")
    return Mode(grad_mode, "enabled", False, "inference_mode()")(mode)
