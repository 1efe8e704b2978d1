"""Helpers of several commands."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from minigrad.exercises.telling import told


class _Console(Console):
    """A terminal that is told sentences, which it prints in the language of the folder."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(told(each) if isinstance(each, str) else each for each in objects), **options)


class _Table(Table):
    """A table with cells in the language of the folder."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*(told(each) if isinstance(each, str) else each for each in cells), **options)


console = _Console()


def table_of(*headings: str) -> Table:
    """Return a table in which a name that is longer than its column goes on in the next line, and is never cut."""
    return _Table(*(Column(told(heading), overflow="fold") for heading in headings))


def print_json(content: object) -> None:
    """Print plain data for another program: without colours, and in no width."""
    print(json.dumps(content, indent=1, ensure_ascii=False))


def say_next(command: str) -> None:
    """Name the next exercise, where `hint` or `solution` was typed alone."""
    from minigrad.tutor import progressing

    following = progressing.next_exercise()
    if following is not None:
        console.print(f"A {command} belongs to an exercise. The next one is {following.id}:", highlight=False)
        console.print(f"  minigrad {command} {following.id}", highlight=False, soft_wrap=True)
    console.print("`minigrad exercises` lists them all.", highlight=False)
