"""The installed packages that a sandbox shows: what a student's code may use, and what that needs.

It is the same on every machine, but for what a course requires besides. What else a machine has installed, an answer in
other words among it, is not there.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from pathlib import Path

from packaging.requirements import Requirement

SHOWN = ("numpy", "numba", "matplotlib", "cloudpickle", "ipython", "anywidget", "rich")
"""Distributions that a sandbox shows, with those that they require."""


class PackageMissing(Exception):
    """A distribution is not installed; the message says which, and what to do."""


@cache
def packages(requires: tuple[str, ...] = ()) -> tuple[tuple[Path, str], ...]:
    """Files and folders of the allowed packages, and where each belongs in a folder of packages.

    What is required and not installed is left out, as Python would.

    Args:
        requires: Distributions that a course requires besides.
    """
    found, to_do, seen = dict[str, Path](), [*SHOWN, *requires], set[str]()
    while to_do:
        name = to_do.pop()
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        if installed.name in seen:
            continue
        seen.add(installed.name)
        needed = map(Requirement, installed.requires or ())
        to_do += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
        places = {"/".join(parts) for parts in _places(file.parts for file in installed.files or ())}
        found |= {place: Path(str(installed.locate_file(place))).resolve() for place in places}
    return tuple((path, place) for place, path in sorted(found.items()) if path.exists())


def modules_of(requires: Iterable[str]) -> frozenset[str]:
    """The names by which distributions are imported that are installed here."""
    files = (parts for name in requires for parts in _places(file.parts for file in distribution(name).files or ()))
    names = (parts[0].removesuffix(".py") for parts in files)
    return frozenset(name for name in names if name.isidentifier() and name != "__pycache__")


def versions_of(requires: Iterable[str]) -> dict[str, str]:
    """The installed versions of distributions.

    Raises:
        PackageMissing: If one is not installed.
    """
    return {name: _version(name) for name in requires}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        if meant := packages_distributions().get(name):
            raise PackageMissing(f"{name!r}, which is a name to import; write {meant[0]!r}, as pip does") from None
        raise PackageMissing(
            f"{name!r}, which is not installed here; install it by `{sys.executable} -m pip install {name}`, or "
            "correct the name"
        ) from None


def _places(files: Iterator[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The folders and files at the top; of the folder of compiled modules, which all packages share, single files."""
    for parts in files:
        if parts[0] != "..":
            yield parts[:2] if parts[0] == "__pycache__" else parts[:1]
