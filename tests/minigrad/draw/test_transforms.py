"""Pictures of functions of functions show what the functions of the library give."""

import re

import pytest
from looking_into import texts

from minigrad import draw, dual, tensor, transforms, zeros
from minigrad.dual import Dual


def kinds(picture):
    """The kinds of a picture's boxes, in the order in which they were drawn."""
    return re.findall(r'<rect class="mp-(\w+)" x', picture.svg)


def words(picture):
    """A picture in words, on one line."""
    return " ".join(str(picture).split())


# --- numbers with tangents --------------------------------------------------------------------------------------------


def test_levels_are_boxes_inside_each_other():
    """The box of the higher level stands around that of the lower one, in another colour."""
    picture = draw.dual(Dual(Dual(4.0, 1.0, 1), 0.5, 2))
    assert texts(picture) == ["level 2", "value", "level 1", "value", "4", "tangent", "1", "tangent", "0.5"]
    assert kinds(picture) == ["mark", "used", "cell", "cell", "cell"]


def test_what_jvp_hands_to_a_function_is_drawn():
    """Inside a jvp of a jvp a number has two levels, whatever their numbers are."""
    seen = []

    def inner(y):
        seen.append(y)
        return y * y

    dual.jvp(lambda x: dual.jvp(inner, (x,), (1.0,))[1], (3.0,), (1.0,))
    said = re.sub(r"level \d+", "level", words(draw.dual(seen[0])))
    assert said == "A number with tangents: level: value (level: value 3, tangent 1), tangent 1"


def test_a_tensor_with_a_tangent():
    """Values may be tensors."""
    assert "value [1 2], tangent [0 1]" in words(draw.dual(Dual(tensor([1.0, 2.0]), tensor([0.0, 1.0]))))


def test_a_number_without_a_tangent_is_refused():
    """The sentence says what to draw."""
    with pytest.raises(TypeError, match=r"draw\.dual: a float has no tangent; draw a Dual"):
        draw.dual(3.0)


# --- what both modes cost ---------------------------------------------------------------------------------------------


def test_the_cheaper_mode_is_shown():
    """Few inputs: forward mode. Few outputs: reverse mode. Its number stands in the box."""
    picture = draw.passes({(1, 3): (3, 1), (3, 1): (1, 3), (2, 2): (2, 2)})
    assert kinds(picture)[3:] == ["mark", "cell", "used"]  # behind the legend, by outputs
    assert [each for each in texts(picture) if each[0] in "→←=" and each[-1].isdigit()] == ["← 1", "= 2", "→ 1"]


def test_no_counts_are_refused():
    """There is nothing to draw."""
    with pytest.raises(ValueError, match=r"draw\.passes: there is nothing to draw"):
        draw.passes({})


# --- trees ------------------------------------------------------------------------------------------------------------

TREES = [
    {"b": [1.0, 2.0], "a": (3.0, None)},
    [{"w": 1.0, "b": {}}, 2.0, ()],
    7.0,
    {"x": {"y": {"z": [4.0]}}, "a": None, "b": 5.0},
]


@pytest.mark.parametrize("tree", TREES)
def test_leaves_are_in_the_order_of_flattening(tree):
    """The row below is what tree_flatten gives."""
    leaves = transforms.tree_flatten(tree)[0]
    told = words(draw.flattened(tree)).partition("Leaves: ")[2]
    assert told == ", ".join(f"{place}: {leaf:g}" for place, leaf in enumerate(leaves)) + "."


def test_none_has_no_place_in_the_row():
    """It is a container without children."""
    shown = texts(draw.flattened([None, 1.0]))
    assert shown.count("None") == 1 and shown.count("leaf") == 1


@pytest.mark.parametrize("tree", [None, {}, list(range(25))], ids=["None", "empty", "large"])
def test_a_tree_that_cannot_be_drawn(tree):
    """The sentence says how many leaves can."""
    with pytest.raises(ValueError, match=r"leaves cannot be drawn; 1 to 24 can"):
        draw.flattened(tree)


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_the_axis_that_no_example_sees(shape):
    """The shapes and axes are those inside and outside of vmap."""
    seen = []
    transforms.vmap(lambda x: seen.append(x.shape) or x)(zeros(4, *shape))
    picture = draw.batched(shape, examples=4)
    assert f"sees the shape {tuple(seen[0])}; together they have the shape {(4, *shape)}" in words(picture)
    assert kinds(picture).count("used") == len(zeros(*shape).view(-1))  # the first example
    assert kinds(picture).count("ghost") == 4


@pytest.mark.parametrize(("shape", "examples"), [((), 3), ((2, 2, 2), 3), ((5, 5), 3), ((3,), 7)])
def test_a_batch_that_cannot_be_drawn(shape, examples):
    """The sentence says what can."""
    with pytest.raises(ValueError, match="take one or two axes, at most 24 elements and 6 examples"):
        draw.batched(shape, examples)
