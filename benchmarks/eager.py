"""minigrad without `jit`: the same library under a name of its own, so that it can stand beside itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad

__all__ = ["jit"]


def jit(fun: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return the function as it is."""
    return fun


def __getattr__(name: str) -> Any:
    return getattr(minigrad, name)
