"""Gradients on demand, by PyTorch's names: `grad` returns them instead of adding them to leaves."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad.autodiff import enable_grad, grad_mode, is_grad_enabled, no_grad
from minigrad.functions import Function
from minigrad.gradient_check import gradcheck, gradgradcheck
from minigrad.machine.first_use import first_use
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


class set_grad_enabled:  # noqa: N801 - PyTorch's name
    """Record from now on, or not; as a context manager until its end, as a decorator while the function runs.

    Args:
        mode: Whether to record.

    >>> x = minigrad.ones(2, requires_grad=True)
    >>> with minigrad.set_grad_enabled(False):
    ...     (x * 2.0).requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before = grad_mode.enabled
        grad_mode.enabled = bool(mode)

    def __enter__(self) -> None:
        grad_mode.enabled = bool(self.mode)

    def __exit__(self, *error: object) -> None:
        grad_mode.enabled = self.before

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that records, or does not, while it runs."""
        grad_mode.enabled = self.before

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(self.mode):
                return function(*args, **kwargs)

        return wrapped


def inference_mode(mode: Any = True) -> Any:
    """Compute without recording, as `no_grad`; with mode=False go on as before.

    >>> x = minigrad.ones(2, requires_grad=True)
    >>> with minigrad.inference_mode():
    ...     (x * 2.0).requires_grad
    False
    """
    if callable(mode):
        return no_grad(mode)
    return no_grad() if mode else enable_grad() if grad_mode.enabled else no_grad()
