"""Packages that may be missing: the grader in a class, Numba in a browser.

Without Numba, NumPy computes arrays of every size (`backends.uncompiled`). A check that needs Numba is named in its
report and left out of the verdict. Modules that cannot do without a package refuse with one sentence.
"""

from __future__ import annotations

import importlib.util

from minigrad.errors import MissingPackage

_TITLES = {"numba": "Numba"}


def is_installed(package: str) -> bool:
    """Return whether a package can be imported; nothing is imported.

    >>> from minigrad.machine.packages import is_installed
    >>> is_installed("math"), is_installed("no_such_package")
    (True, False)
    """
    return importlib.util.find_spec(package) is not None


def has_grader() -> bool:
    """Return whether the grader can be imported. The library never imports it: `minigrad grade` starts it."""
    found = importlib.util.find_spec("autograder")
    return found is not None and bool(found.origin)


def require(package: str) -> None:
    """Refuse with one sentence if a package is missing.

    Raises:
        MissingPackage: If it is.
    """
    if not is_installed(package):
        title = _TITLES.get(package, package)
        raise MissingPackage(
            f"this needs {title}, which is not installed here: `pip install {package}` brings it; in a browser there "
            "is none, so run this on your own computer"
        )
