"""The tables of course.toml, handed out key by key with their types; whatever does not fit is one sentence."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autograder.common.errors import GraderError

DISTRIBUTION = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?")
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
NAME = re.compile(r"[A-Za-z0-9_-]+")
PACKAGE = re.compile(r"[A-Za-z_]\w*")
LESSON = re.compile(r"[0-9]{2}[a-z]?_[a-z0-9_]+")
LANGUAGE = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")


class CourseError(GraderError):
    """The course contradicts itself; the message says where and what to do."""


class Table:
    """One table of the file: hands out its keys with their types, and refuses what nobody asked for."""

    def __init__(self, where: str, content: Mapping[str, Any]) -> None:
        self.where = where
        self._content = dict(content)

    def fail(self, sentence: str) -> CourseError:
        """The error that says of this table what is wrong with it."""
        return CourseError(f"{self.where}: {sentence}")

    def take(self, key: str, kind: type | tuple[type, ...], *, optional: bool = False) -> Any:
        """Take a key of a kind; one that is optional may be missing, and is None then."""
        if key not in self._content:
            if optional:
                return None
            raise self.fail(f"the key {key!r} is missing; add it")
        value = self._content.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(_KINDS[each] for each in kinds)
            raise self.fail(f"{key!r} is {_KINDS.get(type(value), 'a date')}; write {wanted}")
        return value

    def text(self, key: str) -> str:
        """Take a text that is not empty."""
        value: str = self.take(key, str)
        if not value.strip():
            raise self.fail(f"{key!r} is empty; write something there")
        return value

    def name(self, key: str, pattern: re.Pattern[str]) -> str:
        """Take a text of a form."""
        value = self.text(key)
        if not pattern.fullmatch(value):
            raise self.fail(f"{key!r} is {value!r}; write {_PATTERNS[pattern]}")
        return value

    def names(self, key: str, pattern: re.Pattern[str], default: list[str] | None = None) -> tuple[str, ...]:
        """Take a list of different texts of a form."""
        values = self.take(key, list, optional=default is not None)
        if values is None:
            return tuple(default or ())
        for value in values:
            if not isinstance(value, str) or not pattern.fullmatch(value):
                raise self.fail(f"{key!r} holds {value!r}; write {_PATTERNS[pattern]}")
        for value in _repeated(values):
            raise self.fail(f"{key!r} names {value!r} twice; remove one")
        return tuple(values)

    def number(self, key: str, *, zero: bool = False) -> float:
        """Take a finite number above 0; or 0 itself, where that means something."""
        value: float = self.take(key, (int, float))
        if not 0 < value < float("inf") and not (zero and value == 0):
            raise self.fail(f"{key!r} is {value}; write a number above 0{', or 0' * zero}")
        return value

    def table(self, key: str, *, optional: bool = False) -> Table:
        """Take a table in this one."""
        content = self.take(key, dict, optional=optional)
        return Table(f"{self.where}: [{key}]", content or {})

    def tables(self, key: str) -> Iterator[Table]:
        """Take a list of tables."""
        rows = self.take(key, list)
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict):
                raise self.fail(f"{key!r} is a list of values; write one [[{key}]] for each")
            label = row.get("name", row.get("id", number))
            yield Table(f"{self.where}: [[{key}]] {label}", row)

    def keys(self) -> list[str]:
        """The keys that nobody has taken yet."""
        return list(self._content)

    def close(self) -> None:
        """Refuse the keys that nobody has taken."""
        for key in self._content:
            raise self.fail(f"the key {key!r} is unknown; remove it or correct its spelling")


_KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "a true or false",
    list: "a list",
    dict: "a table",
    dt.datetime: "a date with a time and an offset, such as 2027-02-01T23:59:00Z",
    dt.date: "a date, such as 2027-02-15",
}
_PATTERNS = {
    DISTRIBUTION: "the name of a distribution, such as 'pandas'",
    NAME: "letters, digits, '_' and '-' only",
    PACKAGE: "the name of a package, such as 'minigrad'",
    LANGUAGE: "a language as the folders in `locale` are named, such as 'zh_CN' or 'de'",
    LESSON: "two digits, a letter where a lesson has two parts, and a name in lower case, such as '03_backprop'",
    DOTTED: "a dotted name, such as 'autodiff.topological_sort'",
    MODULE: "a module or a dotted name, such as 'fast' or 'operators.log_back'",
}


def _repeated(values: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield value
        seen.add(value)
