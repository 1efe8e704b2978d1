"""Frames and plain data between the grader and the sandbox: length-prefixed JSON, bounded in every dimension.

A frame is four bytes of length (big endian) and a payload. A value is JSON with two tagged forms: a dictionary is
`{"d": [[key, value], ...]}` and an array is `{"npy": base64}`, so that data can never be taken for a tag.
Nothing here unpickles: the receiver believes no byte of what it reads.
"""

import base64
import io
import json
import math
import os
import struct
from typing import Any

import numpy as np

MAX_FRAME = 12 * 1024 * 1024
MAX_ITEMS = 200_000
MAX_DEPTH = 50
MAX_DIGITS = 1000
MAX_MARKS = 2_000_000
MAX_ARRAY_BYTES = 8 * 1024 * 1024
MAX_AXES = 32
_MAX_BITS = int(MAX_DIGITS * math.log2(10))
_HEADER = struct.Struct(">I")
_MARKS = (b",", b"[", b"{")
_PLAIN_KINDS = "biuf"


class NotPlain(ValueError):
    """A value that is not plain data."""


class TooLarge(ValueError):
    """A plain value that is larger than a reply may be."""


class Malformed(ValueError):
    """Bytes that are not a frame, or a frame that is not plain data."""


def encode(value: Any) -> Any:
    """Plain data as JSON: None, bool, int, float, str, list, tuple, dict with str keys, NumPy scalars and arrays.

    Raises:
        NotPlain: for any other type, a non-numeric array, or nesting deeper than `MAX_DEPTH`.
        TooLarge: for more than `MAX_ITEMS` values, an integer of more than `MAX_DIGITS` digits, or a large array.
    """
    return _Encoder().encode(value, 0)


class _Encoder:
    def __init__(self) -> None:
        self.items = 0

    def encode(self, value: Any, depth: int) -> Any:
        self.items += 1
        if self.items > MAX_ITEMS:
            raise TooLarge(f"more than {MAX_ITEMS:,} values")
        if depth > MAX_DEPTH:
            raise NotPlain(f"data nested deeper than {MAX_DEPTH} levels")
        kind = type(value)  # exactly these types: a subclass may override what the checks below rely on
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if kind is int:
            return _encode_int(value)
        if kind is list or kind is tuple:
            return [self.encode(item, depth + 1) for item in value]
        if kind is dict:
            return {"d": [[_encode_key(key), self.encode(item, depth + 1)] for key, item in value.items()]}
        if kind is np.ndarray:
            self.items += _rows(value.shape)
            if self.items > MAX_ITEMS:
                raise TooLarge(f"more than {MAX_ITEMS:,} values, with the empty rows of arrays")
            return {"npy": _encode_array(value)}
        if kind.__module__ == "numpy" and isinstance(value, np.generic) and value.dtype.kind in _PLAIN_KINDS:
            return self.encode(float(value) if value.dtype.kind == "f" else value.item(), depth + 1)
        raise NotPlain(f"a value of type {_type_name(kind)}, not plain data")


def _type_name(kind: type) -> str:
    return str(type.__dict__["__name__"].__get__(kind))[:80]


def _encode_key(key: Any) -> str:
    if type(key) is not str:
        raise NotPlain(f"a dictionary with a key of type {_type_name(type(key))}, not plain data")
    return key


def _encode_int(value: int) -> int:
    if value.bit_length() > _MAX_BITS:
        raise TooLarge(f"an integer of more than {MAX_DIGITS} digits")
    return value


def _encode_array(array: "np.ndarray[Any, Any]") -> str:
    if array.dtype.kind not in _PLAIN_KINDS or array.dtype.itemsize > 8:
        raise NotPlain(f"an array of dtype {array.dtype}, not plain numbers")
    if array.nbytes > MAX_ARRAY_BYTES or not _is_shape(array.shape):
        raise TooLarge(f"an array of shape {array.shape} and {array.nbytes:,} bytes")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def decode(raw: Any) -> Any:
    """The value that `encode` was given, tuples as lists.

    Raises:
        Malformed: for JSON that `encode` cannot have written.
    """
    return _Decoder().decode(raw, 0)


class _Decoder:
    def __init__(self) -> None:
        self.items = 0

    def decode(self, raw: Any, depth: int) -> Any:
        self.items += 1
        if self.items > MAX_ITEMS:
            raise Malformed(f"more than {MAX_ITEMS:,} values")
        if depth > MAX_DEPTH + 1:
            raise Malformed(f"data nested deeper than {MAX_DEPTH} levels")
        if raw is None or isinstance(raw, bool | int | float):
            return raw
        if isinstance(raw, str):
            return text(raw)
        if isinstance(raw, list):
            return [self.decode(item, depth + 1) for item in raw]
        if isinstance(raw, dict) and len(raw) == 1:
            return self._tagged(*next(iter(raw.items())), depth)
        raise Malformed("an unknown form of value")

    def _tagged(self, tag: str, body: Any, depth: int) -> Any:
        if tag == "npy" and isinstance(body, str):
            array = _decode_array(body)
            self.items += _rows(array.shape)
            return array
        if tag != "d" or not isinstance(body, list):
            raise Malformed("an unknown form of value")
        result: dict[str, Any] = {}
        for pair in body:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise Malformed("a dictionary without keys")
            result[text(pair[0])] = self.decode(pair[1], depth + 1)
        return result


def text(raw: str) -> str:
    """`raw` without lone surrogates, which JSON may carry and no file or terminal can show."""
    return raw.encode("utf-8", "replace").decode("utf-8")


def _decode_array(body: str) -> "np.ndarray[Any, Any]":
    """The array in `body`: its header is checked against its length before anything is allocated."""
    try:
        buffer = io.BytesIO(base64.b64decode(body, validate=True))
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise Malformed("an array in another format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
        if dtype.kind not in _PLAIN_KINDS or dtype.itemsize > 8 or not _is_shape(shape):
            raise Malformed("an array that is not plain numbers")
        data = buffer.read()
        if math.prod(shape) * dtype.itemsize != len(data) or len(data) > MAX_ARRAY_BYTES:
            raise Malformed("an array whose length does not fit its shape")
        return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C").copy()
    except Malformed:
        raise
    except Exception as error:  # the header is parsed as Python: there is no list of what that may raise
        raise Malformed("an array that cannot be read") from error


def _is_shape(shape: tuple[Any, ...]) -> bool:
    """Return whether these are numbers of items, which a bool is not.

    An array without items may say to have axes of any length, and as lists it is all of its other axes long.
    """
    if len(shape) > MAX_AXES or not all(type(size) is int and 0 <= size <= MAX_ARRAY_BYTES for size in shape):
        return False
    return _rows(shape) <= MAX_ITEMS


def _rows(shape: tuple[int, ...]) -> int:
    """Return the number of rows of an array without items; none where it has some, which its bytes bound."""
    return math.prod(size for size in shape if size) if 0 in shape else 0


def pack(payload: dict[str, Any], limit: int = MAX_FRAME) -> bytes:
    """A payload as JSON bytes.

    Raises:
        TooLarge: if there are more than `limit` of them.
    """
    data = json.dumps(payload, separators=(",", ":")).encode("ascii")
    if len(data) > limit:
        raise TooLarge(f"a message of {len(data):,} bytes")
    return data


def _bounded_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS + 1:
        raise Malformed(f"an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def unpack(data: bytes) -> dict[str, Any]:
    """The JSON object in `data`.

    Raises:
        Malformed: if there is none, or it is nested too deeply to be read.
    """
    if sum(map(data.count, _MARKS)) > MAX_MARKS:  # else small pieces without end would be made into objects first
        raise Malformed("JSON of too many parts")
    try:
        payload = json.loads(data.decode("ascii"), parse_int=_bounded_int)
    except (ValueError, RecursionError, MemoryError) as error:
        raise Malformed("bytes that are not JSON") from error
    if not isinstance(payload, dict):
        raise Malformed("JSON that is not an object")
    return payload


def frame(data: bytes) -> bytes:
    """`data` behind its length."""
    return _HEADER.pack(len(data)) + data


def frame_length(header: bytes, limit: int = MAX_FRAME) -> int:
    """The length that a header announces.

    Raises:
        Malformed: if it is larger than `limit`.
    """
    length: int = _HEADER.unpack(header)[0]
    if length > limit:
        raise Malformed(f"a frame of {length:,} bytes")
    return length


def _read_exactly(descriptor: int, count: int) -> bytes | None:
    chunks = []
    while count:
        chunk = os.read(descriptor, min(count, 1 << 16))
        if not chunk:
            return None
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def read_frame(descriptor: int) -> bytes | None:
    """The next frame's payload, or None when the other side has closed.

    Raises:
        Malformed: if the announced length is larger than a frame may be.
    """
    header = _read_exactly(descriptor, _HEADER.size)
    return None if header is None else _read_exactly(descriptor, frame_length(header))


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, however little the pipe takes at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
