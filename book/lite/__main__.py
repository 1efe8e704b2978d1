"""Make the site build/lite: `make lite`, or `python -m book.lite`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from book.lite.making import make
from book.lite.places import LiteError, Places
from book.places import ROOT


def lite(
    packages: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="A folder of Pyodide's packages, unpacked from a release."),
    ] = None,
    edition: Annotated[bool, typer.Option(help="Leave out the answers that are not open yet to a class.")] = False,
) -> None:
    """Make build/lite: the lessons that run in a browser, with Python and all packages beside them."""
    begun = time.monotonic()
    try:
        site = make(Places(), packages=packages, edition=edition, tell=lambda sentence: print(sentence, flush=True))
    except LiteError as error:
        print(f"lite: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    numbers = ", ".join(name.partition("_")[0] for name in site.lessons)
    folder = site.folder.relative_to(ROOT)
    print(f"{folder}: {site.size / 1e6:.0f} MB, lessons {numbers}, in {time.monotonic() - begun:.0f} s")
    if site.missing:
        print(f"without {' and '.join(site.missing)}: see docs/self-study/README.md")
    print(
        f"serve it: python -m http.server -d {folder}\nopen it:  http://localhost:8000/lab/index.html?path={site.lessons[0]}.ipynb"
    )


if __name__ == "__main__":
    typer.run(lite)
