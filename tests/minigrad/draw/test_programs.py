"""The picture of a traced function shows its inputs, equations and what they read."""

import re

import pytest

from minigrad import draw, ones, zeros
from minigrad.graph import optimize, trace
from minigrad.transforms import grad


def boxes(picture):
    """The boxes of a picture by kind, each with its first line."""
    return re.findall(r'<rect class="mp-(\w+)"[^>]*/><text class="mp-\w+"[^>]*>([^<]*)</text>', picture.svg)


def test_each_value_has_a_box():
    """Inputs, constants, equations and results look different; the words are those of the printed graph."""
    scale = ones(3)
    graph = trace(lambda x, y: (x * scale + y).exp(), zeros(3), zeros(3))
    picture = draw.program(graph)
    assert boxes(picture) == [
        ("used", "a"),
        ("used", "b"),
        ("ghost", "c"),
        ("cell", "d = Mul a c"),
        ("cell", "e = Add d b"),
        ("mark", "f = Exp e"),
    ]
    assert picture.description == " ".join(f"{line}." for line in str(graph).split("\n"))
    assert picture.svg.count("<polygon") == 5  # one arrow for each operand


def test_a_value_that_is_read_twice_has_one_arrow():
    """`x * x` reads one value."""
    assert draw.program(trace(lambda x: x * x, zeros(2))).svg.count("<polygon") == 1


def test_what_is_returned_at_once_is_marked():
    """An input or a constant may be a result."""
    kept = ones(2)
    assert boxes(draw.program(trace(lambda x: (x, kept), zeros(2)))) == [("mark", "a"), ("mark", "b")]


def test_a_gradient_is_a_program_too():
    """The backward pass has boxes like the function's own."""
    graph = optimize(trace(grad(lambda x: (x * x).sum()), zeros(3)))
    assert len(boxes(draw.program(graph))) == len(graph.inputs) + len(graph.constants) + len(graph.equations)


def test_a_rewrite_shows_what_goes_and_what_comes():
    """Both graphs side by side: values keep their names, what goes is red, what is new is grey."""
    found = trace(lambda x: (x.neg().neg().exp() * 2.0, x.exp()), zeros(3))
    picture = draw.rewrite(found, optimize(found))
    shown = [each for each in boxes(picture) if each[0] != "paper"]
    before, after = shown[:6], shown[6:]
    assert before == [
        ("used", "a"),
        ("bad", "b = Neg a"),
        ("bad", "c = Neg b"),
        ("bad", "d = Exp c"),
        ("mark", "e = Mul d 2.0"),
        ("bad", "f = Exp a"),
    ]
    assert after == [("used", "a"), ("mark", "d = Exp a"), ("mark", "e = Mul d 2.0")]
    assert (
        picture.description.startswith("before: a: float32[3]. b: ")
        and " after: a: float32[3]. d: " in picture.description
    )


def test_a_large_program_is_refused():
    """The picture says so; in a notebook the graph shows itself as text then."""

    def long(x):
        for _ in range(draw.programs.LARGEST):
            x = -x
        return x

    graph = trace(long, zeros(2))
    with pytest.raises(ValueError, match="program: the graph has 61 boxes, a picture at most 60; print the graph"):
        draw.program(graph)
    assert graph._repr_html_() is None
    assert "data:image/svg" in optimize(graph)._repr_html_()


def test_long_equations_are_cut():
    """A box stays narrow; its type is in the second line."""
    graph = trace(lambda x: x.permute(0, 2, 1, 3, 4, 5, 6), zeros(1, 1, 1, 1, 1, 1, 1))
    ((_, first), (_, second)) = boxes(draw.program(graph))
    assert (first, second) == ("a", "b = Permute order=(0, 2, 1, 3, 4, 5, 6) a"[:39] + "…")
