"""The output of commands: progress, tables and lists that fit the terminal, numbers.

Progress is a bar on a terminal, else a line every ten seconds. A table becomes a list below 100 columns.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

EVERY = 10.0
"""Seconds between two lines where there is no terminal for a bar."""

NARROW = 100
"""Columns below which a list is printed in place of a table."""

SHOWN = 10
"""Most problems that are listed at the end of a command."""

WIDE = 140
"""Columns where there is no terminal and COLUMNS says nothing."""


def number(count: int, noun: str) -> str:
    """A number of things: ``1 notebook``, ``2 notebooks``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


class Lines:
    """Says how far something is where there is no terminal: a line now and then."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line, unless there was one a moment ago."""
        if time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)


class Steps:
    """The progress of a command.

    Args:
        what: The work in a few words.
        total: How many steps; None where nobody knows yet.
        bar: The bar on a terminal; None where there is none.
    """

    def __init__(self, what: str, total: int | None, bar: Progress | None) -> None:
        self._what, self._total, self._done = what, total, 0
        self._bar, self._lines = bar, Lines()
        self._task = bar.add_task(what, total=total) if bar else None

    def begin(self, total: int) -> None:
        """Say how many steps there are."""
        self._total = total
        self._show()

    def at(self, what: str) -> None:
        """Say what is done now."""
        self._what = what
        self._show()

    def advance(self, by: int = 1) -> None:
        """Steps are done; 0 to say that the time goes by."""
        self._done += by
        self._show()

    def _show(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, total=self._total, description=self._what, refresh=True)
        else:
            of = f" of {self._total}" if self._total is not None else ""
            self._lines.say(f"{self._what}: {self._done}{of}")


@contextmanager
def steps(what: str, total: int | None = None, *, forks: bool = False) -> Iterator[Steps]:
    """Show on the error output how far something is: a bar on a terminal, else a line every ten seconds.

    Args:
        what: The work in a few words.
        total: How many steps; None where nobody knows yet.
        forks: Whether processes are forked meanwhile, beside which no thread of a bar may run.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Steps(what, total, None)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True, console=console, auto_refresh=not forks) as bar:
        yield Steps(what, total, bar)


def console_of() -> Console:
    """Return the console for tables: as wide as the terminal or COLUMNS says, and wide where neither is there."""
    is_known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(highlight=False, emoji=False, width=None if is_known else WIDE)


def is_narrow(console: Console) -> bool:
    """Return whether a wide table would be cut into pieces."""
    return console.width < NARROW


def print_list(console: Console, head: Text, items: Iterable[str]) -> None:
    """Print an item of a list: its heading, and what belongs to it below, indented."""
    console.print(head, soft_wrap=True)
    for item in items:
        for row, line in enumerate(folded(item, console.width - 5)):
            console.print(Text(f"{'    ' if row else '  '}{line}"), soft_wrap=True)


def print_problems(console: Console, label: str, problems: Sequence[str]) -> None:
    """Print the first of some problems behind a label, and how many more there are."""
    for problem in problems[:SHOWN]:
        console.print(f"[bold red]{label}:[/bold red] {escape(problem)}")
    if len(problems) > SHOWN:
        console.print(f"[bold red]{label}:[/bold red] {len(problems) - SHOWN} more")


def remark(sentences: Iterable[str]) -> None:
    """Say beside a table what its columns do not: it goes to stderr, away from what a program may read."""
    from autograder.telling.report import clean

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for sentence in sentences:
        console.print(f"[yellow]note[/yellow]  {escape(clean(sentence, limit=len(sentence) + 1))}")


class Cell:
    """Text of a table's cell; a name that is longer than its column goes on below after a - _ . , ; or /."""

    def __init__(self, text: str, style: str = "") -> None:
        self.text = text
        self.style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        pieces = _pieces(self.text)
        return Measurement(max(map(len, pieces), default=0), len(self.text)).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("\n".join(folded(self.text, options.max_width)), self.style, no_wrap=True)


def _pieces(text: str) -> list[str]:
    return [piece for word in text.split() for piece in re.findall(r"[^-_.,;/]*[-_.,;/]+|[^-_.,;/]+", word)]


def folded(text: str, width: int) -> list[str]:
    """Lines of a text that are no wider than a column, if no piece of a name is."""
    lines = [""]
    for word in text.split():
        if len(word) <= width:
            parts = [word]
        else:
            parts = [piece[i : i + width] for piece in _pieces(word) for i in range(0, len(piece), width)]
        for place, part in enumerate(parts):
            blank = " " if place == 0 and lines[-1] else ""
            if len(lines[-1]) + len(blank) + len(part) <= width:
                lines[-1] += blank + part
            elif lines[-1]:
                lines.append(part)
            else:
                lines[-1] = part
    return lines
