"""Files of the IDX format, in which the MNIST digits are handed round.

Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", section "File formats".
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from minigrad.data.dataset import TensorDataset
from minigrad.tensors import creation

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> NDArray[np.generic]:
    """Read an IDX file, compressed by gzip or not.

    Args:
        path: The file.

    Returns:
        An array with the shape and type that the file gives, in the machine's byte order.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is no IDX file, or not all of one.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"read_idx: there is no file {path}")
    data = _unpacked(path)
    # Two zeros, the type, the number of axes, then each size as four bytes.
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES:
        raise ValueError(f"read_idx: {path} is no IDX file: it begins with {data[:4].hex(' ') or 'nothing'}")
    axes, dtype = data[3], np.dtype(_TYPES[data[2]])
    body = 4 + 4 * axes
    shape = tuple(int.from_bytes(data[start : start + 4], "big") for start in range(4, body, 4))
    wanted = math.prod(shape) * dtype.itemsize
    if len(data) - body != wanted:
        raise ValueError(f"read_idx: {path} holds {len(data) - body} bytes of data, and shape {shape} needs {wanted}")
    return np.frombuffer(data, dtype, offset=body).reshape(shape).astype(dtype.newbyteorder("="))


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"read_idx: {path} cannot be unpacked ({error}); fetch it again") from None


def mnist(folder: str | os.PathLike[str], train: bool = True) -> TensorDataset:
    """Read MNIST, or a set with the same file names such as Fashion-MNIST, from a folder of the user's.

    Args:
        folder: Holds ``train-images-idx3-ubyte`` and so on, with or without ``.gz``.
        train: Whether to read the 60,000 training images or the 10,000 test images.

    Returns:
        Images as float32 of shape (n, 1, 28, 28) between 0 and 1, and labels as int64 of shape (n,).

    Raises:
        FileNotFoundError: If a file is missing. The message names it.
        ValueError: If a file is damaged, or images and labels do not belong together.
    """
    part = "train" if train else "t10k"
    images = read_idx(_find(Path(folder), f"{part}-images-idx3-ubyte"))
    labels = read_idx(_find(Path(folder), f"{part}-labels-idx1-ubyte"))
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise ValueError(f"mnist: images of shape {images.shape} and labels of shape {labels.shape} do not match")
    pixels = images.astype(np.float32)[:, None] / np.float32(255.0)
    return TensorDataset(creation.from_numpy(pixels), creation.from_numpy(labels.astype(np.int64)))


def _find(folder: Path, name: str) -> Path:
    # As the files are named on the original page, and as some programs unpack them.
    for candidate in (name, f"{name}.gz", name.replace("-idx", ".idx"), f"{name.replace('-idx', '.idx')}.gz"):
        for place in (folder, folder / "raw", folder / "MNIST" / "raw"):
            if (place / candidate).is_file():
                return place / candidate
    raise FileNotFoundError(f"mnist: {folder} holds neither {name} nor {name}.gz; put the four files of MNIST there")
