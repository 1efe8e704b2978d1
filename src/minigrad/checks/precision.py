"""Visible tests of numbers of fewer bits, on numbers worked out by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import precision
from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.nn_functional import as_list
from minigrad.checks.runner import visible
from minigrad.tensors import creation

BITS = "13 'Sixteen bits'"
HUNT = "13 'A hunt'"
GRADIENTS = "13 'Gradients that vanish'"
BYTES = "13 'A byte for each weight'"
CHANGES = "13 'Small changes to large matrices'"


def float32(*values: Any) -> np.ndarray:
    """Return numbers as an array of float32."""
    return np.array(values, np.float32)


# --- sixteen bits ---------------------------------------------------------------------------------------------------


@visible("precision.to_bfloat16", BITS)
def nearest_neighbours(student: SimpleNamespace) -> None:
    """1.003 becomes 1, 1.005 becomes 1 + 1/128, and 300.4 becomes 300."""
    found = student.to_bfloat16(float32(1.003, 1.005, 300.4))
    cut = "the last 16 bits are cut off, which rounds towards 0; take the nearest neighbour"
    hint = "neighbours near 1 are 1/128 apart, those near 300 are 2 apart"
    expect(np.asarray(found).tolist(), [1.0, 1.0078125, 300.0], hint=hint, when={(1.0, 1.0, 300.0): cut})


@visible("precision.to_bfloat16", BITS)
def ties_go_to_even(student: SimpleNamespace) -> None:
    """1 + 1/256 lies halfway, and becomes 1; 1 + 3/256 lies halfway, and becomes 1 + 4/256."""
    found = student.to_bfloat16(float32(1 + 1 / 256, 1 + 3 / 256))
    meanings = {
        (1 + 2 / 256, 1 + 4 / 256): "ties always went up",
        (1.0, 1 + 2 / 256): "ties always went down",
    }
    hint = "of two neighbours the one whose last bit is 0 is taken: 1, and 1 + 4/256"
    expect(np.asarray(found).tolist(), [1.0, 1 + 4 / 256], hint=hint, when=meanings)


@visible("precision.to_bfloat16", BITS)
def numbers_without_a_neighbour(student: SimpleNamespace) -> None:
    """Infinity stays infinity, and nan stays nan."""
    found = student.to_bfloat16(float32(math.inf, -math.inf, math.nan)).tolist()
    expect(found[:2], [math.inf, -math.inf], hint="infinity stays what it is")
    expect_that(
        math.isnan(found[2]), f"nan became {found[2]}", hint="adding to the bits of nan may carry: ask np.isnan"
    )


def _right(numbers: np.ndarray) -> np.ndarray:
    upper, lower = numbers.view(np.uint32) >> 16, numbers.view(np.uint32) & 0xFFFF
    upper = upper + np.where(lower == 0x8000, upper & 1, lower > 0x8000).astype(np.uint32)
    return np.where(np.isnan(numbers), numbers, (upper << 16).view(np.float32))


def _cut(numbers: np.ndarray) -> np.ndarray:
    return (numbers.view(np.uint32) & 0xFFFF0000).view(np.float32)


@visible("precision.is_rounding", HUNT)
def right_roundings_pass(student: SimpleNamespace) -> None:
    """The library's to_bfloat16 passes, and so does one that adds the last bit by hand."""
    of = "the verdict on a right function"
    hint = "this function is right: nan is not equal to itself, so compare with equal_nan=True"
    expect(bool(student.is_rounding(precision.to_bfloat16)), True, hint=hint, of=of)
    expect(bool(student.is_rounding(_right)), True, hint=hint, of=of)


@visible("precision.is_rounding", HUNT)
def wrong_roundings_are_refused(student: SimpleNamespace) -> None:
    """The function of the lesson that forgets the last bits is refused."""
    hint = "this is the function of the lesson, which cuts: its numbers are near, and not equal to the right ones"
    expect(bool(student.is_rounding(_cut)), False, hint=hint, of="the verdict on a wrong function")


# --- gradients that vanish ------------------------------------------------------------------------------------------


@visible("precision.LossScaler", GRADIENTS)
def divided_in_float32(student: SimpleNamespace) -> None:
    """With a scale of 2^24, the float16 gradients 0.5 and 1 are those of 2^-25 and 2^-24."""
    found = student.LossScaler(2.0**24).unscale([np.array([0.5, 1.0], np.float16)])
    meanings = {0.0: "float16 has no number as small as this: convert to float32 before you divide"}
    expect([each.tolist() for each in found], [[2.0**-25, 2.0**-24]], hint="gradient / scale", when=meanings)


@visible("precision.LossScaler", GRADIENTS)
def one_infinity_skips_all(student: SimpleNamespace) -> None:
    """An infinite number in the second of two gradients: None, and the scale 8 becomes 4; then a nan, and it is 2."""
    scaler = student.LossScaler(8.0)
    found = scaler.unscale([np.ones(2, np.float16), np.array([1.0, math.inf], np.float16)])
    expect(found, None, hint="one number that is not finite, in any gradient, skips the step")
    expect(scaler.scale, 4.0, hint="the scale was too large: halve it", of="the scale afterwards")
    found = scaler.unscale([np.array([1.0, math.nan], np.float16)])
    expect([found, scaler.scale], [None, 2.0], hint="nan is no gradient either", of="the result and the scale")


@visible("precision.LossScaler", GRADIENTS)
def doubled_after_patience(student: SimpleNamespace) -> None:
    """With a patience of 2, the scale 8 is 8, 16, 16, 32 after four good steps."""
    scaler, scales = student.LossScaler(8.0, patience=2), []
    for _ in range(4):
        scaler.unscale([np.ones(1, np.float16)])
        scales.append(scaler.scale)
    expect(scales, [8.0, 16.0, 16.0, 32.0], hint="after `patience` good steps double it, and begin to count anew")


# --- a byte for each weight -----------------------------------------------------------------------------------------


@visible("precision.quantize", BYTES)
def largest_is_127(student: SimpleNamespace) -> None:
    """The rows (127, -1.4, 1.6) and (-0.5, 0.25, 0) have the codes (127, -1, 2) and (-127, 64, 0)."""
    codes, scales = student.quantize(float32([127.0, -1.4, 1.6], [-0.5, 0.25, 0.0]))
    hint = "the row over its scale, rounded to the nearest whole number; 63.5 rounds to the even 64"
    meanings = {1: "a conversion to int8 cuts digits off: round first"}
    expect(np.asarray(codes).tolist(), [[127, -1, 2], [-127, 64, 0]], hint=hint, when=meanings)
    expect(str(np.asarray(codes).dtype), "int8", hint="codes.astype(np.int8)", of="the type of the codes")
    expect(
        np.asarray(scales).tolist(), [[1.0], [0.5 / 127]], hint="the largest size of each row over 127, of shape (n, 1)"
    )


@visible("precision.quantize", BYTES)
def a_row_of_zeros(student: SimpleNamespace) -> None:
    """A row of zeros has the codes 0."""
    codes, _ = student.quantize(float32([0.0, 0.0]))
    expect(np.asarray(codes).tolist(), [[0, 0]], hint="0 / 0 is nan: divide such a row by another number")


@visible("precision.quantize", BYTES)
def whole_numbers_are_multiplied(student: SimpleNamespace) -> None:
    """(254, 0.9) times the codes (127, 127) with a scale of 0.5 is 2 * 0.5 * 127 * 127 = 16129."""
    codes, scales = np.array([[127, 127]], np.int8), float32([0.5])
    found = student.quantized_product(float32([254.0, 0.9]), codes, scales)
    meanings = {
        1.0: "the sum overflowed in int8: convert the codes to int32 before they are multiplied",
        8064.5: "the scale of x is missing: 254 has the code 127 and the scale 2",
    }
    hint = "x is quantized, too: beside 254, 0.9 counts as 0. Then the sum of products of codes, times both scales"
    expect(np.asarray(found).tolist(), [[16129.0]], hint=hint, when=meanings)


@visible("precision.quantize", BYTES)
def scales_of_rows(student: SimpleNamespace) -> None:
    """The rows (127, 0) and (0, 127) times the codes (1, 2) and (3, 4), whose scales are 10 and 100."""
    codes, scales = np.array([[1, 2], [3, 4]], np.int8), float32([10.0], [100.0])
    found = student.quantized_product(float32([127.0, 0.0], [0.0, 127.0]), codes, scales)
    hint = "column j of the result belongs to row j of the weights, and has its scale"
    expect(np.asarray(found).tolist(), [[1270.0, 38100.0], [2540.0, 50800.0]], hint=hint)


# --- small changes to large matrices --------------------------------------------------------------------------------


@visible("precision.adapter", CHANGES)
def nothing_changed_at_first(student: SimpleNamespace) -> None:
    """For a weight of shape (2, 3) and the rank 1: up is two zeros, down three numbers, none of them 0."""
    small = student.adapter(np.random.default_rng(0), creation.ones(2, 3), 1)
    expect(sorted(small), ["down", "up"], hint='a dict of "down" and "up"', of="the names")
    expect(as_list(small["up"]), [[0.0], [0.0]], hint="(outputs, rank), all zeros")
    expect(list(small["down"].shape), [1, 3], hint="(rank, inputs)", of="the shape of down")
    expect_that(
        bool((small["down"] != 0.0).all()), "down has zeros", hint="if both were 0, neither would get a gradient"
    )


@visible("precision.adapter", CHANGES)
def a_change_of_rank_one(student: SimpleNamespace) -> None:
    """The weight [[1, 1], [1, 1]], up [[1], [2]], down [[3, 4]] and the strength 2 give [[7, 9], [13, 17]]."""
    small = {"up": creation.tensor([[1.0], [2.0]]), "down": creation.tensor([[3.0, 4.0]])}
    found = student.adapted(creation.ones(2, 2), small, 2.0)
    meanings = {4.0: "the strength is missing"}
    expect(as_list(found), [[7.0, 9.0], [13.0, 17.0]], hint="weight + strength * (up @ down)", when=meanings)


@visible("precision.adapter", CHANGES)
def only_the_small_ones_learn(student: SimpleNamespace) -> None:
    """The sum of the result has gradients in up and down, and none in the weight, even if that asks for one."""
    weight = creation.ones(1, 2).requires_grad_()
    small = {"up": creation.tensor([[1.0]]).requires_grad_(), "down": creation.tensor([[3.0, 4.0]]).requires_grad_()}
    student.adapted(weight, small).sum().backward()
    expect(as_list(small["up"].grad), [[7.0]], hint="up's gradient is the sum of down's row")
    expect(weight.grad, None, hint="weight.detach() is a constant", of="the gradient of the weight")
