"""PyTorch, imported when something of it is first asked for: that takes seconds, and few of the tests need it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

__all__ = ["draw_anew", "torch"]


class Later:
    """A module that is imported with the first of its attributes; a test that asks is skipped where there is none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # pytest looks at every name of a test module
            raise AttributeError(name)
        loaded = self._name in sys.modules
        try:
            module = import_module(self._name)
        except ModuleNotFoundError:
            without = f"{self._name} is not installed (extra bench): nothing to compare with"
            pytest.skip(without, allow_module_level=True)
        if not loaded:
            draw_anew()
        return getattr(module, name)


torch: Any = Later("torch")


def draw_anew() -> None:
    """Let PyTorch, where it was imported, draw the same numbers in every run: a red test is red for the next person."""
    if "torch" in sys.modules:
        # `manual_seed` would seed every device as well, and keep a copy of the stack for those that are not in use.
        sys.modules["torch"].default_generator.manual_seed(0)
