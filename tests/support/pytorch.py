"""PyTorch, imported when something of it is first asked for: that takes seconds, and few of the tests need it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

__all__ = ["torch"]


class Later:
    """A module that is imported with the first of its attributes; a test that asks is skipped where there is none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # pytest looks at every name of a test module
            raise AttributeError(name)
        try:
            return getattr(import_module(self._name), name)
        except ModuleNotFoundError:
            pytest.skip(f"{self._name} is not installed (extra bench): nothing to compare with")


torch: Any = Later("torch")
