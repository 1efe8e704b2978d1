"""The picture of a traced function shows its inputs, equations and what they read."""

import re

import numpy as np
import pytest

from minigrad import draw, ones, program, symbols, zeros
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


# --- programs of lesson 11 --------------------------------------------------------------------------------------------


def test_a_program_of_the_lesson_has_boxes_too():
    """Inputs, constants, equations and results, with the names of the printed program."""
    scale = np.ones(3)
    given = program.trace(lambda x, y: symbols.exp(x * scale + y), np.zeros(3), np.zeros(3))
    picture = draw.program(given)
    assert boxes(picture) == [
        ("used", "a"),
        ("used", "b"),
        ("ghost", "c"),
        ("cell", "d = mul a c"),
        ("cell", "e = add d b"),
        ("mark", "f = exp e"),
    ]
    assert all(f" = {each.op} " in str(given) for each in given.equations)
    assert picture.svg.count("<polygon") == 5


def test_options_and_numbers_are_shown():
    """A sum says its axis; an output may be a number."""
    given = program.trace(lambda x: (x.sum(axis=1), 3.0), np.zeros((2, 3)))
    assert "b = sum a axis=1 keepdims=False: float64[2]. return b, 3.0." in draw.program(given).description


def test_what_a_pass_has_removed_is_struck_out():
    """Equations that are gone, and constants that nobody reads any more; what is left looks as before."""
    given = program.trace(lambda x, w: symbols.exp(x) * symbols.exp(w), np.zeros(3), np.zeros(3))
    given = program.bind(given, 1, np.ones(3))
    picture = draw.program(given, kept=program.simplify(given))
    struck = re.findall(r'class="mp-struck"[^>]*>([^<]*)<', picture.svg)
    assert struck == ["b", "d = exp b"]
    assert ("cell", "c = exp a") in boxes(picture) and ("mark", "e = mul c d") in boxes(picture)
    assert "d = exp b: float64[3], struck out." in picture.description


def test_a_backward_pass_stands_below_the_line():
    """What `backward` has appended is grey, stands below every equation of the given program, and is said to do so."""
    given = program.trace(lambda x, y: x * y + symbols.exp(x), np.zeros(()), np.zeros(()))
    picture = draw.program(program.backward(given, [0, 1]), forward=given)
    assert ("ghost", "c") in boxes(picture) and ("other", "g = mul c e") in boxes(picture)
    assert [name for kind, name in boxes(picture) if kind == "mark"] == ["f = add d e", "i = add g h", "j = mul c a"]
    top = {name: float(y) for y, name in re.findall(r' y="([\d.]+)"[^>]*/><text[^>]*>([^<]*)</text>', picture.svg)}
    (line,) = re.findall(r'stroke-dasharray="6 4" d="M[\d.]+,([\d.]+)H', picture.svg)
    above = {name for name, y in top.items() if y < float(line)}
    assert above == {"a", "b", "d = mul a b", "e = exp a", "f = add d e"}
    assert "c: float64[], below the line. d = mul a b: float64[]. " in picture.description
