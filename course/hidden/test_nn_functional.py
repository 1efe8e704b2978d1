"""Hidden tests of tiles and pooling, of Max, of softmax and of dropout.

Images are numbered or random; gradients that come from above are all different, so that a gradient which is only
right when they are equal does not pass.
"""

import numpy as np
import pytest

from autograder import expect

TILE = "nn.functional.tile"
MAX_POOL = "nn.functional.max_pool2d"
MAX = "tensor_functions.Max"
SOFTMAX = "nn.functional.softmax"
LOG = "nn.functional.logsoftmax"
DROPOUT = "nn.functional.dropout"


def mixed(shape, seed):
    """Numbers without any order in them."""
    return np.random.default_rng(seed).normal(size=shape)


def numbered(*shape):
    """The numbers 0, 1, 2, ... in row-major order."""
    return np.arange(float(np.prod(shape))).reshape(shape)


def tiles_of(x, kernel):
    """Cut out tile by tile."""
    rows, columns = x.shape[2] // kernel[0], x.shape[3] // kernel[1]
    out = np.zeros((*x.shape[:2], rows, columns, kernel[0] * kernel[1]))
    for i in range(rows):
        for j in range(columns):
            part = x[:, :, i * kernel[0] : (i + 1) * kernel[0], j * kernel[1] : (j + 1) * kernel[1]]
            out[:, :, i, j] = part.reshape(*x.shape[:2], -1)
    return out


# --- tile ---------------------------------------------------------------------------------------------------


def cut(mg, x, kernel):
    """Return the student's tiles of an image as a list."""
    found = mg.nn.functional.tile(mg.tensor(x), tuple(kernel))
    return found[0].tolist() if isinstance(found, tuple) and hasattr(found[0], "tolist") else type(found).__name__


@pytest.mark.exercise(
    TILE, group="values", because="nn.functional.tile: 'in the order in which they are read: line by line'"
)
def test_tile_holds_the_elements_of_one_tile(student):
    """A row of the result holds the elements of one tile, the upper line first."""
    expect(
        student(cut, numbered(1, 1, 2, 4), [2, 2]),
        [[[[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]]]],
        hint="a view alone cuts lines into pieces: the axis of rows inside a tile has to move behind the one of tiles",
        misconception="lines-cut-into-pieces",
        when={(((((0.0, 4.0, 1.0, 5.0), (2.0, 6.0, 3.0, 7.0)),),),): ("tiles-read-down", "line by line, not column")},
    )


@pytest.mark.exercise(TILE, group="values", because="nn.functional.tile: 'Height and width of a tile.'")
def test_tile_need_not_be_square(student):
    """A tile of one row and two columns is two elements of one line."""
    expect(
        student(cut, numbered(1, 1, 2, 4), [1, 2]),
        tiles_of(numbered(1, 1, 2, 4), (1, 2)).tolist(),
        hint="kernel is (height, width), in this order, for the image's height and width",
        misconception="height-and-width-exchanged",
    )


@pytest.mark.exercise(
    TILE, group="values", because="nn.functional.tile: 'Row [b, c, i, j] holds the elements of the tile'"
)
def test_tile_keeps_examples_and_channels_apart(student):
    """Every example and every channel is cut by itself."""
    x = numbered(2, 3, 6, 8)
    expect(
        student(cut, x, [3, 2]),
        tiles_of(x, (3, 2)).tolist(),
        hint="the axes 0 and 1 stay where they are",
        misconception="examples-and-channels-exchanged",
    )


@pytest.mark.exercise(TILE, group="values", because="nn.functional.tile: 'new_height and new_width'")
def test_tile_returns_how_many_there_are(student):
    """The number of tiles down and to the right comes with them, in this order."""

    def observe(mg, x, kernel):
        found = mg.nn.functional.tile(mg.tensor(x), tuple(kernel))
        return [int(n) for n in found[1:]] if isinstance(found, tuple) else type(found).__name__

    expect(
        student(observe, numbered(1, 1, 6, 15), [2, 3]),
        [3, 5],
        hint="height / kernel height first, then width / kernel width",
        misconception="sizes-in-the-wrong-order",
    )


@pytest.mark.exercise(TILE, group="gradients", because="nn.functional.tile: 'put the elements of each tile in one row'")
def test_tile_hands_gradients_back(student):
    """The gradient of each element of a tile reaches the element of the image that it came from."""

    def observe(mg, x, upstream):
        image = mg.tensor(x).requires_grad_()
        found, _, _ = mg.nn.functional.tile(image, (2, 2))
        if not found.requires_grad:
            return "a constant"
        found.backward(mg.tensor(upstream))
        return image.grad.tolist()

    upstream = mixed((1, 1, 2, 2, 4), 1)
    wanted = upstream.reshape(1, 1, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(1, 1, 4, 4)
    expect(
        student(observe, numbered(1, 1, 4, 4), upstream),
        wanted.tolist(),
        hint="use the tensor's own view, permute and contiguous: what goes by way of an array has no history",
        misconception="cut-off-the-graph",
    )


# --- Max ----------------------------------------------------------------------------------------------------


def largest(mg, x, dim):
    """Return the student's largest elements along an axis as a list."""
    return mg.tensor_functions.Max.apply(mg.tensor(x), dim=dim).tolist()


def gradient_of_largest(mg, x, dim, upstream):
    """Return the gradient of a tensor whose largest elements get a gradient."""
    a = mg.tensor(x).requires_grad_()
    found = mg.tensor_functions.Max.apply(a, dim=dim)
    found.backward(mg.tensor(upstream).view(*found.shape))
    return a.grad.tolist()


@pytest.mark.exercise(MAX, group="forward", because="tensor_functions.Max: 'Return the largest element along an axis'")
def test_max_along_an_axis(student):
    """The axis that is given is searched, not another one."""
    x = np.array([[1.0, 5.0], [7.0, 3.0], [2.0, 4.0]])
    expect(
        student(both_axes, x),
        [7.0, 5.0, 5.0, 7.0, 4.0],
        hint="hand dim on, to argmax and to gather",
        misconception="axis-is-ignored",
    )


def both_axes(mg, x):
    """Return the largest elements of columns, then of rows, in one list."""
    found = []
    for dim in (0, 1):
        try:
            values = mg.tensor_functions.Max.apply(mg.tensor(x), dim=dim).tolist()
        except (ValueError, IndexError) as error:
            return type(error).__name__
        while isinstance(values, list) and values and isinstance(values[0], list):
            values = [number for row in values for number in row]
        found += values if isinstance(values, list) else [values]
    return found


@pytest.mark.exercise(MAX, group="forward", because="tensor_functions.Max: 'without that axis'")
def test_max_drops_the_axis(student):
    """The axis is gone from the result."""

    def observe(mg, x):
        return list(mg.tensor_functions.Max.apply(mg.tensor(x), dim=1).shape)

    expect(
        student(observe, mixed((2, 3, 4), 3)),
        [2, 4],
        hint="squeeze(dim) takes away an axis of size 1",
        misconception="axis-is-kept",
    )


@pytest.mark.exercise(MAX, group="forward", because="tensor_functions.Max: 'Return the largest element along an axis'")
def test_max_of_negative_numbers(student):
    """The largest of negative numbers is negative."""
    expect(
        student(largest, np.array([[-3.0, -2.0], [-5.0, -7.0]]), 1),
        [-2.0, -5.0],
        hint="begin with an element, not with 0",
        misconception="begins-at-zero",
    )


@pytest.mark.exercise(
    MAX, group="backward", because="tensor_functions.Max: 'only the element that was taken moves the output'"
)
def test_max_gradient_goes_to_the_largest(student):
    """The largest element gets the gradient, all others 0."""
    expect(
        student(gradient_of_largest, np.array([[1.0, 5.0, 2.0]]), 1, np.array([3.0])),
        [[0.0, 3.0, 0.0]],
        hint="a small change of an element that is not the largest changes nothing",
        misconception="gradient-to-every-element",
    )


@pytest.mark.exercise(
    MAX, group="backward", because="tensor_functions.Max: 'The gradient of the largest elements, in their shape.'"
)
def test_max_hands_on_what_comes_from_above(student):
    """Each largest element gets the gradient of its own output, along the axis that was searched."""
    x, upstream = mixed((3, 4, 2), 4), mixed((3, 2), 5)
    wanted = np.zeros_like(x)
    np.put_along_axis(wanted, x.argmax(1)[:, None], upstream[:, None], 1)
    expect(
        student(gradient_of_largest, x, 1, upstream),
        wanted.tolist(),
        hint="the gradient is d_output at the places of the largest elements, not 1",
        misconception="upstream-forgotten",
    )


@pytest.mark.exercise(MAX, group="ties", because="tensor_functions.Max: 'the first of equal ones'")
def test_max_of_equal_elements(student):
    """Of equal largest elements the first one gets the gradient, whole."""
    expect(
        student(gradient_of_largest, np.array([[2.0, 7.0, 7.0], [1.0, 1.0, 1.0]]), 1, np.array([3.0, 6.0])),
        [[0.0, 3.0, 0.0], [6.0, 0.0, 0.0]],
        hint="comparing with the largest value finds all that are equal to it; argmax finds one place",
        misconception="gradient-to-all-ties",
        when={((0.0, 1.5, 1.5), (2.0, 2.0, 2.0)): ("ties-share-the-gradient", "one of them gets all of it, the first")},
    )


# --- max_pool2d ---------------------------------------------------------------------------------------------


@pytest.mark.exercise(
    MAX_POOL,
    group="values",
    because="nn.functional.max_pool2d: 'Replace each tile of an image by its largest element.'",
)
def test_max_pool_of_each_tile(student):
    """Every tile gives its largest element, at its own place."""

    def observe(mg, x, kernel):
        return mg.nn.functional.max_pool2d(mg.tensor(x), tuple(kernel)).tolist()

    x = np.abs(mixed((2, 2, 4, 6), 6))
    expect(
        student(observe, x, [2, 3]),
        tiles_of(x, (2, 3)).max(-1).tolist(),
        hint="the elements of a tile stand along the last axis of what tile returns",
        misconception="maximum-over-the-wrong-axis",
    )


@pytest.mark.exercise(
    MAX_POOL,
    group="values",
    because="nn.functional.max_pool2d: 'Replace each tile of an image by its largest element.'",
)
def test_max_pool_of_negative_numbers(student):
    """The largest of negative elements is negative."""

    def observe(mg, x):
        return mg.nn.functional.max_pool2d(mg.tensor(x), (1, 2)).tolist()

    expect(
        student(observe, np.array([[[[-1.0, -3.0, -4.0, -2.0]]]])),
        [[[[-1.0, -2.0]]]],
        hint="nothing but the elements of the tile takes part",
        misconception="zero-takes-part",
    )


@pytest.mark.exercise(
    MAX_POOL,
    group="gradients",
    because="nn.functional.max_pool2d: 'The gradient of an output goes to one element of its tile'",
)
def test_max_pool_of_equal_elements(student):
    """Of equal largest elements in a tile one gets the gradient."""

    def observe(mg, x, upstream):
        image = mg.tensor(x).requires_grad_()
        found = mg.nn.functional.max_pool2d(image, (2, 2))
        if not found.requires_grad:
            return "a constant"
        found.backward(mg.tensor(upstream).view(*found.shape))
        return image.grad.tolist()

    expect(
        student(observe, np.array([[[[5.0, 5.0, 1.0, 2.0], [5.0, 0.0, 9.0, 3.0]]]]), np.array([[[[6.0, 4.0]]]])),
        [[[[6.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]]]],
        hint="Max sends the gradient to one element; amax shares it among equal ones",
        misconception="ties-share-the-gradient",
        when={"a constant": ("cut-off-the-graph", "compute with the tensor's own operations, which are recorded")},
    )


# --- softmax ------------------------------------------------------------------------------------------------


def probabilities(mg, x, dim):
    """Return the student's softmax as a list."""
    return mg.nn.functional.softmax(mg.tensor(x), dim).tolist()


def softmax_of(x, dim):
    """Compute the softmax without overflow."""
    powers = np.exp(x - x.max(dim, keepdims=True))
    return powers / powers.sum(dim, keepdims=True)


@pytest.mark.exercise(
    SOFTMAX, group="values", because="nn.functional.softmax: 'The axis along which the results sum to 1.'"
)
def test_softmax_along_its_axis(student):
    """The results sum to 1 along the axis that is given, here the first."""
    x = mixed((3, 2), 7)
    expect(
        student(probabilities, x, 0),
        softmax_of(x, 0).tolist(),
        hint="every maximum and every sum is taken along dim",
        misconception="wrong-axis",
        when={tuple(map(tuple, np.exp(x) / np.exp(x).sum())): ("sum-over-everything", "the sum is that of one line")},
    )


@pytest.mark.exercise(SOFTMAX, group="values", because="nn.functional.softmax: 'e^x over the sum of all e^x'")
def test_softmax_gradient(student):
    """The gradient counts every x twice: in its own power, and in the sum of all."""

    def observe(mg, x, upstream):
        a = mg.tensor(x).requires_grad_()
        found = mg.nn.functional.softmax(a, 1)
        if not found.requires_grad:
            return "a constant"
        found.backward(mg.tensor(upstream))
        return a.grad.tolist()

    x, upstream = mixed((2, 3), 8), mixed((2, 3), 9)
    y = softmax_of(x, 1)
    expect(
        student(observe, x, upstream),
        (y * (upstream - (upstream * y).sum(1, keepdims=True))).tolist(),
        hint="only the maximum may be detached: it cancels out; the sum is part of the function",
        misconception="sum-taken-for-constant",
        when={"a constant": ("cut-off-the-graph", "compute with the tensor's own operations, which are recorded")},
    )


@pytest.mark.exercise(
    SOFTMAX,
    group="stability",
    because="nn.functional.softmax: 'with the largest x taken away, no exponent is positive'",
)
def test_softmax_does_not_overflow(student):
    """Softmax of -1000, 1000 and 1001 is that of 0 and 1, and 0 for the first."""
    expect(
        student(probabilities, np.array([[-1000.0, 1000.0, 1001.0]]), 1),
        softmax_of(np.array([[-2000.0, 0.0, 1.0]]), 1).tolist(),
        hint="e^1000 is beyond all floats: take the largest x of the line away first",
        misconception="overflows",
    )


@pytest.mark.exercise(
    SOFTMAX, group="stability", because="nn.functional.softmax: 'when the same number is taken from every x'"
)
def test_softmax_of_lines_far_apart(student):
    """Each line is right, although another one is larger by 2000."""
    x = np.array([[0.0, 1.0], [2.0, 0.0]])
    shifted = x - x.max(1, keepdims=True)
    total = np.exp(shifted).sum(1)
    across = np.exp(shifted) / total
    expect(
        student(probabilities, x + np.array([[1000.0], [-1002.0]]), 1),
        softmax_of(x, 1).tolist(),
        hint="with the largest number of the whole tensor taken away, all powers of a line far below are 0, and 0 / 0 is nan",
        misconception="maximum-of-everything",
        when={
            tuple(map(tuple, across)): (
                "keepdim-forgotten",
                "the sums stand in a row and meet the columns: with keepdim=True each keeps to its line",
            )
        },
    )


# --- logsoftmax ---------------------------------------------------------------------------------------------


def logarithms(mg, x, dim):
    """Return the student's logsoftmax as a list."""
    return mg.nn.functional.logsoftmax(mg.tensor(x), dim).tolist()


def log_softmax_of(x, dim):
    """Compute the logarithm of the softmax without overflow."""
    shifted = x - x.max(dim, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


@pytest.mark.exercise(
    LOG, group="values", because="nn.functional.logsoftmax: 'The axis along which the softmax sums to 1.'"
)
def test_logsoftmax_along_its_axis(student):
    """The powers of the results sum to 1 along the axis that is given, here the first."""
    x = mixed((3, 2), 10)
    expect(
        student(logarithms, x, 0),
        log_softmax_of(x, 0).tolist(),
        hint="every maximum and every sum is taken along dim",
        misconception="wrong-axis",
        when={
            tuple(map(tuple, log_softmax_of(x, 0) - x.max(0))): (
                "maximum-not-put-back",
                "x less the maximum, on both sides",
            ),
            tuple(map(tuple, log_softmax_of(x, 0) + x.max(0))): (
                "maximum-not-put-back",
                "x less the maximum, on both sides",
            ),
        },
    )


@pytest.mark.exercise(LOG, group="values", because="nn.functional.logsoftmax: 'x - log(sum of all e^x)'")
def test_logsoftmax_gradient(student):
    """The gradient counts every x twice: as itself, and in the sum of all."""

    def observe(mg, x, upstream):
        a = mg.tensor(x).requires_grad_()
        found = mg.nn.functional.logsoftmax(a, 1)
        if not found.requires_grad:
            return "a constant"
        found.backward(mg.tensor(upstream))
        return a.grad.tolist()

    x, upstream = mixed((2, 3), 11), mixed((2, 3), 12)
    expect(
        student(observe, x, upstream),
        (upstream - softmax_of(x, 1) * upstream.sum(1, keepdims=True)).tolist(),
        hint="only the maximum may be detached: it cancels out; the sum is part of the function",
        misconception="sum-taken-for-constant",
        when={"a constant": ("cut-off-the-graph", "compute with the tensor's own operations, which are recorded")},
    )


@pytest.mark.exercise(
    LOG, group="stability", because="nn.functional.logsoftmax: 'without an overflow: the largest x is taken away first'"
)
def test_logsoftmax_does_not_overflow(student):
    """Logsoftmax of 1000 and 1001 is that of 0 and 1."""
    expect(
        student(logarithms, np.array([[1000.0, 1001.0]]), 1),
        log_softmax_of(np.array([[0.0, 1.0]]), 1).tolist(),
        hint="e^1000 is beyond all floats: take the largest x of the line away first",
        misconception="overflows",
    )


@pytest.mark.exercise(
    LOG, group="stability", because="nn.functional.logsoftmax: 'where its logarithm is a number such as -1000'"
)
def test_logsoftmax_of_small_probabilities(student):
    """The logarithm of a probability too small for a float is right."""
    expect(
        student(logarithms, np.array([[0.0, -1000.0]]), 1),
        [[0.0, -1000.0]],
        hint="the softmax is 0 there, and its logarithm minus infinity: never take the logarithm of the softmax",
        misconception="log-of-softmax",
    )


@pytest.mark.exercise(
    LOG, group="stability", because="nn.functional.logsoftmax: 'The axis along which the softmax sums to 1.'"
)
def test_logsoftmax_of_lines_far_apart(student):
    """Each line is right, although another one is larger by 2000."""
    x = np.array([[0.0, 1.0], [2.0, 0.0]])
    shifted = x - x.max(1, keepdims=True)
    total = np.exp(shifted).sum(1)
    across = shifted - np.log(total)
    expect(
        student(logarithms, x + np.array([[1000.0], [-1002.0]]), 1),
        log_softmax_of(x, 1).tolist(),
        hint="take away the largest number of each line, not that of the whole tensor",
        misconception="maximum-of-everything",
        when={
            tuple(map(tuple, across)): (
                "keepdim-forgotten",
                "the sums stand in a row and meet the columns: with keepdim=True each keeps to its line",
            )
        },
    )


# --- dropout ------------------------------------------------------------------------------------------------


@pytest.mark.exercise(
    DROPOUT, group="scale", because="nn.functional.dropout: 'The others are multiplied by 1 / (1 - p)'"
)
def test_dropout_scales_what_is_left(student):
    """Where p is 0.6, an element of 1 becomes 0 or 2.5."""

    def observe(mg, seed):
        mg.manual_seed(seed)
        found = mg.nn.functional.dropout(mg.tensor(np.ones((30, 40))), 0.6, True)
        return sorted(set(found.view(-1).tolist()))

    expect(
        student(observe, 3),
        [0.0, 2.5],
        hint="three of five are lost: the other two have to count for five",
        misconception="not-scaled",
        when={
            (0.0, 1.0 / 0.6): (
                "scaled-by-the-wrong-part",
                "1 / (1 - p), not 1 / p: what is left has probability 1 - p",
            ),
        },
    )


@pytest.mark.exercise(
    DROPOUT, group="holes", because="nn.functional.dropout: 'Replace each element by 0 with probability p'"
)
def test_dropout_loses_the_part_that_was_asked_for(student):
    """Of 4000 elements about one in five is lost where p is 0.2."""

    def observe(mg, seed):
        mg.manual_seed(seed)
        found = mg.nn.functional.dropout(mg.tensor(np.ones((40, 100))), 0.2, True)
        lost = sum(value == 0.0 for value in found.view(-1).tolist())
        return "about a fifth" if 680 < lost < 920 else "about four fifths" if 3080 < lost < 3320 else lost

    expect(
        student(observe, 4),
        "about a fifth",
        hint="an element is lost with probability p, and kept with probability 1 - p",
        misconception="kept-with-probability-p",
    )


@pytest.mark.exercise(DROPOUT, group="holes", because="nn.functional.dropout: 'by chance and each on its own'")
def test_dropout_treats_each_element_on_its_own(student):
    """Rows have different holes, columns have, and so does the next call."""

    def observe(mg, seed):
        mg.manual_seed(seed)
        x = mg.tensor(np.ones((20, 30)))
        first, second = (mg.nn.functional.dropout(x, 0.5, True).tolist() for _ in range(2))
        rows, columns = {tuple(row) for row in first}, set(zip(*first, strict=True))
        return [len(rows) > 1, len(columns) > 1, first != second]

    expect(
        student(observe, 5),
        [True, True, True],
        hint="one random number for each element, new ones at every call",
        misconception="whole-rows-are-lost",
        when={(True, True, False): ("same-holes-every-time", "do not seed a generator inside: each call draws anew")},
    )


@pytest.mark.exercise(DROPOUT, group="special", because="nn.functional.dropout: 'for 1 everything becomes 0'")
def test_dropout_of_everything(student):
    """With p of 1 everything is 0, and nothing is nan; with p of a half something is left."""

    def observe(mg, x, p):
        mg.manual_seed(7)
        try:
            return mg.nn.functional.dropout(mg.tensor(x), p, True).tolist()
        except ZeroDivisionError:
            return "ZeroDivisionError"

    left = max(max(row) for row in student(observe, np.full((20, 30), 4.0), 0.5))
    expect(
        [student(observe, np.array([[1.0, -2.0, 3.0]]), 1.0), left >= 4.0],  # how it is scaled is asked elsewhere
        [[[0.0, 0.0, 0.0]], True],
        hint="1 / (1 - p) divides by 0 there: p = 1 is a case of its own",
        misconception="divides-by-zero",
    )


@pytest.mark.exercise(
    DROPOUT,
    group="holes",
    because="nn.functional.dropout: 'the gradient is scaled like the elements, and 0 where they became 0'",
)
def test_dropout_gradient(student):
    """The gradient has the same holes and the same scale as the result."""

    def observe(mg, seed):
        mg.manual_seed(seed)
        x = mg.tensor(np.ones((4, 10))).requires_grad_()
        found = mg.nn.functional.dropout(x, 0.5, True)
        if not found.requires_grad:
            return "a constant"
        found.backward(mg.tensor(np.ones((4, 10))))
        return found.tolist() == x.grad.tolist()

    expect(
        student(observe, 6),
        True,
        hint="multiply the input by the mask, so that the product is recorded",
        misconception="cut-off-the-graph",
    )


@pytest.mark.exercise(DROPOUT, group="scale", because="nn.functional.dropout: 'False returns the input as it is.'")
def test_dropout_rests_in_evaluation(student):
    """Without training the input comes back as it is."""

    def observe(mg, x):
        mg.manual_seed(5)  # an answer that drops here drops the same elements each time
        return mg.nn.functional.dropout(mg.tensor(x), 0.5, False).tolist()

    x = np.abs(mixed((5, 6), 13)) + 1.0
    expect(
        student(observe, x),
        x.tolist(),
        hint="evaluation uses the whole network, unscaled: the scale has been made up for in training",
        misconception="drops-in-evaluation",
        when={
            tuple(map(tuple, x * 0.5)): ("scaled-in-evaluation", "training has scaled already; here nothing is to do")
        },
    )
