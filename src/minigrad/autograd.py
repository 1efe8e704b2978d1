"""Gradients on demand, by PyTorch's names: `grad` returns them instead of adding them to leaves."""

from __future__ import annotations

from minigrad.autodiff import enable_grad, is_grad_enabled, no_grad
from minigrad.functions import Function
from minigrad.gradient_check import gradcheck, gradgradcheck
from minigrad.tensors.gradients import backward, grad, jvp

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "jvp",
    "no_grad",
]
