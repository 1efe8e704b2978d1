"""The lessons' notebooks as a browser gets them: the students' notebooks, with a note on what is different there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from book.lite.places import LESSONS
from book.wording import Said, Say, in_english
from minigrad.working_folder.browser import CELLS
from minigrad.working_folder.merging import lesson_of

__all__ = ["address_of", "for_browser", "lessons", "runs"]


_FOLLOW = """from minigrad.working_folder import browser

browser.lessons("{lesson}")  # has it changed on this site?"""


def runs(lesson: str) -> bool:
    """Return whether a lesson runs in a browser."""
    return lesson.partition("_")[0] in LESSONS


def address_of(lesson: str, site: str, language: str = "") -> str:
    """Return where a lesson runs; empty if it needs what a browser does not have.

    Args:
        lesson: Its name.
        site: The address of the site, with a slash at its end.
        language: Its language, such as "zh_CN"; English if empty.

    >>> address_of("03_backprop", "../run/")
    '../run/lab/index.html?path=03_backprop.ipynb'
    """
    folder = f"{language}/" if language else ""
    return f"{site}lab/index.html?path={folder}{lesson}.ipynb" if runs(lesson) else ""


def lessons(folder: Path) -> list[Path]:
    """Return the notebooks that the site has, in their order, those of each other language in a folder of its name."""
    return [path for path in sorted([*folder.glob("*.ipynb"), *folder.glob("*/*.ipynb")]) if runs(path.stem)]


def for_browser(notebook: dict[str, Any], missing: Sequence[str] = (), say: Say = in_english) -> dict[str, Any]:
    """Return a notebook with the note behind its title and a cell that asks for news, for the kernel of the site.

    Args:
        notebook: As it was read; it stays as it is.
        missing: The titles of packages that the site does not have.
        say: Says the note in the notebook's language.
    """
    without = [say(Said.WITHOUT_PACKAGES, packages=", ".join(missing))] if missing else []
    text = "\n\n".join([say(Said.IN_A_BROWSER), *without])
    note = {"cell_type": "markdown", "id": CELLS[0], "metadata": {}, "source": text.splitlines(keepends=True)}
    kernel = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
    follow: dict[str, Any] = {
        "cell_type": "code",
        "id": CELLS[1],
        "metadata": {},
        "execution_count": None,
        "outputs": [],
    }
    follow["source"] = _FOLLOW.format(lesson=lesson_of(notebook)).splitlines(keepends=True)
    title, *rest = notebook["cells"]
    return notebook | {"cells": [title, note, follow, *rest], "metadata": notebook["metadata"] | {"kernelspec": kernel}}
