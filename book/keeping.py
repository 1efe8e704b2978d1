"""Results that take long, kept by a hash of all that decides them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from book.places import ROOT
from minigrad.machine.files import write

__all__ = ["hash_of", "kept", "of_files", "of_library"]

_CODE = {".css", ".js", ".json", ".py", ".toml", ".txt"}


def hash_of(*parts: str) -> str:
    """Return a hash of texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def of_files(files: Iterable[Path]) -> str:
    """Return a hash of the names and contents of files."""
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)} ".encode() + content)
    return digest.hexdigest()[:32]


@cache
def of_library() -> str:
    """Return a hash of the library, of Python and of all installed packages."""
    packages = sorted(f"{each.name} {each.version}" for each in distributions())
    library = (path for path in (ROOT / "src").rglob("*") if path.suffix in _CODE and path.is_file())
    return hash_of(sys.version, *packages, of_files(library))


def kept(file: Path, make: Callable[[], str]) -> str:
    """Return the text of a file, or make it and write it.

    Args:
        file: Its name holds a hash of all that decides the text.
        make: Makes the text.
    """
    if file.is_file():
        return file.read_text(encoding="utf-8")
    text = make()
    json.loads(text)  # what is kept can be read again
    for older in file.parent.glob(f"{file.stem.rpartition('-')[0]}-*{file.suffix}"):
        older.unlink()
    write(file, text.encode())
    return text
