"""The race detector for prange loops: planted races are found each time, and correct kernels stay without a finding."""

import numpy as np
import pytest
from debug_prange_kernels import CORRECT, PLANTED, compiled

from minigrad.debug import races


def name_of(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("kernel", "args", "kinds", "array"), PLANTED, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_race_is_found(kernel, args, kinds, array, seed):
    """Each planted race is found, of the right kind, in the right array or variable, whatever the order."""
    report = races(kernel, *args, seed=seed)
    assert report
    assert report.kinds == kinds
    assert array in {race.array for race in report.races}


@pytest.mark.parametrize(("kernel", "args"), CORRECT, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_correct_kernel_has_no_finding(kernel, args, seed):
    """A correct kernel has no finding, and its parallel loops are known."""
    report = races(kernel, *args, seed=seed)
    assert not report, str(report)
    assert report.loops


# --- against the definition -----------------------------------------------------------------------------------

PLACES = ("i", "i // 2", "7 - i", "(3 * i) % 8", "i % 4", "0", "t[i]")


def accesses(place, table):
    """Which element each iteration touches, by the definition."""
    return [eval(place, {"i": i, "t": table}) for i in range(8)]


def collide(writes, others):
    return any(a == b for i, a in enumerate(writes) for j, b in enumerate(others) if i != j)


@pytest.mark.parametrize("write", PLACES)
def test_findings_agree_with_the_definition(write):
    """A loop that writes one place and reads another has exactly the races that its sets of elements have."""
    table = np.random.default_rng(5).integers(0, 8, 8)
    for read in PLACES:
        text = f"def kernel(a, t, out):\n    for i in prange(8):\n        a[{write}] = a[{read}] + 1.0\n"
        written, seen = accesses(write, table), accesses(read, table)
        expected = {"write-write"} if collide(written, written) else set()
        expected |= {"read-write"} if collide(written, seen) else set()
        assert races(compiled(text), np.zeros(8), table, None).kinds == expected, text
