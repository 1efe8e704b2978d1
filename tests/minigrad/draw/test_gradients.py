"""Pictures of gradients of tensors: permuted, in tables of slopes, in graphs, in products of matrices."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from looking_into import SVG, boxes, texts

from minigrad import draw, tensor
from minigrad.draw.gradients import jacobians, matmul_shapes, permuted_gradient
from minigrad.draw.graph import expression_graph

X = np.array([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]])


def places(picture, kind):
    """The boxes of a kind: left, top, width and height of each."""
    names = ("x", "y", "width", "height")
    return [tuple(float(each.get(name)) for name in names) for each in boxes(picture, kind)]


def assert_inside(picture):
    """Every box and every text lies within the paper; a small letter is 6.5 pixels wide, a large one 7.3."""
    root = ET.fromstring(picture.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    for each in root.iter(f"{SVG}rect"):
        if each.get("class") != "mp-paper":
            assert float(each.get("x")) >= 0 and float(each.get("x")) + float(each.get("width")) <= width
            assert float(each.get("y")) >= 0 and float(each.get("y")) + float(each.get("height")) <= height
    for each in root.iter(f"{SVG}text"):
        long = len(each.text) * (6.5 if each.get("class") == "mp-small" else 7.3)
        left = float(each.get("x")) - {"start": 0.0, "middle": long / 2, "end": long}[each.get("text-anchor")]
        assert left >= 0 and left + long <= width, each.text
        assert 8.0 <= float(each.get("y")) <= height - 2.0, each.text


# --- a permuted gradient ------------------------------------------------------------------------------------


def test_gradients_return_to_their_elements():
    """By default the way back is the inverse order, and nothing is framed as wrong."""
    picture = permuted_gradient((2, 2, 3), (2, 0, 1))
    shown = texts(picture)
    assert [name for name in shown if name.startswith("permute")] == ["permute(2, 0, 1)", "permute(1, 2, 0)"]
    assert "gradient of a, shape (2, 2, 3): g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 g10 g11." in picture.description
    assert "output, shape (3, 2, 2): 0 3 6 9 1 4 7 10 2 5 8 11." in picture.description
    assert places(picture, "bad") == []
    assert picture.description.endswith("Each gradient arrives at its element.")


def test_one_element_is_marked_in_all_four_places():
    """The same element is framed in the tensor, the view and both gradients."""
    picture = permuted_gradient((2, 3), (1, 0))
    marked = [each.text for each in ET.fromstring(picture.svg).iter(f"{SVG}text") if each.get("class") == "mp-marked"]
    assert sorted(marked) == ["1", "1", "g1", "g1"]
    assert len(places(picture, "mark")) == 4


def test_a_wrong_way_back_shows_what_it_misplaces():
    """The order applied once more leaves two of eight gradients in place."""
    picture = permuted_gradient((2, 2, 2), (1, 2, 0), back=(1, 2, 0))
    assert len(places(picture, "bad")) == 6
    assert "6 of 8 gradients arrive at a wrong element." in texts(picture)
    assert "gradient of a, shape (2, 2, 2): g0 g2 g4 g6 g1 g3 g5 g7." in picture.description


def test_a_way_back_to_another_shape():
    """Where even the shape is wrong, nothing is right."""
    picture = permuted_gradient((2, 3), (1, 0), back=(0, 1))
    assert len(places(picture, "bad")) == 6
    assert "This is not the shape of a, (2, 3)." in texts(picture)


@pytest.mark.parametrize(
    ("shape", "order", "back", "words"),
    [
        ((5, 5), (1, 0), None, "25 elements cannot be drawn"),
        ((0, 2), (1, 0), None, "0 elements cannot be drawn"),
        ((2, 3), (1, 1), None, r"order=\(1, 1\) must name each of the 2 axes once"),
        ((2, 3), (1, 0), (0, 2), r"back=\(0, 2\) must name each of the 2 axes once"),
    ],
)
def test_permutes_that_cannot_be_drawn(shape, order, back, words):
    """One sentence says what is wrong with the shape or an order."""
    with pytest.raises(ValueError, match=f"^draw.permuted_gradient: {words}"):
        permuted_gradient(shape, order, back=back)


# --- tables of slopes ---------------------------------------------------------------------------------------


def test_slopes_stand_in_their_places():
    """The table of x * x has 2 x on its diagonal, and that of the row sums a 1 for each element."""
    square = jacobians({"x * x": lambda x: x * x}, X)
    assert re.findall(r"output (\d) has the slope (\S+) in input (\d)", square.description) == [
        ("0", "2", "0"),
        ("1", "4", "1"),
        ("2", "6", "2"),
        ("3", "12", "3"),
        ("4", "10", "4"),
        ("5", "8", "5"),
    ]
    (_, y0, _, _), *others = places(square, "used")
    assert [round((y - y0) / 22.0) for _, y, _, _ in others] == [1, 2, 3, 4, 5]
    sums = jacobians({"sums": lambda x: x.sum(axis=1)}, X)
    assert (len(places(sums, "used")), len(places(sums, "cell"))) == (6, 6)


def test_the_marked_column():
    """Only slopes in the chosen column are framed."""
    repeated = jacobians({"repeated": lambda x: np.broadcast_to(x, (2, 3))}, X[0], column=1)
    assert len(places(repeated, "mark")) == 2
    assert len({x for x, *_ in places(repeated, "mark")}) == 1


def test_the_marked_row():
    """A row has a look of its own; where it crosses the column, the column's."""
    dense = jacobians({"dense": lambda x: np.array([x.prod(), x.sum()])}, X[0] + 1.0, column=1, row=0)
    assert (len(places(dense, "mark")), len({y for _, y, *_ in places(dense, "other")})) == (2, 1)
    assert len(places(jacobians({"square": lambda x: x * x}, X[0], row=2), "other")) == 1


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_is_not_there(row):
    """One sentence says so."""
    with pytest.raises(ValueError, match=rf"^draw.jacobians: row={row} is none of the 4 rows"):
        jacobians({"f": lambda x: x * x}, np.zeros(4), row=row)


def test_a_function_that_nothing_moves():
    """A table of zeros has no numbers, and says so."""
    picture = jacobians({"constant": lambda x: np.ones(2)}, X)
    assert "all slopes are 0" in picture.description
    assert places(picture, "used") == []


def test_many_tables_go_to_the_next_line():
    """Tables that do not fit beside each other stand below, and none overlaps another."""
    picture = jacobians({f"number {i}": lambda x: x * x for i in range(7)}, X)
    assert len({y for _, y, _, _ in places(picture, "used")}) == 12
    assert_inside(picture)


@pytest.mark.parametrize(
    ("x", "column", "words"),
    [
        (np.zeros(30), None, "the table of f has 60 lines and 30 columns"),
        (np.zeros(13), None, "the table of f has 26 lines and 13 columns"),
        (np.zeros(4), 4, "column=4 is none of the 4 columns"),
        (np.zeros(4), -1, "column=-1 is none of the 4 columns"),
    ],
)
def test_tables_that_cannot_be_drawn(x, column, words):
    """One sentence says what is wrong with the size or the column."""
    with pytest.raises(ValueError, match=f"^draw.jacobians: {words}"):
        jacobians({"f": lambda x: np.tile(x, 2)}, x, column=column)


def test_a_table_too_wide_to_be_drawn():
    """Many inputs are too many, even with a single output."""
    with pytest.raises(ValueError, match=r"^draw.jacobians: the table of sum has 1 lines and 30 columns"):
        jacobians({"sum": lambda x: x.sum()}, np.zeros(30))


# --- products of matrices -----------------------------------------------------------------------------------


def test_shapes_of_a_product():
    """Each gradient is drawn with the shape of its factor."""
    picture = matmul_shapes(2, 3, 4)
    assert [text for text in texts(picture) if text.startswith("(")] == [
        *("(2, 3)", "(3, 4)", "(2, 4)"),
        *("(2, 4)", "(4, 3)", "(2, 3)"),
        *("(3, 2)", "(2, 4)", "(3, 4)"),
    ]
    assert "d_output (2, 4) times b transposed (4, 3) gives gradient of a (2, 3)." in picture.description
    assert [(w, h) for _, _, w, h in places(picture, "mark")] == [(72.0, 36.0)] * 2


def test_sizes_that_cannot_be_drawn():
    """Sizes that make no rectangle, or none that fits, are refused."""
    for sizes in ((0, 3, 4), (2, 3, 10)):
        with pytest.raises(ValueError, match=r"^draw.matmul_shapes: sizes .* cannot be drawn"):
            matmul_shapes(*sizes)


# --- graphs of tensors --------------------------------------------------------------------------------------


def test_a_graph_of_tensors_shows_shapes_and_few_elements():
    """Boxes show shape, elements and gradient; those of more than six elements show shapes alone."""
    x, w = tensor(X.tolist(), requires_grad=True), tensor([[1.0], [2.0]], requires_grad=True)
    picture = expression_graph((x * w).sum(), x=x, w=w)
    shown = [text.replace("\u00a0", " ").rstrip() for text in texts(picture)]
    for lines in (
        ["x", "shape (2, 3)", "value [[1 2 3]", "       [6 5 4]]", "grad [[1 1 1]", "      [2 2 2]]"],
        ["w", "shape (2, 1)", "value [[1]", "       [2]]", "grad [[6]", "      [15]]"],
        ["sum", "shape ()", "value 36", "grad 1"],
    ):
        start = shown.index(lines[0])
        assert shown[start : start + len(lines)] == lines
    assert {"[[6] [15]]", "(2, 3)"} < set(shown)  # what is handed back on the arrows
    assert "x is a leaf, shape (2, 3), value [[1 2 3] [6 5 4]], derivative [[1 1 1] [2 2 2]]." in picture.description
    large = texts(expression_graph(tensor(np.zeros((2, 4)), requires_grad=True).exp(), gradients=False))
    assert large[:2] == ["exp", "shape (2, 4)"]
    assert not any(line.startswith("value") for line in large)


def test_rows_of_a_matrix_look_alike():
    """All rows of a gradient have its color, and are as long as the longest."""
    x = tensor(X.tolist(), requires_grad=True)
    root = ET.fromstring(expression_graph((x * 10.0).sum(), x=x).svg)
    rows = [each for each in root.iter(f"{SVG}text") if "[10 10 10]" in each.text]
    assert [each.get("class") for each in rows] == ["mg-back", "mg-back"]
    assert len({len(each.text) for each in rows}) == 1


def test_parts_that_meet_are_shown_apart():
    """Each arrow shows what was handed back along it, although the engine adds the parts up in place."""
    x, y = tensor([1.0, 2.0], requires_grad=True), tensor([3.0, 4.0], requires_grad=True)
    z = x * y + x.sum()
    shown = texts(expression_graph(z.sum(), x=x, y=y, z=z))
    assert [shown.count(part) for part in ("[3 4]", "[2 2]", "[5 6]")] == [1, 1, 0]
    assert "grad [5 6]" in shown


def test_a_graph_of_tensors_starts_from_a_gradient():
    """A result of several elements needs a gradient of its shape; that of one element takes a number."""
    x = tensor([1.0, 2.0], requires_grad=True)
    shown = texts(expression_graph(x * 3.0, x=x, gradient=tensor([1.0, 10.0])))
    assert "grad [3 30]" in shown
    assert "grad [2 2]" in texts(expression_graph(x.sum(), x=x, gradient=2.0))
    assert x.grad is None
    with pytest.raises(ValueError, match=r"the result has shape \(2,\) and the gradient is a number"):
        expression_graph(x * 3.0)
    with pytest.raises(ValueError, match=r"the result has shape \(2,\) and the gradient has shape \(3,\)"):
        expression_graph(x * 3.0, gradient=tensor([1.0, 2.0, 3.0]))


# --- all of them --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "picture",
    [
        permuted_gradient((2, 3), (1, 0)),
        permuted_gradient((4, 3, 2), (2, 1, 0)),
        permuted_gradient((2, 2), (1, 0), back=(0, 1)),
        permuted_gradient((), ()),
        jacobians({"a function with a long name": lambda x: x.sum()}, X, column=5),
        jacobians({"f": lambda x: np.exp(x)}, X, column=0),
        matmul_shapes(1, 1, 1),
        matmul_shapes(9, 9, 9),
    ],
    ids=lambda picture: picture.title,
)
def test_nothing_is_cut_off(picture):
    """Boxes and texts lie on the paper, and the picture is described in words."""
    assert_inside(picture)
    root = ET.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert [root.find(f"{SVG}{tag}").text for tag in ("title", "desc")] == [picture.title, picture.description]
    assert repr(picture) == f"{picture.title}: {picture.description}"


def test_the_names_are_found_in_draw():
    """`minigrad.draw` has them by name."""
    assert (draw.jacobians, draw.permuted_gradient, draw.matmul_shapes) == (jacobians, permuted_gradient, matmul_shapes)
