"""Make the book: `make book`, or `python -m book`."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from book.executing import BookError
from book.making import make
from book.places import Folders


def main(fresh: Annotated[bool, typer.Option(help="Forget what was kept of earlier builds.")] = False) -> None:
    """Make build/book/html from the lessons, docs/, and the library."""
    begun = time.monotonic()
    try:
        pages = make(Folders(), fresh=fresh, tell=lambda sentence: print(sentence, flush=True))
    except BookError as error:
        print(f"book: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    print(f"{pages} pages in {time.monotonic() - begun:.0f} s: open {Folders().html / 'index.html'}")


if __name__ == "__main__":
    typer.run(main)
