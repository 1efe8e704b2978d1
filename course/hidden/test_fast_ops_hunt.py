"""Hidden tests of a student's test of maps: right ones must pass, and wrong ones must not."""

import functools

import pytest

from autograder import Hunt, expect

is_map = functools.partial(pytest.mark.exercise, "fast_ops.is_map")

MAPS = Hunt(
    "fast_ops.tensor_map",
    "fast_ops.is_map(tensor_map)",
    """
from minigrad.tensor_data import broadcast_index, index_to_position, to_index

prange = range


def njit(*args, **options):
    return lambda function: function
""",
    error="raises",
)

INPUT_IN_ORDER = """
def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        for i in range(len(out)):
            out_index, in_index = [0] * len(out_shape), [0] * len(in_shape)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            place = 0
            for size, index in zip(in_shape, in_index):
                place = place * size + index
            out[index_to_position(out_index, out_strides)] = fn(in_storage[place])

    return _map
"""

FN_FORGOTTEN = """
def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        for i in range(len(out)):
            out_index, in_index = [0] * len(out_shape), [0] * len(in_shape)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            out[index_to_position(out_index, out_strides)] = in_storage[index_to_position(in_index, in_strides)]

    return _map
"""


@is_map(
    group="layouts",
    because="fast_ops.is_map: 'A wrong function may be right for some fn and for some layouts of the input and of'",
)
def test_transposed_inputs(student):
    """Three right maps pass, and two that do not look at the strides of the input do not."""
    expect(
        MAPS(student, "no_buffers", "minitorch_manner", "compiled_helpers", "aligned-by-shape-alone", INPUT_IN_ORDER),
        ["passes", "passes", "passes", "refused", "refused"],
        example="three right maps, that of the lesson, and one that takes every input for contiguous",
        hint="let the input be transposed, too",
        misconception="contiguous-inputs",
        when={
            ("passes", "passes", "passes", "passes", "refused"): (
                "layouts-always-equal",
                "let the input be transposed and the output not, or the other way round",
            )
        },
    )


@is_map(
    group="layouts",
    because="fast_ops.is_map: 'A wrong function may be right for some fn and for some layouts of the input and of'",
)
def test_transposed_outputs(student):
    """A map that writes element after element, whatever the strides of the output are, is refused."""
    expect(
        MAPS(student, "no_buffers", "position-is-not-ordinal"),
        ["passes", "refused"],
        example="a right map, and one that takes the number of an element for its position in out",
        hint="let the output be transposed, too",
        misconception="contiguous-outputs",
    )


@is_map(group="broadcast", because="fast_ops.is_map: 'does what `tensor_map` should'")
def test_inputs_that_are_broadcast(student):
    """Maps that compare the strides alone, or shapes of different lengths, are refused."""
    expect(
        MAPS(student, "no_buffers", "aligned-by-strides-alone", "ranks-not-compared"),
        ["passes", "refused", "refused"],
        example="a right map, one that compares strides alone, and one that does not count axes",
        hint="let the input have another shape than the output",
        misconception="never-broadcast",
        when={
            ("passes", "passes", "refused"): ("ranks-always-differ", "strides may be equal where a size is 1"),
            ("passes", "refused", "passes"): ("equal-ranks", "let the input have fewer axes than the output"),
        },
    )


@is_map(
    group="path",
    because="fast_ops.is_map: 'A wrong function may be right for some fn and for some layouts of the input and of'",
)
def test_equal_layouts(student):
    """Maps that forget fn on the fast path, or everywhere, are refused."""
    expect(
        MAPS(student, "no_buffers", "fn-forgotten-where-aligned", FN_FORGOTTEN),
        ["passes", "refused", "refused"],
        example="a right map, one that copies where the layouts are equal, and one that always does",
        hint="let fn change every number",
        misconception="identity",
        when={("passes", "passes", "refused"): ("never-aligned", "let both tensors have the same layout, too")},
    )


@is_map(group="corners", because="fast_ops.is_map: 'It may also raise an error: then the answer is False.'")
def test_no_axes(student):
    """A map that asks for the first size without asking whether there is one is refused."""
    expect(
        MAPS(student, "no_buffers", "needs-an-axis"),
        ["passes", "refused"],
        example="a right map, and one that needs an axis",
        hint="a single number is a tensor, too: np.array(5.0) has no axis",
        misconception="always-an-axis",
        when={("passes", "raises"): ("errors-not-caught", "an error is an answer: try, and return False")},
    )
