"""Whatever the session's process says, the grader answers with an outcome it knows, never with an error of its own."""

import base64
import json
import os
import struct
import time
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_edition import DOUBLE, LIMITS, RIGHT

from autograder.sandbox import CellOutcome, Observation, Session
from autograder.sandbox.inside import wire
from autograder.sandbox.model import CellStatus, FailureKind
from autograder.sandbox.warm import Lost

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
NAMES = st.sampled_from([*get_args(CellStatus), *get_args(FailureKind), "npy", "d", "value"])


def npy(header: object) -> str:
    """An array of eight bytes or none, with a header that says what it likes."""
    text = repr(header).encode() + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
    return base64.b64encode(data).decode()


SIZES = st.sampled_from([0, 1, True, -1, 2**31, 2**63 - 1, 2**63, 2**70]) | st.integers()
HEADERS = st.fixed_dictionaries(
    {
        "descr": st.sampled_from(
            ["<f8", "|O", "", "<U3", "|b1", ">i4", "<f8,<f8", "(2,)f8", 3, None, [], [("a", "f8")]]
        ),
        "fortran_order": st.booleans() | SCALARS,
        "shape": st.lists(SIZES, max_size=4).map(tuple) | SCALARS,
    }
)
ARRAYS = st.fixed_dictionaries({"npy": HEADERS.map(npy) | st.text(max_size=9)})
JSON = st.recursive(
    SCALARS | NAMES | ARRAYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FRAMES = (
    st.fixed_dictionaries({"value": JSON})
    | st.fixed_dictionaries({"failure": st.lists(JSON, min_size=2, max_size=2) | JSON})
    | st.fixed_dictionaries({"cell": st.just(0) | JSON, "status": NAMES | JSON})
    | st.fixed_dictionaries(
        {"cell": st.just(0), "status": NAMES | JSON, "notes": st.lists(JSON, max_size=2) | JSON, "output": JSON},
        optional=dict.fromkeys(("line", "error", "message", "text"), JSON),
    )
    | st.fixed_dictionaries({"missing": JSON})
    | st.dictionaries(st.sampled_from(["cell", "status", "value", "failure", "missing"]), JSON)
)


class Liar:
    """Stands for a sandbox and its worker: every answer is forged."""

    limits = LIMITS
    busy = False
    process = os.getpid()
    preload = ()

    def __init__(self, *frames: Any) -> None:
        self.frames = [json.dumps(frame).encode() for frame in frames]

    def warm(self) -> "Liar":
        """The worker."""
        return self

    def send(self, **_request: Any) -> None:
        """Hear nothing."""

    def receive(self, _deadline: float) -> tuple[str, dict[str, Any]]:
        """The next forged frame; none is left at the end."""
        if not self.frames:
            raise Lost("the worker is gone")
        return "C", wire.unpack(self.frames.pop(0))

    def end_session(self) -> None:
        """Nothing runs."""


def begin(*frames: Any) -> Session:
    """A session of one cell, whose worker says these frames."""
    return Session(Liar(*frames), [RIGHT], DOUBLE)  # type: ignore[arg-type]


HONEST = ({"cell": 0, "status": "ok", "notes": [], "output": ""}, {"missing": []})


def assert_known(seen: Observation) -> None:
    """Assert that an observation is a value, or a failure of a known kind with a line to read."""
    assert type(seen) is Observation
    if not seen.ok:
        assert seen.failure is not None
        assert seen.failure.kind in get_args(FailureKind)
        assert isinstance(seen.failure.message, str)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(FRAMES)
@pytest.mark.full("hundreds of answers are forged", share=4)
def test_any_frame_for_an_observation_is_an_outcome(frame):
    """A forged answer is a value, or a failure of a known kind."""
    with begin(*HONEST, frame) as session:
        assert_known(session.observe(b""))


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(FRAMES, max_size=3))
@pytest.mark.full("hundreds of answers are forged", share=4)
def test_any_frames_for_the_cells_are_outcomes(frames):
    """Forged reports on the cells leave one known outcome for each cell."""
    with begin(*frames) as session:
        (outcome,) = session.cells
        assert type(outcome) is CellOutcome
        assert outcome.status in get_args(CellStatus)
        assert outcome.sentence()
        assert set(session.missing) <= set(DOUBLE.objects)
        assert_known(session.observe(b""))


@pytest.mark.parametrize(
    "frame",
    [
        {"failure": [[], "x"]},
        {"failure": [{}, {}]},
        {"value": {"npy": npy({"descr": "<f8", "fortran_order": False, "shape": (0, 2**63 - 1)})}},
        {"value": {"npy": npy({"descr": "<f8", "fortran_order": False, "shape": (0, 2**70)})}},
    ],
)
def test_a_forged_answer_ends_the_session(frame):
    """An answer that no worker gives costs the session, at once and in words."""
    begun = time.monotonic()
    with begin(*HONEST, frame) as session:
        assert session.observe(b"").failure.kind == "killed"
        assert session.observe(b"").failure.message.startswith("an earlier call ended the session: ")
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("status", [[], {}, None, 1, "fine"])
def test_a_forged_status_costs_the_cell(status):
    """A status that is none is written to the account of the cell."""
    with begin({**HONEST[0], "status": status}) as session:
        assert session.cells[0].status == "killed"


def test_what_cannot_be_foreseen_is_an_outcome_too(monkeypatch):
    """Any error of reading an answer is the answer's fault."""

    def broken(_raw):
        raise ZeroDivisionError

    monkeypatch.setattr(wire, "decode", broken)
    with begin(*HONEST, {"value": 1}) as session:
        assert session.observe(b"").failure.kind == "killed"
