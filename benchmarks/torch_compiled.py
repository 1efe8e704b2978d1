"""PyTorch with `torch.compile`, under a name of its own, so that it can stand beside PyTorch without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["jit"]


def jit(fun: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return the function as PyTorch's compiler makes it, for the shapes that it is given."""
    return torch.compile(fun, dynamic=False)


def __getattr__(name: str) -> Any:
    return getattr(torch, name)
