"""Pictures of shapes that are broadcast, and of reductions."""

import re
import xml.etree.ElementTree as ET

import pytest
from looking_into import SVG, inside, texts, words

from minigrad import draw
from minigrad.draw.broadcasting import LARGEST


def kinds(picture):
    """For each box of the drawing its kind, in the order of drawing."""
    rects = ET.fromstring(picture.svg).iter(f"{SVG}rect")
    return [each.get("class").removeprefix("mp-") for each in rects][1:]


def sizes(picture):
    """What stands in the boxes, row by row, and beside them."""
    return [text for text in texts(picture) if not text.startswith(("axis", "(", ")"))]


# --- broadcast -----------------------------------------------------------------------------------------------


def test_aligned_from_the_right():
    """A missing axis is dashed, and counts as 1; the result stands below."""
    picture = draw.broadcast((8, 3), (3,))
    assert texts(picture)[:2] == ["axis -2", "axis -1"]
    assert sizes(picture)[:7] == ["8", "3", "1 → 8", "3", "together", "8", "3"]
    assert kinds(picture) == ["cell", "cell", "ghost", "cell", "used", "used"]
    assert words(picture) == "(8, 3) and (3,) together: (8, 3); (3,) has no axis -2: it counts as 1"


def test_a_one_stretches():
    """A size of 1 is marked, and says what it becomes."""
    picture = draw.broadcast((7, 2, 1, 5), (2, 3, 1))
    assert sizes(picture)[:8] == ["7", "2", "1 → 3", "5", "1 → 7", "2", "3", "1 → 5"]
    assert kinds(picture)[:8] == ["cell", "cell", "mark", "cell", "ghost", "cell", "cell", "mark"]
    assert "(7, 2, 1, 5) is repeated along axis -2;" in words(picture)


def test_a_clash():
    """Sizes that do not go together are framed in red, and the rule is stated; no result is made up for them."""
    picture = draw.broadcast((2, 3), (2,))
    assert kinds(picture) == ["cell", "bad", "ghost", "bad", "used", "bad"]
    assert sizes(picture)[4:7] == ["together", "2", "?"]
    rule = "cannot broadcast (2, 3) with (2,): axis -1 has sizes 3 and 2; they must match or one must be 1"
    assert words(picture) == rule


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        (((), (2, 3)), "(2, 3)"),
        (((1,), (0,)), "(0,)"),
        (((1, 1), (1,)), "(1, 1)"),
        (((4, 1), (3,), (2, 1, 1)), "(2, 4, 3)"),
    ],
)
def test_corners(shapes, result):
    """A single number goes with everything, 1 with 0 gives 0, and there may be three shapes."""
    assert f" together: {result}" in words(draw.broadcast(*shapes))


def test_a_zero_and_a_three():
    """0 is a size like any other: it clashes with 3."""
    assert "axis -1 has sizes 0 and 3" in words(draw.broadcast((0,), (3,)))


def test_broadcast_asks_no_exercise(monkeypatch):
    """Where a student's rule is wrong, or cut out, the picture is right."""

    def refuse(*args):
        raise AssertionError("asked")

    monkeypatch.setattr("minigrad.tensor_data.shape_broadcast", refuse)
    assert "(4, 3)" in words(draw.broadcast((4, 1), (3,)))


@pytest.mark.parametrize("shapes", [((2, 3),), (), ((1,) * 9, (2,)), ((-1,), (2,))])
def test_shapes_that_cannot_be_drawn(shapes):
    """One shape, too many axes and negative sizes are refused in a sentence."""
    with pytest.raises(ValueError, match=r"draw\.broadcast: takes two shapes or more"):
        draw.broadcast(*shapes)


# --- reduction -----------------------------------------------------------------------------------------------


def letters(picture):
    """The letters in the boxes: those before, then those after."""
    return "".join(text for text in texts(picture) if re.fullmatch("[a-z]", text))


@pytest.mark.parametrize(
    ("shape", "axis", "before", "after"),
    [
        ((2, 3), 1, "aaabbb", "ab"),
        ((2, 3), 0, "abcabc", "abc"),
        ((2, 3), -1, "aaabbb", "ab"),
        ((3,), 0, "aaa", "a"),
        ((2, 2, 3), 1, "abcabc" + "defdef", "abcdef"),
        ((2, 2, 3), 0, "abcdef" * 2, "abcdef"),
    ],
)
def test_equal_letters_become_one(shape, axis, before, after):
    """Elements that differ only along the folded axis carry the letter of the element that they become."""
    assert letters(draw.reduction(shape, axis)) == before + after


def test_order_of_folding():
    """Small numbers say in which order elements are folded; the result has none."""
    shown = texts(draw.reduction((2, 3), 1))
    first = shown.index("a")
    assert shown[first : first + 12] == ["a", "0", "a", "1", "a", "2", "b", "0", "b", "1", "b", "2"]
    after = shown.index("after: (2, 1)")
    assert shown[after : after + 3] == ["after: (2, 1)", "a", "b"]


def test_reduction_in_words():
    """The description names the shapes and the axis, counted from the front."""
    told = words(draw.reduction((2, 3, 4), -2))
    assert told.startswith("shape (2, 3, 4) is folded along axis 1 to (2, 1, 4): the 3 elements with one letter")


@pytest.mark.parametrize(
    ("shape", "axis", "said"),
    [
        ((2, 3), 2, r"shape \(2, 3\) has no axis 2; its axes are 0 to 1"),
        ((2, 3), -3, "has no axis -3"),
        ((), 0, "takes 1 to 3 axes"),
        ((2, 2, 2, 2), 0, "takes 1 to 3 axes"),
        ((0, 3), 0, "1 to 60 elements"),
        ((LARGEST + 1,), 0, "1 to 60 elements"),
    ],
)
def test_reductions_that_cannot_be_drawn(shape, axis, said):
    """A missing axis, and tensors of too many axes or elements, are refused in a sentence."""
    with pytest.raises(ValueError, match=said):
        draw.reduction(shape, axis)


# --- all pictures --------------------------------------------------------------------------------------------

PICTURES = {
    "bias": lambda: draw.broadcast((8, 3), (3,)),
    "clash": lambda: draw.broadcast((2, 3), (2,)),
    "numbers": lambda: draw.broadcast((), ()),
    "many axes": lambda: draw.broadcast((7, 2, 1, 5, 1000, 1), (2, 3, 1, 1000, 64)),
    "rows": lambda: draw.reduction((2, 3), 1),
    "grids": lambda: draw.reduction((2, 3, 4), 0),
    "one element": lambda: draw.reduction((1,), 0),
    "many letters": lambda: draw.reduction((2, 30), 0),
}


@pytest.mark.parametrize("name", PICTURES)
def test_no_part_is_cut_off(name):
    """All boxes and texts lie inside the picture."""
    assert inside(PICTURES[name]())


@pytest.mark.parametrize("name", PICTURES)
def test_text_alternatives(name):
    """Each picture has a title and says in words what it shows."""
    root = ET.fromstring(PICTURES[name]().svg)
    assert root.find(f"{SVG}title").text and root.find(f"{SVG}desc").text


@pytest.mark.parametrize("shape", [(2.5,), 3, "ab"])
@pytest.mark.parametrize("picture", [lambda shape: draw.broadcast(shape, (1,)), lambda shape: draw.reduction(shape, 0)])
def test_what_is_no_shape(picture, shape):
    """Sizes are whole numbers."""
    with pytest.raises(TypeError, match="is no shape; a shape is a tuple of whole numbers"):
        picture(shape)
