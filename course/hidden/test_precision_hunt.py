"""Hidden tests of a student's test of rounding: right functions must pass, and wrong ones must not."""

import functools

import pytest

from autograder import Hunt, expect

is_rounding = functools.partial(pytest.mark.exercise, "precision.is_rounding")

ROUNDINGS = Hunt("precision.to_bfloat16", "precision.is_rounding(to_bfloat16)")


HEAD = """
def to_bfloat16(numbers):
    bits = numbers.view(np.uint32)
    upper, lower = bits >> 16, bits & 0xFFFF
    tie = (lower == 0x8000) & (upper & 1 == 1)
"""

TAIL = """
    found = ((upper + goes_up.astype(np.uint32)) << 16).view(np.float32)
    return np.where(np.isnan(numbers), numbers, found)
"""

HALF_TOO_EARLY = HEAD + "    goes_up = (lower > 0x8000) | (lower == 0x7FFF) | tie" + TAIL
HALF_TOO_LATE = HEAD + "    goes_up = (lower > 0x8001) | tie" + TAIL
NEGATIVES_CUT = HEAD + "    goes_up = ((lower > 0x8000) | tie) & (numbers > 0.0)" + TAIL

ROUNDED_IN_PLACE = """
def to_bfloat16(numbers):
    bits, kept = numbers.view(np.uint32), ~np.isnan(numbers)
    bits[kept] += np.uint32(0x7FFF) + (bits[kept] >> 16 & 1)
    bits[kept] &= np.uint32(0xFFFF0000)
    return numbers
"""


@is_rounding(
    group="neighbours", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'"
)
def test_neighbours(student):
    """Two right functions pass; functions that cut bits off, or round each tie up, or down, do not."""
    expect(
        ROUNDINGS(student, "two_halves", "by_arithmetic", "cut-off", "ties-away-from-zero", "ties-towards-zero"),
        ["passes", "passes", "refused", "refused", "refused"],
        example="two right functions, that of the lesson, one that rounds a tie up, and one that rounds it down",
        hint="let the last 16 bits be a 1 and fifteen zeros: nearly no random number is such a tie",
        misconception="never-a-tie",
        when={
            ("passes", "passes", "refused", "refused", "passes"): (
                "even-ties-only",
                "a tie above an odd neighbour goes up",
            ),
            ("passes", "passes", "refused", "passes", "refused"): (
                "odd-ties-only",
                "a tie above an even neighbour goes down",
            ),
        },
    )


@is_rounding(group="range", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'")
def test_sizes(student):
    """Functions that are right between 1 and 2 alone, or above 0 alone, are refused, and one that makes float16."""
    expect(
        ROUNDINGS(student, "by_arithmetic", "fixed-point", "float16-in-between", NEGATIVES_CUT),
        ["passes", "refused", "refused", "refused"],
        example="a right function, two that round to multiples of 1/128 and to float16, and one that cuts below 0",
        hint="try small numbers and large ones",
        misconception="between-one-and-two",
        when={("passes", "refused", "refused", "passes"): ("positive-only", "try negative numbers")},
    )


@is_rounding(group="range", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'")
def test_the_neighbours_of_a_tie(student):
    """Functions that are wrong for the number next to a tie alone are refused."""
    expect(
        ROUNDINGS(student, "two_halves", HALF_TOO_EARLY, HALF_TOO_LATE),
        ["passes", "refused", "refused"],
        example="a right function, and two that are wrong for the last number below a tie, or for the first above it",
        hint="of the last 16 bits, 0x7FFF and 0x8001 are nearest to a tie",
        misconception="ties-without-neighbours",
    )


@is_rounding(group="special", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'")
def test_the_largest_numbers(student):
    """A function that has a largest number where infinity is nearer is refused."""
    expect(
        ROUNDINGS(student, "by_arithmetic", "clipped-to-the-largest"),
        ["passes", "refused"],
        example="a right function, and one that never makes infinity of a number",
        hint="the largest numbers of float32 round up to infinity",
        misconception="never-too-large",
    )


@is_rounding(group="special", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'")
def test_each_nan(student):
    """A function for which a nan of many ones carries into the sign is refused."""
    expect(
        ROUNDINGS(student, "two_halves", "nan-carries"),
        ["passes", "refused"],
        example="a right function, and one that loses a nan whose bits are all 1",
        hint="nan is not one number: any bits of the fraction but zeros alone make one",
        misconception="one-kind-of-nan",
    )


@is_rounding(group="special", because="precision.is_rounding: 'A wrong function may be right for nearly all numbers.'")
def test_the_numbers_afterwards(student):
    """A function that rounds the array which it was given is refused."""
    expect(
        ROUNDINGS(student, "two_halves", "input-changed", ROUNDED_IN_PLACE),
        ["passes", "refused", "refused"],
        example="a right function, and two that change their argument",
        hint="look at the array that you handed over",
        misconception="copies-handed-over",
    )
