"""What the sections of the report have in common: tables for the terminal and for RESULTS.md."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.table import Table

from minigrad.draw.plots import Picture

__all__ = ["RESULTS", "Section", "bytes_of", "duration", "machine", "save", "verdict", "write"]

RESULTS = Path(__file__).parent / "RESULTS.md"
COLOURS = 32  # of a picture, which is small then


@dataclass
class Section:
    """One table, with what is to be known about it.

    Attributes:
        title: Its heading.
        columns: The names of its columns.
        rows: Its cells; a newline in a cell starts a second line there.
        text: How the numbers were measured.
        notes: Reasons, one for each program that missed its target.
    """

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    text: str = ""
    notes: list[str] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """Print the table, or the text where there is none."""
        if not self.columns:
            console.print(f"{self.title}: {self.text}", highlight=False)
            return
        table = Table(*self.columns, title=self.title, show_lines=True)
        for cells in self.rows:
            table.add_row(*cells)
        console.print(table)
        for note in self.notes:
            console.print(note, highlight=False)

    def markdown(self) -> str:
        """Return heading, table and text."""
        table = [list(self.columns), ["---"] * len(self.columns), *self.rows] if self.columns else []
        lines = [f"| {' | '.join(cell.replace(chr(10), '<br>') for cell in cells)} |" for cells in table]
        notes = "\n".join(f"- {note}" for note in self.notes)
        return "\n\n".join(part for part in (f"## {self.title}", "\n".join(lines), notes, self.text) if part)


def duration(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    if seconds >= 1_000:
        return f"{seconds:,.0f} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def bytes_of(size: float) -> str:
    """Return a number of bytes in the unit that fits it."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"


def verdict(is_met: bool) -> str:
    """Return what is said of a target."""
    return "met" if is_met else "missed"


def machine() -> str:
    """Return one line on the machine and the versions."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    packages = ("minigrad-course", "micrograd", "numba", "numpy", "torch")
    return (
        f"{cpu}, {os.cpu_count()} cores; {platform.system()}; {platform.python_implementation()} "
        f"{platform.python_version()}; " + ", ".join(f"{name} {version(name)}" for name in packages)
    )


def write(sections: Sequence[Section], path: Path, command: str, measured_on: str) -> None:
    """Write a file of results."""
    head = f"# Benchmarks\n\nWritten by `{command}`; a run replaces it."
    parts = [head, f"Machine: {measured_on}.", *(section.markdown() for section in sections)]
    path.write_text("\n\n".join(parts) + "\n")


def save(picture: Picture, path: Path) -> None:
    """Write a picture as a small PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(picture.png())).quantize(COLOURS).save(path, optimize=True)
