"""Bytecode for the modules that a lesson's start imports, beside their sources. It runs in the site's Python, in Node.

Without bytecode a browser compiles each module anew in each start, and that is most of an import's time. Only the same
Python writes what it can read. Modules that no start imports get none: a reader would download it for nothing.
"""

from __future__ import annotations

import contextlib
import py_compile
import sys
import zipfile
from collections.abc import Iterable
from importlib.util import cache_from_source
from pathlib import Path
from site import getsitepackages
from tempfile import TemporaryDirectory
from zipfile import ZipInfo

__all__ = ["add", "add_to"]

STANDARD = "python_stdlib.zip"
FIRST = (
    "import pyodide_kernel, piplite.piplite",
    "import anywidget",
    "import io; from matplotlib import pyplot; pyplot.subplots()[0].savefig(io.BytesIO())",
)


def add(folder: str, cells: Iterable[str]) -> None:
    """Put bytecode into archives.

    Args:
        folder: Has the standard library and wheels; all of these are loaded.
        cells: What is run to see which modules are used: the first cells of lessons.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in (*FIRST, *cells):
        with contextlib.suppress(Exception):  # a site may lack packages, an edition answers: the rest is compiled
            exec(cell, names)
    used = {str(module.__file__) for module in sys.modules.values() if getattr(module, "__file__", None)}
    library = next(path for path in sys.path if path.endswith(".zip"))
    for archive in (Path(folder, STANDARD), *Path(folder).glob("*.whl")):
        add_to(archive, library if archive.name == STANDARD else getsitepackages()[0], used)


def add_to(archive: Path, place: str, used: set[str]) -> None:
    """Put bytecode into an archive.

    Args:
        archive: The zip of the standard library, or a wheel.
        place: The folder from which Python imports what is in it.
        used: The places of the modules that get bytecode.
    """
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as content:
        for each in list(content.infolist()):
            path = f"{place}/{each.filename}"
            if path in used and path.endswith(".py"):
                beside = f"{each.filename}c" if archive.name == STANDARD else cache_from_source(each.filename)
                made = _bytecode(content.read(each), path)
                content.writestr(ZipInfo(beside, each.date_time), made, zipfile.ZIP_DEFLATED)


def _bytecode(source: bytes, path: str) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder, "module.py")
        file.write_bytes(source)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(file), f"{file}c", path, doraise=True, invalidation_mode=unchecked)
        return Path(f"{file}c").read_bytes()
