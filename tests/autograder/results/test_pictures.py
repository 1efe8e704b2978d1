"""Pictures of counter-examples mark what is wrong, never show what is right, and draw whatever came."""

import re
from xml.etree import ElementTree

import pytest
from drawn_pages import DIAMOND

from autograder.results import pictures


def texts(svg):
    """What can be read in a drawing."""
    root = ElementTree.fromstring(svg)
    return [each.text for each in root.iter() if each.tag.endswith("}text")]


def test_a_graph():
    """The graph shows slopes and what came, in red where it is wrong, and not the wanted value."""
    picture = pictures.graph(DIAMOND, {"x": 110.0, "y": 76.0}, {"x": 152.0, "y": 76.0})
    svg = pictures.as_svg(picture)
    assert "grad 110" in texts(svg) and "× 11" in texts(svg) and "152" not in svg
    assert svg.count('<g class="mg-wrong">') == 1
    assert "x, a leaf: grad 110   <- wrong" in pictures.as_words(picture)
    assert pictures.said(picture) == len("11076")
    assert pictures.graph(DIAMOND, {"x": 110.0, "another": 1.0, "y": 76.0}, {"x": 152.0, "y": 76.0}) == {
        **picture,
        "notes": {"x": "110", "y": "76"},
    }


def test_an_order():
    """The graph of an order marks what comes too early, twice, nowhere, or is a constant."""
    graph = {"a": ["x", "two"], "b": ["a"], "z": ["a", "b"]}
    early = pictures.as_words(pictures.order(graph, ["z", "a", "b", "x"], ["two"]))
    assert [line.split(",")[0] for line in early if "wrong" in line] == ["a"]
    twice = pictures.as_words(pictures.order(graph, ["z", "b", "a", "x", "x", "two"], ["two"]))
    assert [line for line in twice if "wrong" in line] == [
        "x, a leaf: place 4 and 5   <- wrong",
        "two, a constant: place 6   <- wrong",
    ]
    assert "place nowhere" in texts(pictures.as_svg(pictures.order(graph, ["z", "b", "a"], ["two"])))


def test_a_view():
    """A view shows which element of the storage was read for which of its own."""
    picture = pictures.view(6, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[0, 3], [1, 4], [2, 5]])
    svg = pictures.as_svg(picture)
    assert svg.count('class="mg-bad"') == 4 and svg.count('class="mg-cell mg-used"') == 6
    assert any("[1]" in line for line in pictures.as_words(picture))


def test_indices_of_more_axes():
    """Rows of an array of three axes are numbered by the first two."""
    values = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    picture = pictures.together(pictures.array("a", values, [[[1, 2], [3, 4]], [[5, 6], [7, 9]]], came=True))
    assert {"0,0", "0,1", "1,0", "1,1"} <= set(texts(pictures.as_svg(picture)))


def test_shapes_are_aligned():
    """Shapes stand below each other with their last axes in one column."""
    picture = pictures.aligned({"shape1": [2, 3], "shape2": [3]}, "came", [2, 2], [2, 3])
    assert pictures.as_words(picture) == ["shape1  2  3 ", "shape2     3 ", "came    2 [2]"]
    svg = pictures.as_svg(picture)
    threes = re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="middle">3<', svg)
    assert len(threes) == 2 and len(set(threes)) == 1


def test_steps():
    """Strides that came are shown by the elements that they lead to."""
    picture = pictures.steps([2, 3], [1, 40], [3, 1])
    words = " ".join(pictures.as_words(picture))
    assert "a step along axis 0 passes 1: it lands at (0,1)" in words and "passes 40: it lands outside" in words


def test_collisions():
    """Iterations that meet are drawn with the element; findings of other kinds are none."""
    found = [
        {"kind": "carried", "array": "total", "index": [], "first": "None", "second": "None", "acts": []},
        {
            "kind": "read-write",
            "array": "index",
            "index": [0],
            "first": "0",
            "second": "1",
            "acts": ["reads", "writes"],
        },
    ] * 2
    picture = pictures.collisions(found)
    assert pictures.as_words(picture) == ["iteration 0 reads index[0], and iteration 1 writes it"]
    assert {"iteration 0", "iteration 1", "index[0]", "writes", "reads"} <= set(texts(pictures.as_svg(picture)))
    assert pictures.collisions(found[:1]) is None and len(picture["meetings"]) == 1


def test_a_thread_of_a_plane_of_blocks_is_named_whole():
    """Its name has the room that two coordinates take."""
    who = ["thread (31, 31) of block (127, 127)", "thread (0, 31) of block (127, 127)"]
    found = {"kind": "read-write", "array": "tile", "index": [31, 31], "first": who[0], "second": who[1],
             "acts": ["reads", "writes"]}  # fmt: skip
    assert set(who) <= set(texts(pictures.as_svg(pictures.collisions([found]))))


@pytest.mark.parametrize(
    "picture",
    [
        pictures.graph(DIAMOND, {"x": 1}, {"x": 1}),
        pictures.order({"z": ["x"]}, ["z", "x"]),
        pictures.view(2, [0, 1], [0, 1]),
        pictures.aligned({"a": [1]}, "b", [1], [1]),
        pictures.steps([2, 3], [3, 1], [3, 1]),
        pictures.together(pictures.array("a", [1.0, float("nan")], [1, float("nan")], came=True)),
    ],
)
def test_nothing_wrong_is_no_picture(picture):
    """Where the answer is right as far as a picture could show, there is none."""
    assert picture is None and pictures.as_svg(picture) == "" and pictures.as_words(picture) == []


HOSTILE = "\x1b\u202e</text></svg><script>alert(1)</script>&\"'"


@pytest.mark.parametrize(
    "picture",
    [
        pictures.graph(DIAMOND, {"x": HOSTILE, HOSTILE: 1}, {"x": 1}),
        pictures.together(pictures.array("a", [HOSTILE, 10**400, float("inf"), None], [1, 2, 3, 4], came=True)),
        pictures.collisions([{"kind": "write-write", "array": HOSTILE, "index": [HOSTILE] * 99, "first": HOSTILE * 99,
                              "second": 1, "acts": ["writes", "writes"]}]),
    ],
)  # fmt: skip
def test_hostile_labels(picture):
    """Labels that came of a student's process are short, escaped and printable; the drawing is well-formed."""
    svg, words = pictures.as_svg(picture), "".join(pictures.as_words(picture))
    ElementTree.fromstring(svg)
    assert "<script" not in svg and len(svg) < 10_000
    assert "\x1b" not in svg + words and "\u202e" not in svg + words and len(words) < 1000
    assert not re.search(r"\b(on\w+|href|src)=", svg)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pictures.array("a", list(range(49))),
        lambda: pictures.array("a", []),
        lambda: pictures.array("a", "IndexingError"),
    ],
)
def test_arrays_that_cannot_be_drawn(make):
    """Arrays without elements or with too many, and words in their place, are refused."""
    with pytest.raises(ValueError, match=r"cannot be drawn|is a word"):
        make()


@pytest.mark.parametrize(
    "damage", [{"kind": "arrays"}, {"kind": "x"}, {}, {"kind": "graph", "inputs": 3}, {"kind": []}]
)
def test_damaged_pictures(damage):
    """What is no picture any more, in a file that someone has edited, draws nothing."""
    assert pictures.as_svg(damage) == "" and pictures.as_words(damage) == []


def test_a_graph_too_large():
    """A graph of more variables than can be told apart is not drawn, and still said."""
    chain = {f"v{i + 1}": [(f"v{i}", 1.0)] for i in range(200)}
    picture = pictures.graph(chain, {"v0": 2.0}, {"v0": 1.0})
    assert pictures.as_svg(picture) == "" and len(pictures.as_words(picture)) == 201
