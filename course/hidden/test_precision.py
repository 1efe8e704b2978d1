"""Hidden tests of numbers of fewer bits, against exact numbers."""

import functools
import math

import numpy as np
import pytest

from autograder import expect

rounding = functools.partial(pytest.mark.exercise, "precision.to_bfloat16")
scaler = functools.partial(pytest.mark.exercise, "precision.LossScaler")
codes = functools.partial(pytest.mark.exercise, "precision.quantize")
adapter = functools.partial(pytest.mark.exercise, "precision.adapter")


# --- sixteen bits ---------------------------------------------------------------------------------------------------


def rounded(mg, numbers):
    """Round, and return the numbers with their type."""
    found = np.asarray(mg.precision.to_bfloat16(np.array(numbers, np.float32)))
    return [str(found.dtype), found.tolist()]


def nearest(numbers):
    """Round to 8 significant bits by arithmetic: a half rounds to even."""
    fraction, exponent = np.frexp(np.array(numbers, np.float32).astype(np.float64))
    return np.ldexp(np.rint(fraction * 256.0) / 256.0, exponent).tolist()


@rounding(group="values", because="precision.to_bfloat16: 'Round numbers to the nearest ones that bfloat16 has.'")
def test_nearest_of_many(student):
    """Numbers of all sizes and both signs become their nearest neighbours."""
    rng = np.random.default_rng(1)
    numbers = (rng.normal(size=40) * 10.0 ** rng.uniform(-30, 30, 40)).astype(np.float32)
    expect(
        student(rounded, numbers),
        ["float32", nearest(numbers)],
        hint="the upper neighbour is nearer if more than half stands in the 16 bits that go",
        misconception="cut-off",
    )


@rounding(group="values", because="precision.to_bfloat16: 'its 8 bits of exponent, and 7 of its 23 bits of fraction'")
def test_range_of_float32(student):
    """1e30 and 1e-30 are in range, unlike in float16, and keep three digits."""
    numbers = [1e30, -1e-30, 3e5]
    expect(
        student(rounded, numbers),
        ["float32", nearest(numbers)],
        hint="bfloat16 has the exponents of float32: it is not float16",
        misconception="float16-in-between",
    )


@rounding(
    group="values", because="precision.to_bfloat16: 'the first half of float32: its sign, its 8 bits of exponent'"
)
def test_relative_distance(student):
    """Neighbours of 1000.3 are 4 apart, and those of 0.0103 are 2^-14 apart."""
    numbers = [1000.3, 0.0103, 77.3]
    expect(
        student(rounded, numbers),
        ["float32", nearest(numbers)],
        hint="distances grow with the number: 7 bits behind the first one, wherever that stands",
        misconception="fixed-point",
    )


@rounding(group="ties", because="precision.to_bfloat16: 'the one whose last bit (of the 16 that stay) is 0 is taken'")
def test_ties_from_even(student):
    """Halfway above an even neighbour, the number goes down to it, whatever its sign."""
    numbers = [1 + 1 / 256, -1 - 1 / 256, 1 + 5 / 256]
    expect(
        student(rounded, numbers),
        ["float32", [1.0, -1.0, 1 + 4 / 256]],
        hint="1 + 1/256 lies between 1 and 1 + 2/256, and the last bit of 1 is 0",
        misconception="ties-away-from-zero",
    )


@rounding(group="ties", because="precision.to_bfloat16: '*ties to even*'")
def test_ties_from_odd(student):
    """Halfway above an odd neighbour, the number goes up to the even one."""
    numbers = [1 + 3 / 256, -1 - 3 / 256, 2 - 1 / 256]
    expect(
        student(rounded, numbers),
        ["float32", [1 + 4 / 256, -1 - 4 / 256, 2.0]],
        hint="1 + 3/256 lies between 1 + 2/256, which is odd, and 1 + 4/256",
        misconception="ties-towards-zero",
    )


@rounding(group="special", because="precision.to_bfloat16: 'Infinity and nan stay what they are.'")
def test_every_nan_stays(student):
    """Of nan with all bits set, and of the usual one, nan is left; infinities keep their signs."""

    def observe(mg, patterns):
        found = np.asarray(mg.precision.to_bfloat16(np.array(patterns, np.uint32).view(np.float32)))
        return ["nan" if math.isnan(each) else each for each in found.tolist()]

    expect(
        student(observe, [0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0x7F800000, 0xFF800000]),
        ["nan", "nan", "nan", math.inf, -math.inf],
        hint="adding to a nan whose bits are all set carries into the sign",
        misconception="nan-carries",
    )


@rounding(group="special", because="precision.to_bfloat16: 'Rounding up may carry into the exponent, up to infinity.'")
def test_largest_becomes_infinite(student):
    """The largest number of float32 is nearer to 2^128, which is infinity, than to bfloat16's largest."""
    expect(
        student(rounded, [3.4028235e38, -3.4028235e38, 3.3895314e38]),
        ["float32", [math.inf, -math.inf, float(np.float32(3.3895314e38))]],
        hint="a carry into the exponent is right there as well",
        misconception="clipped-to-the-largest",
    )


@rounding(group="special", because="precision.to_bfloat16: 'It stays as it is.'")
def test_input_stays(student):
    """The array that was given is not changed, and its shape is the result's."""

    def observe(mg):
        numbers = np.full((2, 3), 1.005, np.float32)
        return [list(np.shape(mg.precision.to_bfloat16(numbers))), numbers.tolist() == [[np.float32(1.005)] * 3] * 2]

    expect(
        student(observe),
        [[2, 3], True],
        hint="`bits += ...` on a view changes the numbers that were given",
        misconception="input-changed",
    )


# --- gradients that vanish ------------------------------------------------------------------------------------------


def unscaled(mg, steps, scale, patience):
    """Return what comes of the gradients of some steps, in float16: their types and numbers, or None."""
    kept, found = mg.precision.LossScaler(scale, patience), []
    for gradients in steps:
        step = kept.unscale([np.array(each, np.float16) for each in gradients])
        found.append(step if step is None else [[str(each.dtype), each.tolist()] for each in step])
    return found


@scaler(group="unscaling", because="precision.LossScaler: 'as float32, since float16 would round small ones to 0'")
def test_small_gradients_survive(student):
    """Over a scale of 2^26, gradients of float16 become numbers that float16 does not have."""
    gradients = [[0.5, -3.0], [[0.25]]]
    wanted = [["float32", [0.5 / 2**26, -3.0 / 2**26]], ["float32", [[0.25 / 2**26]]]]
    expect(
        student(unscaled, [gradients], 2.0**26, 2000),
        [wanted],
        hint="convert to float32 first, then divide",
        misconception="divided-in-float16",
    )


@scaler(group="unscaling", because="precision.LossScaler: 'it is doubled, for the steps to come'")
def test_scale_of_this_step(student):
    """With a patience of 1 each step doubles the scale, and is still divided by the one that it began with."""
    expect(
        student(unscaled, [[[8.0]], [[8.0]]], 4.0, 1),
        [[["float32", [2.0]]], [["float32", [1.0]]]],
        hint="these gradients belong to the scale before it is doubled",
        misconception="divided-by-the-next-scale",
    )


@scaler(group="skipping", because="precision.LossScaler: 'If any number in any gradient is infinite or nan: None.'")
def test_infinity_in_any_gradient(student):
    """An infinite number in the last gradient skips the step, as one in the first does; the next step is a good one."""
    steps = [[[math.inf, 1.0], [1.0]], [[1.0, 1.0], [-math.inf]], [[1.0, 4.0], [2.0]]]
    expect(
        student(unscaled, steps, 8.0, 2000),
        [None, None, [["float32", [0.5, 2.0]], ["float32", [1.0]]]],
        hint="look at every number of every gradient",
        misconception="first-gradient-only",
    )


@scaler(group="skipping", because="precision.LossScaler: 'is infinite or nan'")
def test_nan_skips(student):
    """Nan comes of infinity minus infinity, and skips the step as well."""
    expect(
        student(unscaled, [[[1.0, math.nan]], [[1.0, 2.0]]], 8.0, 2000),
        [None, [["float32", [0.25, 0.5]]]],
        hint="np.isfinite is false of both infinities and of nan",
        misconception="nan-passes",
    )


@scaler(group="skipping", because="precision.LossScaler: 'or None if a step is skipped'")
def test_none_and_no_zeros(student):
    """A step that is skipped returns None; zeros would still move weights by what the optimizer remembers."""
    expect(
        student(unscaled, [[[math.inf, 1.0]], [[0.0, 2.0]]], 8.0, 2000),
        [None, [["float32", [0.0, 0.5]]]],
        hint="return None",
        misconception="zeros-in-place-of-none",
    )


def scales(mg, steps, scale, patience):
    """Return the scale after each step; a step is good or not."""
    kept, found = mg.precision.LossScaler(scale, patience), []
    for is_good in steps:
        kept.unscale([np.array([1.0 if is_good else math.inf], np.float16)])
        found.append(kept.scale)
    return found


@scaler(group="scale", because="precision.LossScaler: 'Then the scale is halved'")
def test_halved_after_each_overflow(student):
    """Three bad steps halve the scale three times."""
    expect(
        student(scales, [False, False, False], 2.0, 5),
        [1.0, 0.5, 0.25],
        hint="scale / 2 whenever a step is skipped",
        misconception="never-halved",
    )


@scaler(group="scale", because="precision.LossScaler: 'and counting begins anew'")
def test_count_begins_anew_after_a_skip(student):
    """Two good steps, a bad one and two good ones are not three good steps in a row."""
    expect(
        student(scales, [True, True, False, True, True, True], 16.0, 3),
        [16.0, 16.0, 8.0, 8.0, 8.0, 16.0],
        hint="a bad step sets good_steps to 0",
        misconception="count-goes-on",
    )


@scaler(
    group="scale", because="precision.LossScaler: 'in a row it is doubled, for the steps to come, and counting begins'"
)
def test_doubled_once_each_time(student):
    """With a patience of 2, five good steps double the scale twice."""
    expect(
        student(scales, [True] * 5, 1.0, 2),
        [1.0, 2.0, 2.0, 4.0, 4.0],
        hint="after doubling, good_steps is 0 again",
        misconception="doubled-ever-after",
    )


# --- a byte for each weight -----------------------------------------------------------------------------------------


def coded(mg, rows):
    """Return the codes and their type, and the scales."""
    found, scale = mg.precision.quantize(np.array(rows, np.float32))
    return [str(np.asarray(found).dtype), np.asarray(found).tolist(), np.asarray(scale).tolist()]


@codes(group="codes", because="precision.quantize: 'and each other number the nearest code'")
def test_nearest_codes(student):
    """Numbers between two codes get the nearer one, above and below 0."""
    expect(
        student(coded, [[127.0, 2.6, -2.6, 2.4, -2.4]]),
        ["int8", [[127, 3, -3, 2, -2]], [[1.0]]],
        hint="np.rint before astype, which cuts digits off",
        misconception="digits-cut-off",
    )


@codes(group="codes", because="precision.quantize: 'the number that is largest in size has the code 127 or -127'")
def test_largest_may_be_negative(student):
    """In a row whose largest number in size is negative, that one has the code -127."""
    expect(
        student(coded, [[-254.0, 100.0, 2.0]]),
        ["int8", [[-127, 50, 1]], [[2.0]]],
        hint="the largest absolute value",
        misconception="largest-without-sign",
    )


@codes(group="rows", because="precision.quantize: 'Store each row as whole numbers from -127 to 127 and one scale.'")
def test_each_row_has_its_scale(student):
    """A row of small numbers below one of large ones keeps its digits."""
    expect(
        student(coded, [[127.0, 50.0], [0.0625, -1.0]])[1],
        [[127, 50], [8, -127]],
        hint="the maximum along axis 1, with keepdims=True",
        misconception="one-scale-for-all",
    )


@codes(
    group="zeros",
    because="precision.quantize: 'A row of zeros has the codes 0, and any scale; it is not divided by 0.'",
)
def test_row_of_zeros(student):
    """A row of zeros has the codes 0, and codes times its scale is 0."""

    def observe(mg):
        try:
            with np.errstate(divide="raise", invalid="raise"):
                found, scale = mg.precision.quantize(np.array([[0.0, 0.0], [127.0, 1.0]], np.float32))
        except FloatingPointError as error:
            return str(error)
        return [np.asarray(found).tolist(), (np.asarray(found) * np.asarray(scale)).tolist()]

    expect(
        student(observe),
        [[[0, 0], [127, 1]], [[0.0, 0.0], [127.0, 1.0]]],
        hint="0 / 0 is nan: divide such a row by another number",
        misconception="zeros-become-nan",
    )


def multiplied(mg, x, weight_codes, weight_scales):
    """Return the product of numbers and codes."""
    found = mg.precision.quantized_product(
        np.array(x, np.float32), np.array(weight_codes, np.int8), np.array(weight_scales, np.float32)
    )
    return np.asarray(found).tolist()


@codes(group="product", because="precision.quantized_product: 'which int32 holds exactly (and int8 does not)'")
def test_sums_do_not_overflow(student):
    """Five products of 127 and 100 are 63500."""
    expect(
        student(multiplied, [[127.0] * 5], [[100] * 5], [[1.0]]),
        [[63500.0]],
        hint="codes.astype(np.int32) before they are multiplied",
        misconception="sums-in-int8",
    )


@codes(group="product", because="precision.quantized_product: 'The rows of x are quantized, too.'")
def test_inputs_are_rounded(student):
    """Beside 127, the inputs 0.4 and 0.7 count as 0 and 1."""
    expect(
        student(multiplied, [[127.0, 0.4, 0.7]], [[0, 1, 1]], [[1.0]]),
        [[1.0]],
        hint="quantize(x) gives codes and scales of x",
        misconception="inputs-not-rounded",
    )


@codes(group="product", because="precision.quantized_product: 'multiplied by the two scales of its rows'")
def test_scales_of_both(student):
    """Element (i, j) is multiplied by the scale of row i of x and by that of row j of W."""
    expect(
        student(multiplied, [[254.0, 0.0], [0.0, 127.0]], [[1, 2], [3, 4]], [[0.5], [8.0]]),
        [[127.0 * 2 * 1 * 0.5, 127.0 * 2 * 3 * 8.0], [127.0 * 2 * 0.5, 127.0 * 4 * 8.0]],
        hint="the sums have shape (n, m): x's scales are a column, the weights' a row",
        misconception="scales-along-the-wrong-axis",
    )


@codes(group="product", because="precision.quantized_product: 'each is then multiplied by the two scales of its rows'")
def test_scale_of_x(student):
    """An input of 254 has the code 127 and the scale 2."""
    expect(
        student(multiplied, [[254.0]], [[10]], [[1.0]]),
        [[2540.0]],
        hint="the scales of x belong to the result as well",
        misconception="scale-of-x-missing",
    )


# --- small changes to large matrices --------------------------------------------------------------------------------


def new(mg, outputs, inputs, rank, seed):
    """Return a new adapter's "down" and "up" as arrays."""
    small = mg.precision.adapter(np.random.default_rng(seed), mg.ones(outputs, inputs), rank)
    return [small["down"].numpy(), small["up"].numpy()]


@adapter(group="start", because="precision.adapter: 'all zeros, so that at first nothing is changed'")
def test_up_begins_as_zeros(student):
    """up is zeros, whatever was drawn."""
    found = [student(new, 6, 4, 2, seed)[1].tolist() for seed in (0, 1)]
    expect(found, [[[0.0] * 2] * 6] * 2, hint="creation.zeros", misconception="both-drawn")


@adapter(group="start", because="precision.adapter: 'drawn and divided by the root of the inputs'")
def test_down_is_drawn(student):
    """down differs from one generator to another: if both were 0, nothing would ever learn."""
    first, second = (student(new, 6, 4, 2, seed)[0] for seed in (0, 1))
    expect(bool(np.all(first != second)), True, hint="rng.normal(size=shape)", misconception="both-zero")


@adapter(group="sizes", because="precision.adapter: '\"down\", of shape (rank, inputs)'")
def test_shapes(student):
    """For 6 outputs, 4 inputs and the rank 2: down is (2, 4) and up (6, 2), both float32."""
    expect(
        [[list(each.shape), str(each.dtype)] for each in student(new, 6, 4, 2, 0)],
        [[[2, 4], "float32"], [[6, 2], "float32"]],
        hint="up @ down has the weight's shape; float32 as the weights are",
        misconception="float64",
    )


@adapter(group="sizes", because="precision.adapter: 'divided by the root of the inputs'")
def test_spread_of_down(student):
    """With 10,000 inputs the spread of down is a hundredth."""
    expect(
        round(float(student(new, 3, 10_000, 2, 0)[0].std()), 3),
        0.01,
        hint="divide by np.sqrt(inputs)",
        misconception="not-divided",
    )


def changed(mg, weight, up, down, strength):
    """Return an adapted weight."""
    small = {"up": mg.tensor(up), "down": mg.tensor(down)}
    return mg.precision.adapted(mg.tensor(weight), small, strength).tolist()


@adapter(group="product", because="precision.adapted: 'weight + strength up down, of the shape of weight.'")
def test_product_is_added(student):
    """The product is added to a matrix; it is neither its transpose nor a product by elements."""
    expect(
        student(changed, [[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [10.0, 0.0]], [[5.0, 7.0], [1.0, 0.0]], 1.0),
        [[8.0, 9.0], [53.0, 74.0]],
        hint="up @ down: rows of the weight belong to up",
        misconception="transposed",
    )


@adapter(group="product", because="precision.adapted: 'A factor of their product.'")
def test_strength(student):
    """With a strength of 3 the product counts three times, the weight once."""
    expect(
        student(changed, [[1.0, 2.0]], [[1.0]], [[5.0, 7.0]], 3.0),
        [[16.0, 23.0]],
        hint="weight + strength * (up @ down)",
        misconception="strength-ignored",
    )


@adapter(group="weight", because="precision.adapted: 'It stays as it is, and gets no gradient.'")
def test_weight_gets_no_gradient(student):
    """A weight that asks for a gradient gets none; up and down do."""

    def observe(mg):
        weight = mg.ones(2, 2).requires_grad_()
        small = {name: mg.ones(*shape).requires_grad_() for name, shape in (("up", (2, 1)), ("down", (1, 2)))}
        mg.precision.adapted(weight, small).sum().backward()
        return [weight.grad is None, small["up"].grad.tolist(), small["down"].grad.tolist()]

    expect(
        student(observe),
        [True, [[2.0], [2.0]], [[2.0, 2.0]]],
        hint="weight.detach() is a constant",
        misconception="weight-differentiated",
    )


@adapter(group="weight", because="precision.adapted: 'It stays as it is'")
def test_weight_stays(student):
    """The large matrix is not changed: other adapters share it."""

    def observe(mg):
        weight = mg.ones(2, 2)
        mg.precision.adapted(weight, {"up": mg.ones(2, 1), "down": mg.ones(1, 2)})
        return weight.tolist()

    expect(student(observe), [[1.0, 1.0], [1.0, 1.0]], hint="a sum is a new tensor", misconception="changed-in-place")
