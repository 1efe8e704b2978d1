"""Visible tests of tiles and pooling, of softmax and of dropout, on numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from minigrad.checks.expectation import PAIR, Expectation, expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.errors import IndexingError
from minigrad.tensors import Tensor, creation

TILES = "09 'Cutting an image into tiles'"
POOLS = "09 'One number for each tile'"
MAXIMUM = "06b 'Which element was it?'"
PROBABILITIES = "09 'From numbers to probabilities'"
DROPOUT = "09 'Dropout'"

KEEPDIM = "a sum or a maximum along dim has lost that axis: keepdim=True keeps it, with size 1, and broadcasts"
RECORDED = "what is computed by way of arrays has no history: use the tensor's own operations"


def numbers(values: object) -> Tensor:
    """Return a tensor of float64, which compares to many digits."""
    return creation.tensor(values, dtype="float64")


def as_list(found: object) -> Any:
    """Return a tensor as a list, or else the name of the result's type."""
    if isinstance(found, tuple) and hasattr(found, "indices"):
        raise Expectation(found, None, "got the pair that max(dim) returns, expected a tensor", PAIR, None)
    return found.tolist() if isinstance(found, Tensor) else type(found).__name__


def gradient(found: object, source: Tensor, upstream: object) -> Any:
    """Return the gradient that reaches a tensor, as a list."""
    as_list(found)
    if not isinstance(found, Tensor) or not found.requires_grad:
        raise Expectation(found, None, "the result does not lead back to the input", RECORDED, None)
    found.backward(numbers(upstream).view(*found.shape))
    return as_list(source.grad)


def tiles(student: SimpleNamespace, image: object, kernel: tuple[int, int]) -> Any:
    """Return the result of tile as a list of three. The tensor becomes a list, too."""
    found = student.tile(numbers(image), kernel)
    if not isinstance(found, tuple) or len(found) != 3:
        hint = "return the tensor, new_height and new_width"
        raise Expectation(found, None, f"got {type(found).__name__}, expected three things", hint, None)
    return [as_list(found[0]), *found[1:]]


@visible("nn.functional.tile", TILES)
def two_tiles(student: SimpleNamespace) -> None:
    """The image [[0, 1, 2, 3], [4, 5, 6, 7]] in tiles of 2 by 2 gives [0, 1, 4, 5] and [2, 3, 6, 7]."""
    found = tiles(student, [[[[0, 1, 2, 3], [4, 5, 6, 7]]]], (2, 2))[0]
    meanings = {
        (
            ((((0.0, 1.0, 2.0, 3.0), (4.0, 5.0, 6.0, 7.0)),),),
        ): "these are pieces of lines: between two views the axis of "
        "rows inside a tile has to move behind the axis of tiles in a row",
        (((((0.0, 4.0, 1.0, 5.0), (2.0, 6.0, 3.0, 7.0)),),),): "each tile is read column by column; read line by line",
    }
    hint = "view as (batch, channels, new_height, kernel height, new_width, kernel width), then permute"
    expect(found, [[[[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]]]], hint=hint, when=meanings)


@visible("nn.functional.tile", TILES)
def how_many_tiles(student: SimpleNamespace) -> None:
    """An image of 2 by 6 in tiles of 1 by 3 has 2 rows of 2 tiles, one of 2 by 3 in tiles of 2 by 1 one row of 3."""
    found = tiles(student, [[[[0] * 6, [1] * 6]]], (1, 3))
    expect(found[1:], [2, 2], hint="2 / 1 down, 6 / 3 to the right")
    found = tiles(student, [[[[0, 1, 2], [3, 4, 5]]]], (2, 1))
    expect(found[1:], [1, 3], hint="2 / 2 down, 3 / 1 to the right", when={(3, 1): "the height comes first"})
    expect(found[0], [[[[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]]]], hint="each tile is a column here")


@visible("nn.functional.tile", TILES)
def channels_stay_apart(student: SimpleNamespace) -> None:
    """Two examples with two channels of one tile each keep their places."""
    found = tiles(student, [[[[0, 1]], [[2, 3]]], [[[4, 5]], [[6, 7]]]], (1, 2))[0]
    wanted = [[[[[0.0, 1.0]]], [[[2.0, 3.0]]]], [[[[4.0, 5.0]]], [[[6.0, 7.0]]]]]
    expect(found, wanted, hint="the axes 0 and 1 stay where they are when you permute")


@visible("nn.functional.tile", TILES)
def gradients_go_back(student: SimpleNamespace) -> None:
    """The gradient of a tile's elements reaches the elements of the image."""
    image = numbers([[[[0, 1, 2, 3], [4, 5, 6, 7]]]]).requires_grad_()
    found = student.tile(image, (2, 2))[0]
    seen = gradient(found, image, [10, 20, 30, 40, 50, 60, 70, 80])
    expect(seen, [[[[10.0, 20.0, 50.0, 60.0], [30.0, 40.0, 70.0, 80.0]]]])


@visible("tensor_functions.Max", MAXIMUM)
def largest_of_lines(student: SimpleNamespace) -> None:
    """The largest of [1, 5] and [7, 3] are 5 and 7; along the first axis they are 7 and 5."""
    x = numbers([[1, 5], [7, 3]])
    meanings = {((5.0,), (7.0,)): "the axis is still there, with size 1: squeeze(dim) takes it away"}
    expect(as_list(student.Max.apply(x, dim=1)), [5.0, 7.0], hint="along axis 1, each line", when=meanings)
    hint = "dim is 0 here: every column"
    expect(as_list(student.Max.apply(x, dim=0)), [7.0, 5.0], hint=hint, when={(5.0, 7.0): "dim is not used"})
    expect(as_list(student.Max.apply(numbers([[-3, -2]]), dim=1)), [-2.0], hint="the largest of -3 and -2")


@visible("tensor_functions.Max", MAXIMUM)
def largest_gets_the_gradient(student: SimpleNamespace) -> None:
    """The gradients 10 and 20 go to the 5 and to the 7."""
    x = numbers([[1, 5], [7, 3]]).requires_grad_()
    seen = gradient(student.Max.apply(x, dim=1), x, [10, 20])
    meanings = {
        (
            (10.0, 10.0),
            (20.0, 20.0),
        ): "that is the gradient of a sum: only the element that was taken moves the maximum",
        ((0.0, 1.0), (1.0, 0.0)): "the places are right; put d_output there, not 1",
    }
    expect(seen, [[0.0, 10.0], [20.0, 0.0]], hint="d_output at the places of the largest elements", when=meanings)


@visible("tensor_functions.Max", MAXIMUM)
def first_of_equals(student: SimpleNamespace) -> None:
    """Of [7, 7] the first gets the gradient."""
    x = numbers([[7, 7]]).requires_grad_()
    seen = gradient(student.Max.apply(x, dim=1), x, [10])
    meanings = {
        (
            (10.0, 10.0),
        ): "both got all of it: a comparison finds every element that equals the maximum, argmax finds one",
        ((5.0, 5.0),): "they share it; here one element gets all, the first",
        ((0.0, 10.0),): "the last one got it; argmax names the first",
    }
    expect(seen, [[10.0, 0.0]], hint="save the place that argmax names", when=meanings)


@visible("nn.functional.max_pool2d", POOLS)
def largest_of_tiles(student: SimpleNamespace) -> None:
    """The largest of the tiles [0, 1, 4, 5] and [2, 3, 6, 7] are 5 and 7, of [-1, -3] and [-4, -2] -1 and -2."""
    found = as_list(student.max_pool2d(numbers([[[[0, 1, 2, 3], [4, 5, 6, 7]]]]), (2, 2)))
    meanings = {
        ((((2.0, 3.0, 6.0, 7.0),),),): "this is the maximum over the tiles: their elements stand along the last axis"
    }
    expect(found, [[[[5.0, 7.0]]]], hint="the maximum along the last axis of what tile returns", when=meanings)
    found = as_list(student.max_pool2d(numbers([[[[-1, -3, -4, -2]]]]), (1, 2)))
    expect(found, [[[[-1.0, -2.0]]]], when={((((0.0, 0.0),),),): "the largest of negative numbers is negative"})


@visible("nn.functional.max_pool2d", POOLS)
def one_of_equals(student: SimpleNamespace) -> None:
    """Of two equal elements in a tile one gets the gradient."""
    image = numbers([[[[5, 5, 1, 2]]]]).requires_grad_()
    seen = gradient(student.max_pool2d(image, (1, 2)), image, [6, 4])
    meanings = {((((3.0, 3.0, 0.0, 4.0),),),): "they share it: that is what amax does; use Max"}
    expect(seen, [[[[6.0, 0.0, 0.0, 4.0]]]], when=meanings)


THIRD = math.log(2.0)


def along(function: Callable[..., Any], x: object, dim: int) -> Any:
    """Return the result of softmax, or of its logarithm, along an axis, as a list."""
    with hinting(KEEPDIM, IndexingError):
        return as_list(function(numbers(x), dim))


@visible("nn.functional.softmax", PROBABILITIES)
def one_and_two_thirds(student: SimpleNamespace) -> None:
    """The softmax of [0, log 2] is [1/3, 2/3], and of two lines line by line."""
    x = [[0.0, THIRD], [math.log(3.0), 0.0]]
    meanings = {((1 / 7, 2 / 7), (3 / 7, 1 / 7)): "all four sum to 1: the sum runs along dim alone"}
    hint = "e^0 = 1, e^log 2 = 2, e^log 3 = 3, and each line is divided by its own sum: keepdim=True keeps it there"
    expect(along(student.softmax, x, 1), [[1 / 3, 2 / 3], [3 / 4, 1 / 4]], hint=hint, when=meanings)
    meanings = {((0.5, 0.5), (2 / 3, 1 / 3)): "this is along axis 1; dim is 0 here"}
    found = along(student.softmax, [[0.0, 0.0], [THIRD, 0.0]], 0)
    expect(found, [[1 / 3, 0.5], [2 / 3, 0.5]], hint="each column sums to 1", when=meanings)


@visible("nn.functional.softmax", PROBABILITIES)
def lines_of_three(student: SimpleNamespace) -> None:
    """Two lines of three: the softmax of [0, 0, log 2] is [1/4, 1/4, 1/2], that of three zeros is 1/3 each."""
    found = along(student.softmax, [[0.0, 0.0, THIRD], [0.0, 0.0, 0.0]], 1)
    expect(found, [[1 / 4, 1 / 4, 1 / 2], [1 / 3, 1 / 3, 1 / 3]], hint="each line sums to 1")


@visible("nn.functional.softmax", PROBABILITIES)
def large_numbers(student: SimpleNamespace) -> None:
    """The softmax of [1000, 1000] is [1/2, 1/2], and that of [-1000, -1000] beside it too."""
    found = along(student.softmax, [[1000.0, 1000.0]], 1)
    meanings = {((math.nan, math.nan),): "e^1000 is infinite, and inf / inf is nan: take the largest number away first"}
    expect(found, [[0.5, 0.5]], when=meanings)
    found = along(student.softmax, [[1000.0, 1000.0], [-1000.0, -1000.0]], 1)
    hint = "take away the largest number of each line (keepdim=True): with that of all, the second line's powers are 0"
    expect(found, [[0.5, 0.5], [0.5, 0.5]], hint=hint)


@visible("nn.functional.softmax", PROBABILITIES)
def softmax_goes_back(student: SimpleNamespace) -> None:
    """The gradient of the first of two halves is [1/4, -1/4]."""
    x = numbers([[0.0, 0.0]]).requires_grad_()
    seen = gradient(student.softmax(x, 1), x, [[1.0, 0.0]])
    expect(seen, [[0.25, -0.25]], when={((0.5, 0.0),): "the sum of the powers moves as well: do not detach it"})


@visible("nn.functional.logsoftmax", PROBABILITIES)
def logarithms_of_thirds(student: SimpleNamespace) -> None:
    """The logsoftmax of [0, log 2] is [-log 3, log 2 - log 3]."""
    wanted = [[-math.log(3.0), THIRD - math.log(3.0)]]
    meanings = {
        ((-math.log(1.5), THIRD - math.log(1.5)),): "log 2 was taken away from the powers, but not from x",
    }
    expect(along(student.logsoftmax, [[0.0, THIRD]], 1), wanted, when=meanings)
    found = along(student.logsoftmax, [[0.0, 5.0], [THIRD, 5.0]], 0)
    wanted = [[-math.log(3.0), -THIRD], [THIRD - math.log(3.0), -THIRD]]
    expect(found, wanted, hint="dim is 0 here: each column by itself")


@visible("nn.functional.logsoftmax", PROBABILITIES)
def logarithms_of_lines_of_three(student: SimpleNamespace) -> None:
    """Two lines of three: of [0, 0, log 2] the results are log 1/4, log 1/4, log 1/2, of three zeros log 1/3."""
    found = along(student.logsoftmax, [[0.0, 0.0, THIRD], [0.0, 0.0, 0.0]], 1)
    expect(found, [[math.log(1 / 4)] * 2 + [math.log(1 / 2)], [math.log(1 / 3)] * 3], hint="each line by itself")


@visible("nn.functional.logsoftmax", PROBABILITIES)
def large_and_small_numbers(student: SimpleNamespace) -> None:
    """The logsoftmax of [1000, 0] is [0, -1000]."""
    found = along(student.logsoftmax, [[1000.0, 0.0]], 1)
    meanings = {
        ((-math.inf, -math.inf),): "e^1000 is infinite: take the largest number away first",
        ((math.nan, -math.inf),): "e^1000 is infinite: take the largest number away first",
        ((0.0, -math.inf),): "the softmax is 0 there, whose logarithm is minus infinity: do not compute the softmax",
    }
    expect(found, [[0.0, -1000.0]], when=meanings)
    found = along(student.logsoftmax, [[1000.0, 1000.0], [-1000.0, -1000.0]], 1)
    expect(found, [[-THIRD, -THIRD]] * 2, hint="take away the largest number of each line, not that of all")


@visible("nn.functional.logsoftmax", PROBABILITIES)
def logsoftmax_goes_back(student: SimpleNamespace) -> None:
    """The gradient of the first of two equal logarithms is [1/2, -1/2]."""
    x = numbers([[0.0, 0.0]]).requires_grad_()
    seen = gradient(student.logsoftmax(x, 1), x, [[1.0, 0.0]])
    expect(seen, [[0.5, -0.5]], when={((1.0, 0.0),): "the sum of the powers moves as well: do not detach it"})


def ones(rows: int, columns: int) -> Tensor:
    """Return ones of float64."""
    return creation.ones(rows, columns, dtype="float64")


@visible("nn.functional.dropout", DROPOUT)
def zeros_and_doubles(student: SimpleNamespace) -> None:
    """With p of 1/2, ones become zeros and twos; both occur in every row, at different places."""
    found = as_list(student.dropout(ones(20, 30), 0.5, True))
    values = sorted({value for row in found for value in row}) if isinstance(found, list) else found
    meanings = {
        (1.0,): "nothing was dropped",
        (0.0, 1.0): "what is left has to be multiplied by 1 / (1 - p)",
        (0.0, 0.5): "divide by 1 - p instead of multiplying",
    }
    expect(values, [0.0, 2.0], when=meanings)
    rows = "all rows have their holes at the same places" if len({tuple(row) for row in found}) == 1 else ""
    columns = "whole rows are lost" if len(set(zip(*found, strict=True))) == 1 else ""
    seen = rows or columns
    expect_that(not seen, seen, "one random number for each element: rand(*input.shape)")


@visible("nn.functional.dropout", DROPOUT)
def the_part_that_is_lost(student: SimpleNamespace) -> None:
    """With p of 0.1, about 200 of 2000 elements are lost; with p of 1 all."""
    found = as_list(student.dropout(ones(40, 50), 0.1, True))
    lost = sum(value == 0.0 for row in found for value in row)
    hint = "p is the probability to lose an element" + ("" if lost < 1000 else ", not to keep it")
    expect_that(100 < lost < 320, f"{lost} elements of 2000 were lost, expected about 200", hint)
    hint = "1 / (1 - p) divides by 0 for p = 1, and 0 times infinity is nan: a case of its own"
    expect(as_list(student.dropout(ones(1, 3), 1.0, True)), [[0.0, 0.0, 0.0]], hint=hint)


@visible("nn.functional.dropout", DROPOUT)
def evaluation(student: SimpleNamespace) -> None:
    """Without training the input comes back."""
    found = as_list(student.dropout(ones(4, 50), 0.5, False))
    expect(found, ones(4, 50).tolist(), hint="with training=False nothing is dropped and nothing is scaled")


@visible("nn.functional.dropout", DROPOUT)
def holes_in_the_gradient(student: SimpleNamespace) -> None:
    """The gradient has the holes and the scale of the result."""
    x = ones(5, 20).requires_grad_()
    found = student.dropout(x, 0.5, True)
    seen = gradient(found, x, ones(5, 20).tolist())
    expect(seen, as_list(found), hint="multiply by the mask, so that the product is recorded")
