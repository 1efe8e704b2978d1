"""A busy machine costs nobody a point: time that others took is not counted."""

import multiprocessing
import os
import time

import pytest
from small_edition import LIMITS, RIGHT, ask, run, solution, write_edition

from autograder.sandbox import Sandbox
from autograder.sandbox.inside.patience import MOST, Patience, stalled, waited

pytestmark = pytest.mark.full("it keeps every core busy", share=16, group="load")

RUNS = int(os.environ.get("MINIGRAD_LOAD_RUNS", "5"))
"""How often the submission is graded under load; `MINIGRAD_LOAD_RUNS=50` is the long form."""

BUSY = 4
"""Processes that do nothing but keep each core busy."""

WORK = solution(
    "def double(x):\n"
    "    import time\n"
    "    end = time.process_time() + 0.2\n"
    "    while time.process_time() < end:\n"
    "        pass\n"
    "    return x + x\n"
)
"""Right, and half of what its time limit allows."""


def spin():
    while True:
        pass


@pytest.fixture
def load():
    """A machine whose cores all have more to do than they can."""
    busy = [multiprocessing.Process(target=spin, daemon=True) for _ in range(BUSY * (os.cpu_count() or 1))]
    for process in busy:
        process.start()
    yield
    for process in busy:
        process.kill()
        process.join()


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """A sandbox with the small library."""
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), LIMITS) as box:
        yield box


@pytest.mark.skipif(not stalled(), reason="this system does not say how long processes wait for a processor")
def test_an_honest_submission_under_load(box, load):
    """Work that takes half of its time on a quiet machine is in time on one that is five times too busy."""
    print(f"{RUNS} runs")
    for _ in range(RUNS):
        with run(box, WORK) as session:
            assert [cell.status for cell in session.cells] == ["ok"], session.cells
            answer = ask(session, 21)
        assert answer.ok and answer.value == 42, answer


def test_an_endless_loop_ends_under_load(box, load):
    """A limit is stretched and not lifted, for a loop that listens and for one that does not."""
    for source in (
        "while True: pass",
        "while True:\n    try:\n        sum(range(10**12))\n    except BaseException: pass",
    ):
        begun = time.monotonic()
        with run(box, source, RIGHT) as session:
            assert session.cells[0].status == "timeout"
            assert session.cells[1].ok
        assert time.monotonic() - begun < 10 * MOST


def test_sleeping_is_not_waiting(box):
    """Whoever sleeps uses up time: only what the machine withheld is given back."""
    begun = waited()
    patience = Patience(0.05, waited, begun)
    time.sleep(0.1)
    assert not patience.left() or waited() - begun > 0.05  # else this very process was kept waiting


def test_what_was_lost_is_asked_for_before_too_little_is_left():
    """A question that needs two seconds gets them if they were lost to waiting, although one is left without those."""
    patience = Patience(1.0, lambda: 5.0, 0.0)
    assert patience.left() <= 1.0
    assert 2.0 < patience.left(enough=2.0) <= 6.0


def test_what_was_lost_is_given_back(monkeypatch):
    """A limit ends later by what was lost, up to so many times itself."""
    lost, clock = iter([0.0, 100.0, 100.0]), iter([0.0, 0.011, 0.011, 0.01 * MOST, 0.01 * MOST])
    monkeypatch.setattr("autograder.sandbox.inside.patience._monotonic", lambda: next(clock))
    patience = Patience(0.01, lambda: next(lost))
    assert 0 < patience.left() <= 0.01 * MOST
    assert not patience.left()
