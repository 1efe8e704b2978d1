"""Wheels that the site makes itself: the library, and packages without content."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from minigrad.machine.files import write

__all__ = ["wheel"]

_EARLY = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> Path:
    """Write a wheel of pure Python, and return its path.

    Args:
        folder: Where it is to lie.
        name: The package's name.
        version: Its version.
        files: Contents by path, such as ``minigrad/scalar.py``; none for a package that is only to be there.
    """
    about = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tags = "Wheel-Version: 1.0\nGenerator: book.lite\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    everything = dict(files) | {f"{about}/METADATA": metadata.encode(), f"{about}/WHEEL": tags.encode()}
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in sorted(everything.items()))
    everything[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(everything.items()):
            archive.writestr(zipfile.ZipInfo(path, _EARLY), data, zipfile.ZIP_DEFLATED)
    made = folder / f"{name}-{version}-py3-none-any.whl"
    write(made, content.getvalue())
    return made


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
