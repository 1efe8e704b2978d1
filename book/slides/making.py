"""Make the decks: execute the lessons, or read what the book has kept of them, and let Sphinx make HTML."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from book.course_facts import Facts
from book.executing import BookError, executed
from book.lessons import number_of
from book.markdown import joined
from book.places import ROOT, Folders
from book.slides.decks import deck
from minigrad.machine.files import write

__all__ = ["index_of", "make", "sphinx"]

SLIDES = ROOT / "build" / "slides"
SITE = Path(__file__).parent / "site"


def make(names: Sequence[str] = (), *, tell: Callable[[str], None] = print) -> Path:
    """Make a deck for each lesson, and return the folder of the pages.

    Args:
        names: The lessons; by default all.
        tell: Is told what happens.

    Raises:
        BookError: If there is no such lesson, one fails, or Sphinx finds fault with a deck.
    """
    facts = Facts()
    if unknown := set(names) - set(facts.lessons):
        raise BookError(f"there is no lesson {min(unknown)!r}; choose some of: {', '.join(facts.lessons)}")
    lessons = {name: built for name, built in facts.lessons.items() if not names or name in names}
    tell("executing the lessons that the book has not kept")
    results = executed(lessons, Folders().results, tell)
    source, html = SLIDES / "source", SLIDES / "html"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(html, ignore_errors=True)
    for name, built in lessons.items():
        write(source / f"{name}.md", deck(facts, built, results[name]).encode())
    write(source / "index.md", index_of(facts, lessons).encode())
    sphinx(source, html)
    return html


def index_of(facts: Facts, lessons: Iterable[str]) -> str:
    """Return the page that leads to the decks, itself a deck of one slide."""
    listed = "\n".join(f"- [{number_of(name)} {facts.lessons[name].title}]({name}.md)" for name in lessons)
    hidden = "\n".join(["```{toctree}", ":hidden:", "", *lessons, "```"])
    return joined([f"# {facts.course.name}", listed, hidden]) + "\n"


def sphinx(source: Path, html: Path) -> None:
    """Run Sphinx in a process of its own; every warning is an error.

    Raises:
        BookError: If it finds fault with a deck.
    """
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "revealjs", "-c", str(SITE)]
    places = ["-d", str(html.with_name("doctrees")), str(source), str(html)]
    if subprocess.run([*command, *places], cwd=ROOT, check=False).returncode:
        raise BookError("Sphinx finds fault with the decks named above; mend the lessons or book/slides")
