"""Names of a module that are found when they are first used, and what is said of those that it does not have."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from minigrad.machine.missing import missing


def first_use(package: str, module_of: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` (PEP 562).

    Args:
        package: The package, or a module, for example ``"minigrad.draw"``.
        module_of: For each name, the module of the package that defines it, or ``".sibling"`` of a module; none for a
            module that has all its names.
    """

    def getattr_(name: str) -> Any:
        if name in module_of:
            return getattr(importlib.import_module(f".{module_of[name]}", package), name)
        raise missing(package, name, sys.modules[package])

    def dir_() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return getattr_, dir_
