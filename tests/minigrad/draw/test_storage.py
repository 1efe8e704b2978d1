"""Pictures of a storage, of views of it, and of a permute."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from looking_into import SVG, boxes, inside, texts, words

import minigrad
from minigrad import draw
from minigrad.draw.storage import LARGEST
from minigrad.tensor_data import TensorData

TABLE = np.arange(12).reshape(3, 4)


def corners(picture, kind):
    """The upper left corners of boxes of a kind."""
    return [(float(each.get("x")), float(each.get("y"))) for each in boxes(picture, kind)]


# --- strides -------------------------------------------------------------------------------------------------


def test_where_an_element_stands():
    """The picture computes the position of the index that is asked for, and frames it in storage and view."""
    picture = draw.strides(TABLE, highlight=(1, 2))
    assert "index (1, 2) stands at position 1·4 + 2·1 = 6" in texts(picture)
    assert len(boxes(picture, "mark")) == 2
    assert len(boxes(picture, "used")) == 22
    root = ET.fromstring(picture.svg)
    assert [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "mp-marked"] == ["6", "6"]


def test_rows_of_the_view():
    """A transposed view shows its own rows; strides are counted in elements, and NumPy's bytes stand beside them."""
    picture = draw.strides(TABLE.T)
    shown = texts(picture)
    assert shown[-1] == f"shape (4, 3), strides (1, 4); NumPy counts bytes: {TABLE.T.strides}"
    assert "row (1,) from the positions 1, 5, 9" in words(picture)
    view = [text for text in shown[shown.index("the view") + 1 : -1] if text.isdecimal()]
    assert view[:3] == ["0", "1", "2"]  # the columns' numbers
    assert [view[k : k + 4] for k in range(3, 19, 4)] == [
        ["0", "0", "4", "8"],
        ["1", "1", "5", "9"],
        ["2", "2", "6", "10"],
        ["3", "3", "7", "11"],
    ]


def test_a_part_has_an_offset():
    """What does not belong to the view is drawn, but not shaded; the first element is counted from the offset."""
    picture = draw.strides(TABLE[1:, 1::2], highlight=(1, 0))
    assert "index (1, 0) stands at position 5 + 1·4 + 0·2 = 9" in texts(picture)
    assert len(boxes(picture, "cell")) == 8
    assert "offset 5" in words(picture)


def test_every_leading_index_has_its_grid():
    """Three axes are drawn as grids, each with the index that leads to it."""
    picture = draw.strides(np.arange(24).reshape(2, 3, 4), highlight=(1, 0, 3))
    assert {"[0]", "[1]"} <= set(texts(picture))
    assert "row (1, 0) from the positions 12, 13, 14, 15" in words(picture)
    assert "index (1, 0, 3) stands at position 1·12 + 0·4 + 3·1 = 15" in texts(picture)


def test_elements_that_are_read_more_than_once():
    """With a stride of 0, the storage's boxes say how often they are read."""
    picture = draw.strides(np.broadcast_to(np.array([7.0, 8.5, 9.0]), (4, 3)), highlight=[(0, 1), (3, 1)])
    assert texts(picture).count("× 4") == 3
    assert texts(picture).count("8.5") == 5
    assert len(boxes(picture, "mark")) == 3


def test_positions_stand_beside_other_elements():
    """Where an element is not its own position, its box shows both."""
    shown = texts(draw.strides(np.array([[50, 60]]).T))
    start = shown.index("the view, each element with its position")
    assert shown[start + 1 : start + 7] == ["0", "0", "50", "0", "1", "60"]


@pytest.mark.parametrize(
    "array", [TensorData(np.arange(12), (3, 4), (4, 1)), minigrad.tensor(TABLE.tolist())], ids=["TensorData", "tensor"]
)
def test_other_arrays(array):
    """A TensorData and a tensor are drawn like the NumPy array of the same elements, without NumPy's bytes."""
    wanted = [text for text in texts(draw.strides(TABLE)) if not text.startswith("shape")]
    assert [text for text in texts(draw.strides(array)) if not text.startswith("shape")] == wanted


def test_one_number():
    """A single number has no axes, and is drawn."""
    picture = draw.strides(np.array(5), highlight=())
    assert "index () stands at position 0 = 0" in texts(picture)
    assert words(picture).startswith("A storage of 1 element: 5.")


def test_asks_no_exercise(monkeypatch):
    """Where a student's functions are wrong, or cut out, the pictures are right."""

    def refuse(*args):
        raise AssertionError("asked")

    for name in ("strides_from_shape", "index_to_position", "to_index", "permute", "shape_broadcast"):
        monkeypatch.setattr(f"minigrad.tensor_data.{name}", refuse)
    assert draw.strides(TABLE, highlight=(0, 0)).svg and draw.permute(TABLE, (1, 0)).svg


@pytest.mark.parametrize(
    ("array", "highlight", "said"),
    [
        (np.arange(LARGEST + 1), None, f"{LARGEST + 1} elements cannot be drawn"),
        (np.zeros((0, 3)), None, "0 elements cannot be drawn"),
        (TABLE, (1,), r"highlight=\(1,\) is no index of a view of shape \(3, 4\)"),
        (TABLE, [(0, 0), (3, 0)], r"highlight=\(3, 0\) is no index"),
    ],
)
def test_what_cannot_be_drawn(array, highlight, said):
    """Too many elements, none, and an index that is none are refused in a sentence."""
    with pytest.raises(ValueError, match=said):
        draw.strides(array, highlight=highlight)


# --- permute -------------------------------------------------------------------------------------------------


def test_sizes_and_strides_move_together():
    """The tables show shape and strides before and after, and the grids the elements."""
    picture = draw.permute(np.arange(24).reshape(2, 3, 4), (2, 0, 1))
    root = ET.fromstring(picture.svg)
    bold = [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "mp-bold" and each.text.isdecimal()]
    assert bold == ["2", "3", "4", "12", "4", "1", "4", "2", "3", "1", "12", "4"]
    assert "permute(2, 0, 1)" in texts(picture)
    assert "row (1, 0) from the positions 1, 5, 9" in words(picture).partition("After")[2]


def test_arrows_lead_from_where_an_axis_was():
    """The arrow to axis i begins at axis order[i]: for (2, 0, 1) at 2, 0 and 1."""
    picture = draw.permute(np.arange(24).reshape(2, 3, 4), (2, 0, 1))
    arrows = re.findall(r'class="mp-way" d="M([\d.]+),', picture.svg)
    heads = re.findall(r'class="mp-head" points="([\d.]+),', picture.svg)
    assert sorted(arrows, key=float) == [arrows[1], arrows[2], arrows[0]]
    assert heads == sorted(heads, key=float) == sorted(arrows, key=float)


def test_a_permuted_part_keeps_its_offset():
    """The picture of a part shows its offset before and after."""
    told = words(draw.permute(TABLE[1:, 1:], (1, 0)))
    assert told.count("offset 5") == 2


@pytest.mark.parametrize("order", [(0, 0), (0,), (1, 2), (-1, 0)])
def test_an_order_that_is_none(order):
    """Each axis is named once."""
    with pytest.raises(ValueError, match="must name each axis of"):
        draw.permute(TABLE, order)


# --- all pictures --------------------------------------------------------------------------------------------

PICTURES = {
    "rows": lambda: draw.strides(TABLE, highlight=(1, 2)),
    "three axes": lambda: draw.strides(np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1), highlight=(3, 1, 2)),
    "four axes": lambda: draw.strides(np.arange(48).reshape(2, 4, 2, 3)),
    "long numbers": lambda: draw.strides(np.array([[-12345.678, 0.001234], [1e20, 5.0]])),
    "repeated": lambda: draw.strides(np.broadcast_to(np.arange(3.0), (4, 3))),
    "a number": lambda: draw.strides(np.array(5)),
    "permute": lambda: draw.permute(TABLE, (1, 0)),
    "permute, three axes": lambda: draw.permute(np.arange(24).reshape(2, 3, 4), (2, 0, 1)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_off(name):
    """All boxes and texts lie inside the picture."""
    assert inside(PICTURES[name]())


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_by_itself(name):
    """It has a title, says in words what it shows, knows dark pages, and refers to nothing outside."""
    picture = PICTURES[name]()
    root = ET.fromstring(picture._repr_svg_())
    assert root.get("role") == "img" and root.find(f"{SVG}title").text and words(picture)
    assert repr(picture) == f"{picture.title}: {picture.description}"
    assert "prefers-color-scheme:dark" in picture.svg
    names = {name.rpartition("}")[2] for element in root.iter() for name in element.attrib}
    assert names.isdisjoint({"id", "href", "src"}) and "url(" not in picture.svg


@pytest.mark.parametrize("array", [[1, 2], 2.0, minigrad.Scalar(3.0)])
@pytest.mark.parametrize("picture", [draw.strides, lambda array: draw.permute(array, (0,))])
def test_what_has_no_strides(picture, array):
    """Lists and numbers are refused in a sentence."""
    with pytest.raises(TypeError, match=r"draw\.\w+: .* has no storage and no strides; give a NumPy array or a tensor"):
        picture(array)
