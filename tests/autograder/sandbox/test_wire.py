"""The grader's side of the pipe believes nothing: whatever is not plain data of a bounded size is refused."""

import base64
import io
import json
import math
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.inside import wire

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


def same(one, other) -> bool:
    """Equality in which NaN equals NaN and types count."""
    return repr(one) == repr(other)


@given(PLAIN)
def test_plain_data_survives_the_wire(value):
    """What is encoded, packed, unpacked and decoded is what it was."""
    sent = wire.unpack(wire.pack({"value": wire.encode(value)}))
    assert same(wire.decode(sent["value"]), value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 2)])
def test_arrays_survive_the_wire(dtype, shape):
    """Values, shape and dtype are kept, also of views, and the copy can be written to."""
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype).T
    seen = wire.decode(wire.encode(array))
    assert seen.dtype == array.dtype
    assert seen.shape == array.shape
    assert seen.tolist() == array.tolist()
    assert seen.flags.writeable


class Sly(list):
    """A list that says what it likes."""

    def __iter__(self):
        raise AssertionError("asked")


class SlyKind(type):
    """A type that lies about its name."""

    @property
    def __name__(cls):
        raise AssertionError("asked")


class Lying(metaclass=SlyKind):
    """Of that type."""


@pytest.mark.parametrize(
    "value", [Sly(), object(), Lying(), b"", {1}, range(3), {None: 1}, np.array(["x"]), np.array(1j)]
)
def test_other_types_are_not_plain(value):
    """Subclasses and other types are refused without asking them anything."""
    with pytest.raises(wire.NotPlain):
        wire.encode([value])


@pytest.mark.parametrize("value", [[0] * 200_001, 10**1001, np.zeros(2_000_000), np.empty((0, 2**40))])
def test_large_values_are_too_large(value):
    """Counts, digits and bytes have a bound."""
    with pytest.raises(wire.TooLarge):
        wire.encode(value)


def npy(header: dict[str, object], data: bytes, magic: bytes = b"\x93NUMPY\x01\x00") -> dict[str, str]:
    """An array with a header that says what it likes."""
    text = repr(header).encode().ljust(117) + b"\n"
    return {"npy": base64.b64encode(magic + struct.pack("<H", len(text)) + text + data).decode()}


def saved(array: np.ndarray) -> dict[str, str]:
    """An array saved with pickles allowed."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return {"npy": base64.b64encode(buffer.getvalue()).decode()}


HONEST = {"descr": "<f8", "fortran_order": False, "shape": (1,)}


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"a": 1},
        {"d": 1},
        {"d": [["a"]]},
        {"d": [[1, 2]]},
        {"d": [], "npy": ""},
        {"npy": 1},
        {"npy": "not base64"},
        {"npy": base64.b64encode(pickle.dumps(1)).decode()},
        {"npy": base64.b64encode(b"PK\x03\x04" + bytes(40)).decode()},
        npy(HONEST, b"\0" * 8, magic=b"\x93NUMPY\x02\x00"),
        npy(HONEST, b"\0" * 7),
        npy(HONEST, b"\0" * 16),
        npy({**HONEST, "shape": (10**15,)}, b"\0" * 8),
        npy({**HONEST, "shape": (-1,)}, b"\0" * 8),
        npy({**HONEST, "shape": (0, 2**63 - 1)}, b""),
        npy({**HONEST, "shape": (0, 2**70)}, b""),
        npy({**HONEST, "shape": (0,) + (2**22,) * 20}, b""),
        npy({**HONEST, "shape": (True,)}, b"\0" * 8),
        npy({**HONEST, "descr": "|O"}, b"\0" * 8),
        npy({**HONEST, "descr": "<U2"}, b"\0" * 8),
        npy({**HONEST, "descr": [("a", "<f4"), ("b", "<f4")]}, b"\0" * 8),
        npy({**HONEST, "shape": (1,) * 40}, b"\0" * 8),
        saved(np.array([print], dtype=object)),
        [0] * 200_001,
    ],
)
def test_forged_values_are_malformed(raw):
    """What `encode` cannot have written is refused, before memory is spent on it."""
    with pytest.raises(wire.Malformed):
        wire.decode(raw)


def test_deep_values_are_malformed():
    """Nesting has a bound on the receiving side too."""
    raw: list[object] = []
    for _ in range(60):
        raw = [raw]
    with pytest.raises(wire.Malformed, match="nested deeper"):
        wire.decode(raw)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"3",
        b"{",
        b'{"a":' + b"[" * 100_000,
        b'{"a":' + b"9" * 1002 + b"}",
        '{"\u00e9":1}'.encode(),
    ],
)
def test_payloads_that_are_no_objects_are_malformed(data):
    """Not JSON, not an object, too deep, too many digits, not ASCII."""
    with pytest.raises(wire.Malformed):
        wire.unpack(data)


def test_small_pieces_without_end_are_malformed():
    """Millions of empty lists are refused before they are made, which would take seconds and a gigabyte."""
    with pytest.raises(wire.Malformed, match="too many parts"):
        wire.unpack(b'{"value":[' + b"[]," * (wire.MAX_MARKS // 2) + b"0]}")
    assert wire.unpack(b'{"value":[' + b"0," * 1000 + b"0]}") == {"value": [0] * 1001}


def test_lone_surrogates_become_printable():
    """A text that no file can hold is made one that any can."""
    assert wire.decode(json.loads('"a\\ud800b"')) == "a?b"
    assert wire.decode(json.loads('{"d": [["\\udfff", 1]]}')) == {"?": 1}


def test_frames_are_read_as_they_were_written():
    """Two frames in one pipe are told apart; a closed pipe gives None, also in the middle of a frame."""
    read, write = os.pipe()
    wire.write_all(write, wire.frame(b"one") + wire.frame(b"") + wire.frame(b"three")[:-1])
    os.close(write)
    assert [wire.read_frame(read) for _ in range(4)] == [b"one", b"", None, None]
    os.close(read)


def test_a_length_beyond_the_bound_is_malformed():
    """A header alone can make the receiver allocate nothing."""
    assert wire.frame_length(struct.pack(">I", wire.MAX_FRAME)) == wire.MAX_FRAME
    with pytest.raises(wire.Malformed):
        wire.frame_length(struct.pack(">I", wire.MAX_FRAME + 1))


def test_a_payload_beyond_the_bound_is_too_large():
    """A sender learns that its reply does not fit."""
    with pytest.raises(wire.TooLarge):
        wire.pack({"value": "x" * (wire.MAX_FRAME + 1)})
    with pytest.raises(wire.TooLarge, match="a message of 32 bytes"):
        wire.pack({"value": "x" * 20}, limit=31)
    with pytest.raises(wire.Malformed):
        wire.frame_length(struct.pack(">I", 32), limit=31)
