"""minigrad: the heart of PyTorch, rebuilt from scratch, to be read and to be rewritten.

Only what a first expression needs is imported here; everything else is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from minigrad import autodiff, errors, functions, operators, scalar
from minigrad.autodiff import enable_grad, no_grad
from minigrad.functions import Function
from minigrad.scalar import Scalar

if TYPE_CHECKING:
    from minigrad.checks import check as check
    from minigrad.exercises import use as use

__all__ = [
    "Function",
    "Scalar",
    "autodiff",
    "check",
    "enable_grad",
    "errors",
    "functions",
    "no_grad",
    "operators",
    "scalar",
    "use",
]

__version__ = "0.1.0"

_lazy_modules = ("checks", "datasets", "derivatives", "draw", "exercises", "mlp", "module")
_lazy_names = {"check": "minigrad.checks", "use": "minigrad.exercises"}


def __getattr__(name: str) -> Any:
    if name in _lazy_modules:
        return importlib.import_module(f"minigrad.{name}")
    if name in _lazy_names:
        return getattr(importlib.import_module(_lazy_names[name]), name)
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_lazy_modules, *_lazy_names})


def load_ipython_extension(shell: Any) -> None:
    """Register the ``%minigrad`` magic (``%load_ext minigrad``)."""
    from minigrad.magics import register

    register(shell)


try:
    from minigrad import fast
except ImportError:  # an edition for students leaves out the twins, which give answers away
    pass
else:
    fast.enable()
