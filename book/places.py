"""Where the book's sources lie, and where it is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["EXTRA", "ROOT", "RUN", "Folders"]

ROOT = Path(__file__).resolve().parents[1]

RUN = "run"
"""The folder of the site in which lessons run."""

EXTRA = "extra"
"""The folder of the source whose files are put into the site as they are."""


@dataclass(frozen=True)
class Folders:
    """The folders of one build.

    Attributes:
        build: The folder that holds all others.
    """

    build: Path = ROOT / "build" / "book"

    @property
    def source(self) -> Path:
        """The text of the pages, as Sphinx reads it."""
        return self.build / "source"

    @property
    def html(self) -> Path:
        """The site."""
        return self.build / "html"

    @property
    def run(self) -> Path:
        """The site of `book.lite` in it: the lessons that run in a browser."""
        return self.html / RUN

    @property
    def doctrees(self) -> Path:
        """What Sphinx keeps of pages that it has read."""
        return self.build / "doctrees"

    @property
    def results(self) -> Path:
        """What came of lessons and of wrong answers, by a hash of all that decides it."""
        return self.build / "results"
