"""Make the decks build/slides: `make slides`, or `python -m book.slides 03_backprop` for some lessons alone."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from book.executing import BookError
from book.places import ROOT
from book.slides.making import make


def slides(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons, such as 03_backprop; by default all.")] = None,
) -> None:
    """Make build/slides: a deck for each lesson, of its headings, pictures, slips and exercises."""
    begun = time.monotonic()
    try:
        folder = make(lessons or (), tell=lambda sentence: print(sentence, flush=True))
    except BookError as error:
        print(f"slides: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    decks = len([*folder.glob("[0-9]*.html")])
    print(f"{decks} decks in {time.monotonic() - begun:.0f} s: open {folder.relative_to(ROOT) / 'index.html'}")


if __name__ == "__main__":
    typer.run(slides)
