"""Pyodide's list of packages, `pyodide-lock.json`: what depends on what, which file it is, and which modules it brings.

Pyodide loads a package when a cell imports one of its modules, so that a site whose list names its own wheels needs no
cell that installs anything.
"""

from __future__ import annotations

import email
import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["canonical", "closure", "entry", "reduced"]

Lock = dict[str, Any]


def canonical(name: str) -> str:
    """Return a package's name as lists of packages spell it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(lock: Lock, names: Iterable[str]) -> list[str]:
    """Return these packages and all that they depend on, sorted."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonical(waiting.pop())
        if name not in found:
            found.add(name)
            waiting += lock["packages"][name]["depends"]
    return sorted(found)


def entry(wheel: Path, depends: Iterable[str] = ()) -> dict[str, Any]:
    """Return what the list says of a wheel.

    Args:
        wheel: A wheel without compiled parts.
        depends: The packages that are loaded with it. What its metadata asks for is left to the caller: a browser has
            no use for some of it.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = email.message_from_bytes(archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))))
    modules = {
        name.partition("/")[0].removesuffix(".py") for name in names if not re.match(r"[^/]+\.(dist-info|data)/", name)
    }
    return {
        "depends": sorted(map(canonical, depends)),
        "file_name": wheel.name,
        "imports": sorted(name for name in modules if name.isidentifier()),
        "install_dir": "site",
        "name": canonical(str(about["Name"])),
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "unvendored_tests": False,
        "version": str(about["Version"]),
    }


def reduced(lock: Lock, kept: Iterable[str], added: Iterable[Mapping[str, Any]]) -> Lock:
    """Return a list with some packages of another one, and with wheels of one's own.

    Args:
        lock: Pyodide's own list.
        kept: The names of the packages that the site has.
        added: Entries, as `entry` makes them; they take the place of packages of the same name.
    """
    packages = {name: dict(lock["packages"][name]) for name in kept} | {each["name"]: dict(each) for each in added}
    for each in packages.values():  # a package that the site does not have cannot be loaded with another one
        each["depends"] = [name for name in each["depends"] if canonical(name) in packages]
    return {"info": lock["info"], "packages": dict(sorted(packages.items()))}
