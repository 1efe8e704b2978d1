"""A contract of import-linter whose layers are the floors in ARCHITECTURE.md: the table of rooms in a section of it.

A room is a module or a package. It imports rooms in rows above its own. In a row `<` stands between floors, lowest
first, and `&` between rooms that may import each other; all others of a floor do not know each other.

    | `symbols` < `program` < `loops` `attention` |     loops imports program and symbols, and not attention
    | `engine` & `backward/` |                          engine and backward import each other
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from importlinter.contracts.layers import LayerField, LayersContract
from importlinter.domain import fields

PAGE = Path(__file__).resolve().parents[1] / "ARCHITECTURE.md"
TOP = "__main__"
"""The module that `python -m` runs, above all rooms; the tables do not name it."""


def floors(page: str, section: str) -> list[str]:
    """Return the floors of a section's table, highest first, as a contract of import-linter names them.

    Raises:
        ValueError: If there is no such table, or a floor mixes rooms with and without ``&``.
    """
    table = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    if not rows:
        raise ValueError(f"{PAGE.name} has no table of rooms in a section {section!r}")
    return [TOP, *(_layer(floor) for row in reversed(rows) for floor in reversed(row.split("<")))]


def _layer(floor: str) -> str:
    rooms = re.findall(r"`(\w+)/?`", floor)
    joined = floor.count("&")
    if joined not in (0, len(rooms) - 1):
        raise ValueError(f"{PAGE.name}: {floor.strip()} joins some rooms of a floor by &, and not all")
    return (" : " if joined else " | ").join(rooms)


class _Table(fields.Field):
    """The layers, given as the heading of the section that has the table."""

    def parse(self, raw_data: str | list[str]) -> Any:
        try:
            found = floors(PAGE.read_text(encoding="utf-8"), fields.StringField().parse(raw_data))
        except ValueError as error:
            raise fields.ValidationError(str(error)) from None
        return fields.ListField(subfield=LayerField()).parse(found)


class Floors(LayersContract):
    """Layers whose list is a table."""

    layers = _Table()
