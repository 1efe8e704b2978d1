"""What a student's folder remembers: `.minigrad/progress.json` in the working folder, with a part for each kind.

The working folder holds a `.minigrad`; `minigrad start` makes it. It is the current folder, else one in it, else the
nearest one around it. Without one nothing is recorded, nor while a grader is at work.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from minigrad.exercises.lesson_files import FOLDER, PROGRESS, working_folder
from minigrad.exercises.telling import told
from minigrad.machine.files import locked, write

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Part", "now"]

Record = TypeVar("Record", bound="DataclassInstance")

_said = set[str]()  # what was said once in this session


def now() -> str:
    """Return the time in UTC, as records have it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Part(Generic[Record]):
    """The records of one kind, by name. Programs that change records at once lose nothing.

    Attributes:
        name: What the file calls the part.
        made: Makes a record, which is a dataclass, of its fields; raises a ValueError for fields that cannot be.
    """

    name: str
    made: Callable[[Any], Record]

    def read(self, start: Path | None = None) -> dict[str, Record]:
        """Return the records by name, or none where there is no working folder."""
        path = _place(start)
        if path is None:
            return {}
        try:
            _, known, is_whole = self._read(path)
            if not is_whole:
                with locked(path.with_suffix(".lock")):
                    _, known = self._mended(path)
            return known
        except OSError as error:
            _say_once(f"Your progress in {path} could not be read: {error.strerror or error}.")
            return {}

    def change(self, name: str, changed: Callable[[Record | None], Record], start: Path | None = None) -> None:
        """Change one record, if there is a working folder. A full disk costs no check.

        Args:
            name: The record's name.
            changed: Makes the new record of the old one, which is None if there is none.
            start: The folder to look for the working folder from. By default the current one.
        """
        path = _place(start)
        if path is None:
            return
        try:
            with locked(path.with_suffix(".lock")):
                content, known = self._mended(path)
                known[name] = changed(known.get(name))
                content[self.name] = {each: asdict(record) for each, record in known.items()}
                write(path, _as_text(content))
        except OSError as error:
            _say_once(f"Your progress could not be noted in {path}: {error.strerror or error}.")

    def _mended(self, path: Path) -> tuple[dict[str, Any], dict[str, Record]]:
        """Read the whole file, and the records in it, under its lock. A damaged file is set aside first.

        Raises:
            OSError: If the file cannot be read or written. It may be whole.
        """
        content, known, is_whole = self._read(path)
        if not is_whole:
            aside = path.with_name(f"progress-damaged-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S-%f}.json")
            path.rename(aside)
            if any(part for part in content.values() if isinstance(part, dict)):
                write(path, _as_text(content))
                _say_once(
                    f"The file of your progress is damaged: it is kept as {aside.name}, and what can be read of it "
                    "stays."
                )
            else:
                _say_once(
                    f"The file of your progress could not be read: it is kept as {aside.name}, and a new one begins."
                )
        return content, known

    def _read(self, path: Path) -> tuple[dict[str, Any], dict[str, Record], bool]:
        """Return what can be read of the file, the records in it, and whether that is all.

        Raises:
            OSError: If the file cannot be read. It may be whole.
        """
        content: dict[str, Any] = {"version": 1, "exercises": {}}
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return content, {}, True
        try:
            content, is_whole = {**content, **json.loads(text)}, True
        except (ValueError, TypeError, RecursionError):
            content, is_whole = {**content, **_salvaged(text.decode(errors="replace"))}, False
        part, known = content.get(self.name, {}), {}
        if not isinstance(part, dict):
            part, is_whole = {}, False
        for name, fields in part.items():
            try:
                known[name] = self.made(fields)
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
                is_whole = False
        content[self.name] = {name: part[name] for name in known}
        return content, known, is_whole


def _salvaged(text: str) -> dict[str, Any]:
    """Return the records in a text that is no JSON as a whole, by their parts: those that are whole themselves."""
    content: dict[str, dict[str, Any]] = {}
    part = ""
    for name, fields in re.findall(r'"([^"\\]*)"\s*:\s*(\{[^{}]*\}|\{)', text):
        if fields == "{":
            part = name
        elif fields.strip("{} \t\r\n"):
            with suppress(ValueError):
                content.setdefault(part, {})[name] = json.loads(fields)
    return content


def _as_text(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def _place(start: Path | None) -> Path | None:
    """Return the file's place; None without a working folder, and while a grader is at work."""
    folder = None if os.environ.get("MINIGRAD_SANDBOX") else working_folder(start)
    return folder / FOLDER / PROGRESS if folder else None


def _say_once(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        print(told(sentence))
