"""How long the threads of NumPy's BLAS wait: decided when minigrad is imported, if NumPy was not imported before.

OpenBLAS's threads wait for the next product in a busy loop, for up to a tenth of a second, in the way of the threads
that compute everything between two products: a training step that alternates takes an eighth longer. The variable is
read when the library is loaded. Whoever has set it decides.
"""

from __future__ import annotations

import os
import sys

__all__ = ["SWITCH", "choose"]

SWITCH = "OPENBLAS_THREAD_TIMEOUT"

CYCLES = "12"
"""The power of two of processor cycles after which a thread goes to sleep. To be woken takes it some microseconds."""


def choose() -> None:
    """Let threads of BLAS sleep soon, where that can still be chosen."""
    if "numpy" not in sys.modules:
        os.environ.setdefault(SWITCH, CYCLES)
