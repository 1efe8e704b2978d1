"""The command `review`."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from minigrad.commands.common import console
from minigrad.errors import MinigradError
from minigrad.exercises.telling import speak_in, told


def review(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder you work in; by default the one here or around you.")
    ] = None,
) -> None:
    """Show five cards a day out of your lessons: slips, questions, and wrong answers to what you have solved.

    Think of the answer, press a key, and say whether you knew it: y or n. A card that you knew comes again later, and
    one that you did not know comes again tomorrow. q ends it at any time.
    """
    from minigrad.tutor.progressing import working_folder
    from minigrad.working_folder import cards, reviewing
    from minigrad.working_folder.formulas import in_plain_text

    home = working_folder(folder)
    if home is None:
        raise MinigradError("review: here is no working folder; `minigrad start` makes one")
    speak_in(home)
    every, today = cards.cards(home), dt.date.today()
    if not every:
        raise MinigradError("review: there are no cards yet; they come out of lessons in which an exercise has passed")
    chosen = reviewing.for_today(every, home, today)
    if not chosen:
        console.print(f"No more cards for today. {_when_next(reviewing.next_day(every, home, today), today)}")
        return
    if not _has_keys():
        raise MinigradError(f"review: {len(chosen)} cards wait for you, one key each; run it in a terminal")
    for number, card in enumerate(chosen, start=1):
        console.rule(told(f"card {number} of {len(chosen)} · {card.place}"))
        console.print(Markdown(in_plain_text(card.front)))
        console.print("\n[dim]any key shows the answer, q ends[/dim]")
        if _key() == "q":
            return
        console.print(Markdown(in_plain_text(card.back())))
        console.print("\n[dim]did you know it? y or n[/dim]")
        while (key := _key()) not in "ynq":
            pass
        if key == "q":
            return
        seen = reviewing.answered(card, home, today, known=key == "y")
        console.print(f"It comes again on {seen.due}.\n", highlight=False)
    console.print(_when_next(reviewing.next_day(every, home, today), today), highlight=False)


def _when_next(day: dt.date, today: dt.date) -> str:
    return f"The next cards come {'tomorrow' if day == today + dt.timedelta(days=1) else f'on {day}'}."


def _has_keys() -> bool:
    return sys.stdin.isatty() and console.is_terminal


def _key() -> str:
    """Return the key that was pressed, as a small letter; what ends a terminal's input ends the review."""
    try:
        return typer.getchar().lower()[:1] or "q"
    except EOFError:
        return "q"
