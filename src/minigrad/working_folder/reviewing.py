"""Five cards a day, spaced by what was known: Leitner's boxes.

A card that was known moves one box on, and comes again after twice as many days; one that was not known goes back to
the first box, and comes again the next day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad.tutor.keeping import Part
from minigrad.working_folder.cards import Card

A_DAY = 5
"""So many cards a day are shown."""

LAST_BOX = 7
"""In this box a card rests for 64 days."""


@dataclass(frozen=True)
class Seen:
    """When a card was answered last, and in which box it lies since then.

    Attributes:
        box: From 1 to 7.
        on: The day, such as "2026-02-01".
    """

    box: int
    on: str

    @property
    def due(self) -> dt.date:
        """The day from which on it is asked again."""
        return dt.date.fromisoformat(self.on) + dt.timedelta(days=2 ** (self.box - 1))


def _made(fields: Mapping[str, Any]) -> Seen:
    seen = Seen(int(fields["box"]), dt.date.fromisoformat(fields["on"]).isoformat())
    if not 1 <= seen.box <= LAST_BOX:
        raise ValueError("no such box")
    return seen


_CARDS = Part("cards", _made)


def for_today(cards: Sequence[Card], folder: Path, today: dt.date) -> list[Card]:
    """Return the cards that are left for a day: those that are due, the longest first, then new ones in their order."""
    known = _CARDS.read(folder)
    done = sum(seen.on == today.isoformat() for seen in known.values())
    due = sorted((card for card in cards if card.id in known), key=lambda card: known[card.id].due)
    waiting = [card for card in due if known[card.id].due <= today]
    new = [card for card in cards if card.id not in known]
    return [*waiting, *new][: max(0, A_DAY - done)]


def next_day(cards: Sequence[Card], folder: Path, today: dt.date) -> dt.date:
    """Return the first day after today on which there are cards: new ones, or those that are due then."""
    known, tomorrow = _CARDS.read(folder), today + dt.timedelta(days=1)
    return max(
        tomorrow, min((known[card.id].due if card.id in known else tomorrow for card in cards), default=tomorrow)
    )


def answered(card: Card, folder: Path, today: dt.date, *, known: bool) -> Seen:
    """Put a card into the box where it belongs now, and return that."""

    def moved(before: Seen | None) -> Seen:
        box = min(before.box + 1 if before else 2, LAST_BOX) if known else 1
        return Seen(box, today.isoformat())

    _CARDS.change(card.id, moved, folder)
    return _CARDS.read(folder).get(card.id) or moved(None)
