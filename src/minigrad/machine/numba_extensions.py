"""Numba's extensions in C, loaded without Numba, whose import takes a third of a second."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any


def extension(name: str) -> Any:
    """Return an extension by its name in ``numba.np.ufunc``.

    >>> from minigrad.machine.numba_extensions import extension
    >>> extension("_internal").fromfunc
    <built-in function fromfunc>
    """
    whole = f"numba.np.ufunc.{name}"
    if "numba" in sys.modules:
        return importlib.import_module(whole)
    numba = find_spec("numba")
    folders = (
        [] if numba is None else [str(Path(each, "np", "ufunc")) for each in numba.submodule_search_locations or ()]
    )
    found = PathFinder.find_spec(whole, folders)
    if found is None or found.loader is None:
        raise ImportError(f"Numba has no {name} here")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def offer_tbb() -> None:
    """Load the tbb of this environment, which lies where the system's loader does not look."""
    path = Path(sys.prefix) / "lib" / "libtbb.so.12"
    with suppress(OSError):  # it is not there, or cannot be loaded, and Numba has other ways
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def keep_openmp_from_spinning() -> None:
    """Load GNU OpenMP with another setting than its own.

    Its threads wait in a busy loop, for milliseconds, in the way of every other thread: on a machine with something
    else to do a small kernel takes ten times as long. The variable is read when the library is loaded, and other copies
    of it in this process keep their own manners.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        return
    os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        with suppress(ImportError):  # there is none on every system
            extension("omppool")
    finally:
        del os.environ["GOMP_SPINCOUNT"]
