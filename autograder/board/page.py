"""The board as one HTML page that needs no network: names that students chose, numbers and dates, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.board.ranking import Ranked
from autograder.telling import classreport
from autograder.telling.classreport.markup import Html, el, joined
from autograder.telling.classreport.page import table
from autograder.telling.report import clean

_STYLE = Path(classreport.__file__).with_name("style.css").read_text(encoding="utf-8")
# Its tables have few columns: a narrow page has room for them.
_OWN = ".day { white-space: nowrap; } @media screen and (max-width: 50rem) { .wide table { min-width: 0; } }"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def board_page(course: str, ranks: Sequence[Ranked], draw: int, made: str = "") -> str:
    """The whole page.

    Args:
        course: The course's name.
        ranks: Its events.
        draw: The number from which the inputs were drawn.
        made: When it was made.
    """
    title = f"{clean(course)}: the board"
    head = joined(
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        el("title", title),
        Html(f"<style>\n{_STYLE}{_OWN}</style>"),
    )
    about = el(
        "p",
        "Each number is counted by the grader, on inputs that are drawn anew for each board, and is the same on every "
        "computer. Less is better; the first column of numbers counts first. Of equal entries the one that was handed "
        "in first stands above. On the board is who chose a name and has a right answer.",
    )
    parts = [el("h1", title), about, *(_event(each) for each in ranks)]
    foot = el("p", f"Inputs drawn from the number {draw}. {made}".strip(), class_="dim")
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{el("main", *parts, foot)}</body></html>\n'


def _event(ranks: Ranked) -> Html:
    """The section of an event."""
    event = ranks.event
    parts = [el("h2", event.title), el("p", event.about)]
    if not ranks.lines:
        return el("section", *parts, el("p", "Nobody is on the board yet.", class_="dim"))
    heads = ("name", *event.headings, "handed in (UTC)")
    made = table(
        f"{event.title}: {len(ranks.lines)} on the board", heads, _rows(ranks), frozenset(range(1, len(heads)))
    )
    return el("section", *parts, made)


def _rows(ranks: Ranked) -> Iterator[tuple[str, ...]]:
    for place, line in enumerate(ranks.lines, start=1):
        day = el("span", f"{line.when:%Y-%m-%d}", class_="day") if line.when else None
        when = joined(day, f" {line.when:%H:%M}") if line.when else "not known"
        yield (f"{place}. {clean(line.name)}", *line.counted.shown, when)
