"""What the race detectors advise, and how they name places and misuses."""

import numpy as np
import pytest
from debug_prange_kernels import compiled

from minigrad import cuda_ops, debug, fast_ops, tensor_data
from minigrad.debug import races
from minigrad.debug.report import Race
from minigrad.machine._numba import numba

prange = numba.prange


def advice_for(statement):
    """Return the first finding on a loop of three iterations with that body."""
    text = f"def kernel(out, a, k):\n    for i in prange(3):\n        {statement}\n"
    return races(compiled(text), np.zeros((3, 2)), np.ones(3), np.zeros(3, np.int64)).races[0].message


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("out[0, 1] += a[i]", "`total = out[0, 1]` before the loop, `total += ...` in it"),
        ("out[-1, 0] *= a[i]", "`total *= ...` in it, which Numba reduces safely, and `out[-1, 0] = total` once after"),
        ("out[k[i], 0] += a[i]", "a prange loop over the elements of out, and in it a range loop"),
        ("out[0] += a[i]", "`total = out[0]` before the loop"),
        ("out[:, 0] += a[i]", "let the whole line be `out += ...`"),
    ],
)
def test_the_advice_fits_what_is_added_to(statement, words):
    """One element is added up in a variable, elements that are looked up by one iteration each, slices as arrays."""
    assert words in advice_for(statement)


def test_the_advice_on_one_element_is_right():
    """A kernel that follows the advice has no race, and compiled it gives what the loop in order would give."""

    def kernel(out, a):
        total = out[0]
        for i in prange(len(a)):
            total *= a[i]
        out[0] = total

    out, a = np.array([3.0]), np.full(40, 1.25)
    assert not races(kernel, out, a)
    numba.njit(parallel=True)(kernel)(out, a)
    assert out[0] == pytest.approx(3.0 * 1.25**40)


def test_a_line_of_another_file_is_named_with_its_file():
    """A finding in a helper of another file names that file, one in the kernel's own names none."""

    def kernel(out, shape):
        index = np.empty(2, np.int32)
        for i in prange(len(out)):
            tensor_data.to_index(i, shape, index)
            out[i] = index[0]

    found = races(kernel, np.zeros(4), np.array([2, 2]))
    first = kernel.__code__.co_firstlineno
    places = [place for race in found.races for place in race.places()]
    helper = next(place for place in places if "in to_index" in place)
    assert helper.startswith("tensor_data.py, line ") and helper.endswith(f"(reached from line {first + 3})")
    assert next(place for place in places if "in kernel" in place).startswith(f"line {first + 4}, in kernel: out[i]")


def test_a_place_without_text_ends_with_the_function():
    """Where the source text is not known, nothing stands for it."""
    assert Race("lost", "x", line=5, function="kernel").places() == ["line 5, in kernel"]


def test_the_maker_of_a_kernel_is_no_kernel():
    """Who gives the function that makes a kernel is told to call it first, whether its arguments fit or not."""
    with pytest.raises(
        TypeError, match=r"cannot be called with 2 arguments.* first: races\(tensor_map\(fn\), \.\.\.\)"
    ):
        races(fast_ops.tensor_map, np.zeros(3), np.ones(3))
    with pytest.raises(TypeError, match=r"tensor_map returned a function .* races\(tensor_map\(fn\), \.\.\.\)"):
        races(fast_ops.tensor_map, abs)
    with pytest.raises(TypeError, match=r"call it first: cuda_races\(tensor_map\(fn\)"):
        debug.cuda_races(cuda_ops.tensor_map, 1, 2, np.zeros(3), np.ones(3))


def test_arguments_that_do_not_fit_are_counted():
    """A kernel that is given too few arguments says how it is called, and nothing of makers."""

    def kernel(out, x):
        for i in prange(len(out)):
            out[i] = x[i]

    with pytest.raises(TypeError, match=r"races: kernel\(out, x\) cannot be called with 1 argument: .*'x'$"):
        races(kernel, np.zeros(3))
