"""The lessons' notebooks as a browser gets them: the students' notebooks, with a note on what is different there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from book.lite.places import LESSONS

__all__ = ["for_browser", "lessons"]

_NOTE = (
    "**In a browser.** Python runs in this page. The first cell waits some seconds for Python and the library. "
    "What you write is kept in this browser, on this computer: *File → Download* gives you the notebook. A browser has "
    "one processor and no Numba: training takes several times as long as on your own computer, and a check that needs "
    "Numba is left out and says so."
)
_MISSING = (
    "\n\nThis site was made without {packages}. Cells that need them fail and say so; before lesson 04 these are only "
    "some pictures."
)


def lessons(folder: Path) -> list[Path]:
    """Return the notebooks that the site has, in their order."""
    return [path for path in sorted(folder.glob("*.ipynb")) if path.stem.partition("_")[0] in LESSONS]


def for_browser(notebook: dict[str, Any], missing: Sequence[str] = ()) -> dict[str, Any]:
    """Return a notebook with the note behind its title, for the kernel of the site.

    Args:
        notebook: As it was read; it stays as it is.
        missing: The titles of packages that the site does not have.
    """
    text = _NOTE + (_MISSING.format(packages=" and ".join(missing)) if missing else "")
    note = {"cell_type": "markdown", "id": "in-a-browser", "metadata": {}, "source": text.splitlines(keepends=True)}
    kernel = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    title, *rest = notebook["cells"]
    return notebook | {"cells": [title, note, *rest], "metadata": notebook["metadata"] | {"kernelspec": kernel}}
