"""Saving and loading: tensors in an archive that NumPy can read, without pickle.

A file is a zip archive, as NumPy's ``.npz``: one ``.npy`` member for each tensor, and the member ``tree.json`` that
says how they stand in dictionaries and lists. Loading runs no code of the file's.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from minigrad import files
from minigrad.tensors import Tensor, creation

__all__ = ["load", "save"]

_TREE = "tree.json"
_PYTORCHS = (
    "it looks like a file of torch.save: read it with torch.load, and make tensors of its arrays with minigrad.tensor"
)
_OLD_PYTORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")  # what torch.save began with before it wrote archives
_DTYPES = ("float32", "float64", "int32", "int64", "bool")


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write tensors, numbers, strings, None, and lists and dictionaries of them to a file.

    At every moment there is the old file or the new one, whole.

    Args:
        obj: For example a ``state_dict()``.
        path: The file. Its folder must exist.

    Raises:
        TypeError: If obj holds anything else. Nothing is written then.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     minigrad.save({"weight": minigrad.tensor([1.0, 2.0]), "epoch": 3}, f"{folder}/state.npz")
    ...     minigrad.load(f"{folder}/state.npz")
    {'weight': tensor([1., 2.]), 'epoch': 3}
    """
    tensors: list[Tensor] = []
    tree = json.dumps(_described(obj, tensors, "the object"), allow_nan=True)
    with files.replacing(Path(path)) as file:
        _write(file, tree, tensors)


def _write(file: Any, tree: str, tensors: list[Tensor]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_TREE, tree)
        for index, tensor in enumerate(tensors):
            with archive.open(f"{index}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asarray(_values(tensor), order="C"), allow_pickle=False)


def _values(tensor: Tensor) -> Any:
    return tensor.detach().to("cpu").numpy()


def _described(obj: Any, tensors: list[Tensor], where: str) -> Any:
    """Return obj as JSON, with tensors by number. Every container becomes a pair of its kind and its content."""
    if isinstance(obj, Tensor):
        tensors.append(obj)
        return ["tensor", len(tensors) - 1]
    if obj is None or isinstance(obj, bool | int | float | str):
        return ["value", obj]
    if isinstance(obj, np.bool_ | np.integer | np.floating):
        return ["value", obj.item()]
    if isinstance(obj, Mapping):
        pairs = []
        for key, value in obj.items():
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise TypeError(f"save: {where} has the key {key!r}; keys are strings or whole numbers")
            pairs.append([key, _described(value, tensors, f"{where}[{key!r}]")])
        return ["dict", pairs]
    if isinstance(obj, list | tuple):
        items = [_described(item, tensors, f"{where}[{index}]") for index, item in enumerate(obj)]
        return ["tuple" if isinstance(obj, tuple) else "list", items]
    raise TypeError(
        f"save: {where} is a {type(obj).__name__}; tensors, numbers, strings, lists and dictionaries can be"
    )


def load(path: str | os.PathLike[str], map_location: str | None = None, weights_only: bool = True) -> Any:
    """Read what `save` has written. Tensors come back without gradients.

    Args:
        path: The file.
        map_location: The device of the tensors. None takes the CPU.
        weights_only: Of PyTorch. A file holds no code in any case.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is damaged, or was not written by `save`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     minigrad.save([minigrad.tensor([1, 2], requires_grad=False), None], f"{folder}/list.npz")
    ...     minigrad.load(f"{folder}/list.npz")
    [tensor([1, 2]), None]
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"load: there is no file {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            if _TREE not in archive.namelist():
                theirs = any(name.endswith("/data.pkl") for name in archive.namelist())
                raise ValueError(_PYTORCHS if theirs else "it has no member tree.json")
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("its members are compressed")  # and might unpack to any size
            return _rebuilt(json.loads(archive.read(_TREE)), archive, map_location or "cpu")
    except zipfile.BadZipFile as error:
        with path.open("rb") as file:
            theirs = file.read(len(_OLD_PYTORCH)) == _OLD_PYTORCH
        reason = _PYTORCHS if theirs else error
        raise ValueError(f"load: {path} was not written by minigrad.save, or is damaged ({reason})") from None
    except (zlib.error, EOFError, LookupError, TypeError, ValueError, NotImplementedError) as error:
        raise ValueError(f"load: {path} was not written by minigrad.save, or is damaged ({error})") from None
    except (RecursionError, RuntimeError) as error:  # nested without end, or encrypted
        raise ValueError(f"load: {path} was not written by minigrad.save ({error})") from None


def _rebuilt(tree: Any, archive: zipfile.ZipFile, device: str) -> Any:
    kind, content = tree
    if kind == "tensor":
        return creation.from_numpy(_array(archive, f"{int(content)}.npy")).to(device=device)
    if kind == "value":
        if content is not None and not isinstance(content, bool | int | float | str):
            raise ValueError(f"tree.json has a {type(content).__name__} for a value")
        return content
    if kind == "dict":
        return {key: _rebuilt(value, archive, device) for key, value in content}
    if kind in ("list", "tuple"):
        items = [_rebuilt(item, archive, device) for item in content]
        return tuple(items) if kind == "tuple" else items
    raise ValueError(f"tree.json names the kind {kind!r:.40}")


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    """Read one array, having made sure that the member is as long as its header claims."""
    data = io.BytesIO(archive.read(name))
    version = npy.read_magic(data)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in read:
        raise ValueError(f"{name} has version {version} of NumPy's format")
    shape, in_columns, dtype = read[version](data)
    if dtype.name not in _DTYPES or dtype.byteorder == ">":
        raise ValueError(f"{name} has dtype {dtype}")
    body = data.getbuffer()[data.tell() :]
    if len(body) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name} has {len(body)} bytes for shape {shape} of {dtype}")
    return np.frombuffer(bytearray(body), dtype).reshape(shape, order="F" if in_columns else "C")
