"""Where the site's parts lie, what it is made of, and how its making fails."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from book.places import ROOT

__all__ = ["ASKED_FOR", "CORE", "KERNEL", "LESSONS", "PURE", "PYODIDE", "LiteError", "Places"]

PYODIDE = "0.27.7"
"""The release of Pyodide that fits the kernel of jupyterlite-pyodide-kernel 0.6 (its own default is 0.27.6)."""

LESSONS = ("00", "01", "02", "03", "04", "05", "06", "06b", "10", "10b")
"""The lessons that need neither compiled kernels nor threads, by the beginnings of their names."""

CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""The interpreter's files."""

KERNEL = ("micropip", "piplite", "ssl", "sqlite3", "ipykernel", "comm", "pyodide_kernel", "jedi", "ipython", "minigrad")
"""The packages that a notebook's kernel starts with: those it asks for, in its own spelling, and the library."""

ASKED_FOR = ("sqlite3", "micropip", "jedi", "ipython", "numpy", "matplotlib")
"""What the site takes from Pyodide's distribution, apart from what these depend on."""

PURE = ("anywidget", "comm", "ipywidgets", "psygnal", "typing-extensions")
"""What the site takes from the Python Package Index: widgets, which Pyodide's distribution leaves out."""


class LiteError(Exception):
    """The site cannot be made; the message says why, and what helps."""


@dataclass(frozen=True)
class Places:
    """The folders of one build.

    Attributes:
        site: The finished site.
        parts: What it is put together from, and what was downloaded for it. Its path must not begin like the site's:
            JupyterLite would take it for a part of the site, and not read its settings.
    """

    site: Path = ROOT / "build" / "lite"
    parts: Path = ROOT / "build" / "parts-of-lite"

    @property
    def kept(self) -> Path:
        """Downloaded files, kept for the next build."""
        return self.parts / "kept"

    @property
    def source(self) -> Path:
        """The folder that JupyterLite reads."""
        return self.parts / "source"

    @property
    def python(self) -> Path:
        """The interpreter with all packages, as the site has them; JupyterLite would start it in its own way."""
        return self.parts / "python"
