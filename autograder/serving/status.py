"""What `autograder serve` is at, for the instructor: a page and a JSON file, both written anew while it works."""

from __future__ import annotations

import datetime as dt
import html
import json
import os
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.common.files import write
from autograder.reading.student_files import one_line

LAST = 1000
"""Hand-ins whose seconds are counted."""

_STYLE = (Path(__file__).parents[1] / "telling" / "page.css").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Line:
    """One hand-in that is not done.

    Attributes:
        student: Whose.
        assignment: Of what.
        handed_in: When, in UTC.
        state: "queued", "being graded", "waits" for the limits to let it in, or "refused".
        said: Until when it waits, or why it was refused.
    """

    student: str
    assignment: str
    handed_in: dt.datetime
    state: str
    said: str = ""


@dataclass
class Status:
    """Counts since the command began; one instance lives as long as the command.

    Attributes:
        folder: Where the two files are written.
        jobs: How many processes grade.
        begun: When the command began, in UTC.
        graded: Hand-ins that were graded and have their pages.
        seconds: From hand-in to page, of the last ones; from the time at which the limits let it in, if that is later.
        lines: What is not done.
    """

    folder: Path
    jobs: int
    begun: dt.datetime
    graded: int = 0
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))
    lines: tuple[Line, ...] = ()

    def add(self, seconds: float) -> None:
        """Count a hand-in whose page lies in the exchange."""
        self.graded += 1
        self.seconds.append(seconds)

    def of_state(self, state: str) -> list[Line]:
        """The hand-ins of a state, in their order."""
        return [line for line in self.lines if line.state == state]

    def as_json(self, now: dt.datetime) -> dict[str, Any]:
        """The state as plain JSON."""
        return {
            "begun": in_utc(self.begun),
            "written": in_utc(now),
            "graded": self.graded,
            "seconds": {"median": self.median, "worst": self.worst},
            "load": [round(each, 2) for each in os.getloadavg()],
            "jobs": self.jobs,
            "hand_ins": [
                {
                    "student": line.student,
                    "assignment": line.assignment,
                    "handed_in": in_utc(line.handed_in),
                    "state": line.state,
                    "said": line.said,
                }
                for line in self.lines
            ],
        }

    @property
    def median(self) -> float | None:
        """The median of the seconds; None before the first."""
        return round(statistics.median(self.seconds), 1) if self.seconds else None

    @property
    def worst(self) -> float | None:
        """The most seconds; None before the first."""
        return round(max(self.seconds), 1) if self.seconds else None

    def write(self, now: dt.datetime) -> None:
        """Write both files.

        Raises:
            OSError: If the disk refuses.
        """
        write(self.folder / "serve.json", json.dumps(self.as_json(now), indent=1, ensure_ascii=False) + "\n")
        write(self.folder / "serve.html", self._page(now))

    def _page(self, now: dt.datetime) -> str:
        counts = {state: len(self.of_state(state)) for state in ("queued", "being graded", "waits", "refused")}
        rows: list[tuple[str, object]] = [
            ("since", in_utc(self.begun)),
            ("graded", self.graded),
            *counts.items(),
            ("seconds from hand-in to page, median", "none yet" if self.median is None else self.median),
            ("seconds from hand-in to page, worst", "none yet" if self.worst is None else self.worst),
            ("load of this machine", " ".join(f"{each:.2f}" for each in os.getloadavg())),
            ("processes that grade", self.jobs),
        ]
        listed = [(each.student, each.assignment, in_utc(each.handed_in), each.state, each.said) for each in self.lines]
        head = ("student", "assignment", "handed in", "state", "")
        table = f"<h2>Hand-ins that are not done</h2>{_table(listed, head)}" if listed else ""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>autograder serve</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="refresh" content="10"><style>{_STYLE}</style></head><body>'
            f"<h1>autograder serve, {in_utc(now)}</h1>{_table(rows)}{table}</body></html>\n"
        )


def _table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    titles = "".join(f'<th scope="col">{each}</th>' for each in head)
    cells = ("".join(f"<td>{html.escape(one_line(str(each)))}</td>" for each in row) for row in rows)
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def in_utc(when: dt.datetime) -> str:
    """A time as both files have it."""
    return f"{when.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
