"""Make the book: `make book`, or `python -m book`. Bring a translation up to date: `python -m book translate zh_CN`."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from autograder.course import CourseError
from book.course_facts import Facts
from book.executing import BookError
from book.languages import translate
from book.making import make
from book.places import Folders

app = typer.Typer(invoke_without_command=True, pretty_exceptions_enable=False)


@app.callback()
def book(
    context: typer.Context,
    fresh: Annotated[bool, typer.Option(help="Forget what was kept of earlier builds.")] = False,
) -> None:
    """Make build/book/html from the lessons, docs/, and the library."""
    if context.invoked_subcommand:
        return
    begun = time.monotonic()
    try:
        pages = make(Folders(), fresh=fresh, tell=lambda sentence: print(sentence, flush=True))
    except BookError as error:
        print(f"book: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    print(f"{pages} pages in {time.monotonic() - begun:.0f} s: open {Folders().html / 'index.html'}")


@app.command("translate")
def translate_to(
    language: Annotated[str, typer.Argument(help="A language, such as zh_CN.")],
    pages: Annotated[list[str] | None, typer.Argument(help="Pages, such as 03_backprop; by default all.")] = None,
) -> None:
    """Bring the catalogues of a language up to date: course/locale/LANGUAGE. Exits with 1 if something is missing."""
    try:
        whole = translate(Facts(), language, pages)
    except CourseError as error:
        print(f"book: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    print("nothing is missing" if whole else "write what is missing after `msgstr`, and run this again")
    raise SystemExit(not whole)


if __name__ == "__main__":
    app()
