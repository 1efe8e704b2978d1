"""Collects findings, each once, and puts them into words."""

from __future__ import annotations

import ast
import os
import types
from collections.abc import Callable
from typing import Any

from minigrad.debug.memory import ATOMIC, READ, WRITE, Access
from minigrad.debug.report import Race
from minigrad.debug.source import line_of

Site = tuple[types.CodeType, int, int]
"""The place of an access: the code and its line, and the line of the kernel, or of the loop, that led there."""

_CONSEQUENCES = frozenset(("write-write", "read-write", "uninitialised", "lost", "endless"))


class Findings:
    """The findings of all runs, each once for its kind, array and lines.

    Args:
        file: The kernel's file: findings name only others.
    """

    def __init__(self, file: str = "") -> None:
        self._file = file
        self._races: dict[Any, Race] = {}
        self._elements: dict[Any, set[Any]] = {}

    def add(self, key: object, element: object, make: Callable[[], Race]) -> None:
        """Add a finding, or one more element that shows it.

        Args:
            key: What makes it different from other findings.
            element: What shows it.
            make: Makes the finding, when it is new.
        """
        if key not in self._races:
            self._races[key] = race = make()
            race.file, race.other_file = self._named(race.file), self._named(race.other_file)
            self._elements[key] = set()
        self._elements[key].add(element)

    def _named(self, file: str) -> str:
        """Return a finding's name for a file. The files of a notebook's cells have meaningless names."""
        if file in ("", self._file):
            return ""
        return "another cell" if "ipykernel" in file or file.startswith("<") else os.path.basename(file)

    def list(self) -> tuple[Race, ...]:
        """Return the findings with their counts, causes before their consequences."""
        for key, race in self._races.items():
            race.count = len(self._elements[key])
        return tuple(sorted(self._races.values(), key=lambda race: race.kind in _CONSEQUENCES))


def places(code: types.CodeType, line: int, other: types.CodeType | None = None, other_line: int = 0) -> dict[str, Any]:
    """Return a finding's words about one line, or about two."""
    source = line_of(code.co_filename, line)
    found = {"line": line, "source": source, "function": code.co_name, "file": code.co_filename}
    if other is not None:
        found |= {
            "other_line": other_line,
            "other_source": line_of(other.co_filename, other_line),
            "other_function": other.co_name,
            "other_file": other.co_filename,
        }
    return found


def _sites(first: Site, second: Site) -> dict[str, Any]:
    return {**places(*first[:2], *second[:2]), "loop_line": first[2], "other_loop_line": second[2]}


def iterations_collide(kind: str, address: int, access: Access, how: int, other: Access) -> Race:
    """Name the element in which two iterations meet, and the usual reason.

    Args:
        kind: ``"write-write"`` or ``"read-write"``.
        address: The element.
        access: The later access.
        how: Whether it reads or writes.
        other: The earlier access.
    """
    (second, site, root), (first, other_site, other_root) = access, other
    element, name = root.element(address), root.name or "an array"
    acts = ("reads" if kind == "read-write" and how == WRITE else "writes", "writes" if how == WRITE else "reads")
    if kind == "write-write":
        message = f"{element} is written by iteration {first} and by iteration {second}"
    else:
        writer, reader = (second, first) if how == WRITE else (first, second)
        message = f"{element} is written by iteration {writer} and read by iteration {reader}"
    if other_root is not root:
        message += f"; {other_root.element(address)} is the same element of memory"
    message += _advice(site, other_site, name, root.line)
    return Race(kind, message, name, root.index_of(address), first, second, **_sites(other_site, site), acts=acts)


def _advice(site: Site, other: Site, name: str, made: int) -> str:
    text = line_of(site[0].co_filename, site[1]) if site == other else ""
    sign = _adds(text)
    if sign:
        return f". If all of them are to contribute to it, {_reduction(text, name, sign)}"
    if made:
        return (
            f". All iterations share {name}, which is made before the loop (line {made}): if it is made inside the "
            "loop, each iteration has its own"
        )
    return ""


def _reduction(text: str, name: str, sign: str) -> str:
    """Return a safe way to write a line such as ``y[0] += x[i]``, which all iterations change."""
    index, element = _element(text)
    if index is None:
        return (
            f"let the whole line be `{name} {sign} ...`, which Numba reduces safely, or give each iteration an element "
            "of its own"
        )
    if any(isinstance(node, ast.Name) for node in ast.walk(index)):
        return (
            f"let one iteration alone do so: a prange loop over the elements of {name}, and in it a range loop that "
            f"adds up in a variable, `total {sign} ...`"
        )
    return (
        f"add up in a variable: `total = {element}` before the loop, `total {sign} ...` in it, which Numba reduces "
        f"safely, and `{element} = total` once after the loop"
    )


def _element(text: str) -> tuple[ast.expr | None, str]:
    """Return index and text of the single element that a line changes, or None if it changes more than one."""
    try:
        statement = ast.parse(text).body[0]
    except SyntaxError:  # a line that goes on below
        return None, ""
    target = statement.target if isinstance(statement, ast.AugAssign) else None
    if not isinstance(target, ast.Subscript) or any(isinstance(node, ast.Slice) for node in ast.walk(target.slice)):
        return None, ""
    return target.slice, ast.unparse(target)


def _adds(text: str) -> str:
    """Return the operator of a line such as ``y[:] += x[i]``, if it is one that Numba reduces."""
    return next((sign for sign in ("+=", "-=", "*=", "/=") if sign in text and f"/{sign}" not in text), "")


def threads_collide(
    kind: str, address: int, new: tuple[int, Access], old: tuple[int, Access], interval: int = 0
) -> Race:
    """Name the element in which two threads meet, and a way to keep them apart.

    Args:
        kind: ``"write-write"`` or ``"read-write"``.
        address: The element.
        new: How the later access was made, and the access.
        old: Likewise for the earlier one.
        interval: How many barriers the block had passed.
    """
    (how, (second, site, root)), (other_how, (first, other_site, other_root)) = new, old
    words = {READ: "reads", WRITE: "writes", ATOMIC: "atomically updates"}
    element = f"{root.scope} memory {root.element(address)}" if root.scope == "shared" else root.element(address)
    message = f"{first} {words[other_how]} {element} and {second} {words[how]} it"
    if other_root is not root:
        message += f" as {root.element(address)}, while the first calls it {other_root.element(address)}"
    if first.block == second.block:
        message += ", with no cuda.syncthreads() between"
    else:
        message += ": nothing orders the threads of two blocks; give each element one owner, or use cuda.atomic"
    name, index = root.name or "an array", root.index_of(address)
    acts = words[other_how], words[how]
    sites = _sites(other_site, site)
    return Race(
        kind, message, name, index, str(first), str(second), scope=root.scope, **sites, interval=interval, acts=acts
    )
