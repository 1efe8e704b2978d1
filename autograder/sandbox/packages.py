"""The installed packages that a sandbox shows: what a student's code may use, and what that needs.

It is the same on every machine, but for what a course requires besides. What else a machine has installed, an answer in
other words among it, is not there.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ALLOWED = ("numpy", "numba", "matplotlib", "cloudpickle", "ipython", "anywidget", "rich")
"""Distributions that a sandbox shows, with those that they require."""


@cache
def packages(requires: tuple[str, ...] = ()) -> tuple[tuple[Path, str], ...]:
    """Files and folders of the allowed packages, and where each belongs in a folder of packages.

    What is required and not installed is left out, as Python would.

    Args:
        requires: Distributions that a course requires besides.
    """
    found, to_do, seen = dict[str, Path](), [*ALLOWED, *requires], set[str]()
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


def _places(files: Iterator[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The folders and files at the top; of the folder of compiled modules, which all packages share, single files."""
    for parts in files:
        if parts[0] != "..":
            yield parts[:2] if parts[0] == "__pycache__" else parts[:1]
