"""Make the book: `make book`, or `python -m book`. Bring a translation up to date: `python -m book translate zh_CN`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from autograder.course import CourseError
from book.course_facts import Facts
from book.executing import BookError
from book.languages import translate
from book.lite.making import make as make_lite
from book.lite.places import LiteError, Places
from book.making import make
from book.places import ROOT, Folders

app = typer.Typer(invoke_without_command=True, pretty_exceptions_enable=False)


@app.callback()
def book(
    context: typer.Context,
    packages: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="A folder of Pyodide's packages, unpacked from a release."),
    ] = None,
    run: Annotated[bool, typer.Option(help="Let lessons run in the site; this fetches Python for browsers.")] = True,
    address: Annotated[str, typer.Option(help="Where the site will be; cards of its links need it.")] = "",
    releases: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="A folder of book-VERSION.tar.gz, sites to stay beside it."),
    ] = None,
    fresh: Annotated[bool, typer.Option(help="Forget what was kept of earlier builds.")] = False,
) -> None:
    """Make build/book/html from the lessons, docs/, and the library; with the lessons that run in a browser."""
    if context.invoked_subcommand:
        return
    begun = time.monotonic()

    def tell(sentence: str) -> None:
        print(sentence, flush=True)

    try:
        lite = make_lite(Places(), packages=packages, tell=tell).folder if run else None
        place = address and address.rstrip("/") + "/"
        pages = make(Folders(), run=lite, address=place, releases=releases, fresh=fresh, tell=tell)
    except LiteError as error:
        print(f"book: {error}\n`python -m book --no-run` makes the site without lessons that run", file=sys.stderr)
        raise SystemExit(1) from error
    except BookError as error:
        print(f"book: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    html = Folders().html
    print(f"{pages} pages in {time.monotonic() - begun:.0f} s: open {html / 'index.html'}")
    if run:
        print(f"for lessons that run, serve it: python -m http.server -d {html.relative_to(ROOT)}")


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
