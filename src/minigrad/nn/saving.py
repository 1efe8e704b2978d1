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
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from minigrad.machine import files
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation

_TREE = "tree.json"
_PYTORCHS = (
    "it looks like a file of torch.save: read it with torch.load, and make tensors of its arrays with minigrad.tensor"
)
_OLD_PYTORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")  # what torch.save began with before it wrote archives
_TENSORS = {
    "tensor": (Tensor, False),
    "leaf": (Tensor, True),
    "parameter": (Parameter, True),
    "frozen parameter": (Parameter, False),
}
"""The kinds of tensors in a tree: the class, and whether gradients are asked of it."""
_KINDS = {kind: name for name, kind in _TENSORS.items()}
_DTYPES = ("float32", "float64", "int32", "int64", "bool")


def save(obj: Any, f: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write tensors, numbers, strings, None, and lists and dictionaries of them to a file.

    Of a file by its path there is at every moment the old one or the new one, whole.

    Args:
        obj: For example a ``state_dict()``. Parameters stay parameters, and ``requires_grad`` is kept; gradients and
            histories are not. A tensor that stands in several places is written once.
        f: The file's path, in a folder that exists, or an object with ``write``, such as `io.BytesIO` or a file that
            was opened with mode "wb".

    Raises:
        TypeError: If obj holds anything else, or the file is open for text. Nothing is written then.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     minigrad.save({"weight": minigrad.tensor([1.0, 2.0]), "epoch": 3}, f"{folder}/state.npz")
    ...     minigrad.load(f"{folder}/state.npz")
    {'weight': tensor([1., 2.]), 'epoch': 3}
    """
    tensors: dict[int, tuple[int, Tensor]] = {}
    tree = json.dumps(_described(obj, tensors, "the object"), allow_nan=True)
    if isinstance(f, str | os.PathLike):
        with files.replacing(Path(f)) as file:
            _write(file, tree, tensors)
        return
    _check_file(f, "save", "write", "wb")
    whole = io.BytesIO()  # an archive looks back while it is written, and a stream may not
    _write(whole, tree, tensors)
    f.write(whole.getbuffer())


def _check_file(f: object, operation: str, method: str, mode: str) -> None:
    """Refuse what is no file for bytes."""
    if isinstance(f, io.TextIOBase) or not hasattr(f, method):
        raise TypeError(f"{operation}: needs a path, or a file for bytes, as open(path, {mode!r}) gives it; not {f!r}")


def _write(file: Any, tree: str, tensors: dict[int, tuple[int, Tensor]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_TREE, tree)
        for index, tensor in tensors.values():
            with archive.open(f"{index}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asarray(tensor.detach().to("cpu").numpy(), order="C"), allow_pickle=False)


def _described(obj: Any, tensors: dict[int, tuple[int, Tensor]], where: str) -> Any:
    """Return obj as JSON, with tensors by number. Every container becomes a pair of its kind and its content."""
    if isinstance(obj, Tensor):
        number, _ = tensors.setdefault(id(obj), (len(tensors), obj))
        return [_KINDS[Parameter if isinstance(obj, Parameter) else Tensor, obj.requires_grad], number]
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
    instead = ", as its state_dict() is one" if hasattr(obj, "state_dict") else ""
    raise TypeError(
        f"save: {where} is a {type(obj).__name__}; tensors, numbers, strings, lists and dictionaries can be{instead}"
    )


def load(f: str | os.PathLike[str] | IO[bytes], map_location: str | None = None, *, weights_only: bool = True) -> Any:
    """Read what `save` has written. What was a parameter, or asked for gradients, does so again.

    Args:
        f: The file's path, or an object with ``read``, such as `io.BytesIO` or a file that was opened with mode "rb".
            It is read from where it stands to its end.
        map_location: The device of the tensors. None takes the CPU.
        weights_only: Of PyTorch. A file holds no code in any case.

    Raises:
        FileNotFoundError: If there is no such file.
        TypeError: If the file is open for text.
        ValueError: If the file is damaged, or was not written by `save`.

    >>> import io
    >>> file = io.BytesIO()
    >>> minigrad.save([minigrad.tensor([1.0], requires_grad=True), None], file)
    >>> _ = file.seek(0)
    >>> minigrad.load(file)
    [tensor([1.], requires_grad=True), None]
    """
    if not isinstance(f, str | os.PathLike):
        _check_file(f, "load", "read", "rb")
        return _read(io.BytesIO(f.read()), "the file", map_location)
    path = Path(f)
    if not path.is_file():
        raise FileNotFoundError(f"load: there is no file {path}")
    with path.open("rb") as file:
        return _read(file, str(path), map_location)


def _read(file: IO[bytes], name: str, map_location: str | None) -> Any:
    """Return what an archive holds, or raise ValueError."""
    try:
        with zipfile.ZipFile(file) as archive:
            if _TREE not in archive.namelist():
                theirs = any(name.endswith("/data.pkl") for name in archive.namelist())
                raise ValueError(_PYTORCHS if theirs else "it has no member tree.json")
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("its members are compressed")  # and might unpack to any size
            if min(member.header_offset for member in archive.infolist()):
                raise ValueError("something stands in front of it, perhaps what an earlier save wrote")
            return _rebuilt(json.loads(archive.read(_TREE)), _Tensors(archive, map_location or "cpu"))
    except zipfile.BadZipFile as error:
        file.seek(0)
        reason = _PYTORCHS if file.read(len(_OLD_PYTORCH)) == _OLD_PYTORCH else error
        raise ValueError(f"load: {name} was not written by minigrad.save, or is damaged ({reason})") from None
    except (zlib.error, EOFError, LookupError, TypeError, ValueError, NotImplementedError) as error:
        raise ValueError(f"load: {name} was not written by minigrad.save, or is damaged ({error})") from None
    except (RecursionError, RuntimeError) as error:  # nested without end, or encrypted
        raise ValueError(f"load: {name} was not written by minigrad.save ({error})") from None


class _Tensors:
    """The tensors of an archive, each made once."""

    def __init__(self, archive: zipfile.ZipFile, device: str) -> None:
        self.archive, self.device = archive, device
        self.made: dict[tuple[str, int], Tensor] = {}

    def get(self, kind: str, number: int) -> Tensor:
        """Return the tensor of a kind and a number."""
        if (kind, number) not in self.made:
            tensor = creation.from_numpy(_array(self.archive, f"{number}.npy")).to(device=self.device)
            made, wants = _TENSORS[kind]
            self.made[kind, number] = made(tensor._array, wants) if kind != "tensor" else tensor
        return self.made[kind, number]


def _rebuilt(tree: Any, tensors: _Tensors) -> Any:
    kind, content = tree
    if kind in _TENSORS:
        return tensors.get(kind, int(content))
    if kind == "value":
        if content is not None and not isinstance(content, bool | int | float | str):
            raise ValueError(f"tree.json has a {type(content).__name__} for a value")
        return content
    if kind == "dict":
        return {key: _rebuilt(value, tensors) for key, value in content}
    if kind in ("list", "tuple"):
        items = [_rebuilt(item, tensors) for item in content]
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
