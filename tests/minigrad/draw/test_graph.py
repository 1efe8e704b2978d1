"""The picture of an expression's graph."""

import itertools
import math
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from diamond import example, path_by_path
from looking_into import SVG, texts

from minigrad import Scalar, autodiff, draw, dual, widgets
from minigrad.checks.standins import constant, leaf, result
from minigrad.draw.graph import LARGEST, expression_graph
from minigrad.draw.layout import lay_out


def breadth_first(variable, deriv):
    """A wrong engine, which hands on too early."""
    derivatives, queue, seen = {variable.unique_id: deriv}, [variable], {variable.unique_id}
    while queue:
        node = queue.pop(0)
        d_output = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d_output)
            continue
        for parent, d in node.chain_rule(d_output):
            derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d
            if parent.unique_id not in seen:
                seen.add(parent.unique_id)
                queue.append(parent)


# --- what is shown ------------------------------------------------------------------------------------------


def test_values_and_derivatives(engine):
    """Each box shows name, operation, value and the derivative that passed through it."""
    _, a, b, z = example()
    shown = texts(expression_graph(z, a=a, b=b, z=z))
    for lines in (
        ["x", "value 5", "grad 120"],
        ["a = \u00d7", "value 10", "grad 60"],
        ["b = \u00d7", "value 30", "grad 10"],
        ["z = \u00d7", "value 300", "grad 1"],
    ):
        start = shown.index(lines[0])
        assert shown[start : start + 3] == lines


def test_nothing_is_left_on_the_variables(engine):
    """Drawing gives no variable a derivative, and leaves those that are there alone."""
    x, a, _, z = example()
    x.grad = 7.0
    expression_graph(z)
    assert (x.grad, a.grad) == (7.0, None)


def test_parts_on_the_arrows():
    """An arrow shows what was handed back along it: the two parts that make 60 at a."""
    _, a, b, z = example()
    assert texts(expression_graph(z, a=a, b=b)).count("30") == 2


def test_start():
    """The derivative to start from multiplies all others."""
    _, _, _, z = example()
    assert "grad -240" in texts(expression_graph(z, gradient=-2.0))


def test_two_arrows_for_a_square():
    """x * x is drawn with two arrows, each with its part, and the slopes of a stand-in beside them."""
    x = leaf("x")
    shown = texts(expression_graph(result("z", (x, 3.0), (x, 4.0))))
    assert [shown.count(text) for text in ("\u00d7 3", "\u00d7 4", "3", "4", "grad 7")] == [1] * 5


def test_stand_ins_without_derivatives():
    """A graph of stand-ins shows names and slopes, and nothing of a derivative unless asked."""
    x = leaf("x")
    a = result("a", (x, 2.0), (constant("seven"), 7.0))
    picture = expression_graph(result("z", (a, 30.0)), gradients=False)
    assert set(texts(picture)) == {"x", "a", "seven", "z", "\u00d7 2", "\u00d7 30"}
    assert "derivative" not in picture.description


def test_digits():
    """A box shows six digits of a number, an arrow four."""
    shown = texts(expression_graph(result("z", (leaf("x"), 1.0 / 3.0))))
    assert "grad 0.333333" in shown and "\u00d7 0.3333" in shown


def test_long_slopes_leave_their_arrow_to_be_seen():
    """Between two boxes there is more room than a long slope takes."""
    root = ET.fromstring(expression_graph(result("z", (leaf("x"), -0.62817)), gradients=False).svg)
    boxes = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "mg-box"]
    left, right = sorted(boxes, key=lambda box: float(box.get("x")))
    room = float(right.get("x")) - float(left.get("x")) - float(left.get("width"))
    assert room > len("\u00d7 -0.6282") * 7.3 + 40.0


def test_leaf_alone():
    """A leaf by itself is a picture, too."""
    assert texts(expression_graph(Scalar(2.0, name="x"))) == ["x", "value 2", "grad 1"]


def test_numbers_that_are_not_finite():
    """Infinite and undefined derivatives are shown as such."""
    x = Scalar(0.0, name="x")
    assert "grad inf" in texts(expression_graph(x.log()))
    assert "grad nan" in texts(expression_graph(x.log(), gradient=float("nan")))


# --- the engine that is watched ------------------------------------------------------------------------------


def test_shows_what_the_present_engine_does(monkeypatch):
    """A breadth-first engine is drawn with its mistake: 30 at a, and 60 at x."""
    monkeypatch.setattr(autodiff, "backpropagate", breadth_first)
    _, a, b, z = example()
    shown = texts(expression_graph(z, a=a, b=b))
    assert "grad 60" in shown and "grad 30" in shown and "grad 120" not in shown


def test_shows_every_visit(monkeypatch):
    """An engine that asks a variable twice is seen doing so."""
    monkeypatch.setattr(autodiff, "backpropagate", path_by_path)
    _, a, b, z = example()
    assert "grad 30, then 30" in texts(expression_graph(z, a=a, b=b))


def test_without_an_engine(monkeypatch):
    """Without derivatives the engine is not asked at all."""

    def refuse(variable, deriv):
        raise AssertionError("asked")

    monkeypatch.setattr(autodiff, "backpropagate", refuse)
    assert "value 300" in texts(expression_graph(example()[3], gradients=False))
    with pytest.raises(AssertionError, match="asked"):
        expression_graph(example()[3])


def _by_function(node, d_output):
    return autodiff.chain_rule(node, d_output)


def _by_history(node, d_output):
    history = node.history
    pairs = zip(history.inputs, history.last_fn._backward(history.ctx, d_output), strict=True)
    return [(parent, d) for parent, d in pairs if not parent.is_constant()]


def _by_backward(node, d_output):
    history = node.history
    found = history.last_fn.backward(history.ctx, d_output)
    found = found if isinstance(found, tuple) else (found,)
    return [(parent, d) for parent, d in zip(history.inputs, found, strict=True) if not parent.is_constant()]


@pytest.mark.parametrize("step", [_by_function, _by_history, _by_backward])
def test_every_way_to_take_a_step_is_seen(monkeypatch, step):
    """An engine may ask the variable's method, the function, or the history itself: the picture is the same."""

    def backpropagate(variable, deriv):
        derivatives = {variable.unique_id: deriv}
        for node in autodiff.topological_sort(variable):
            d_output = derivatives[node.unique_id]
            if node.is_leaf():
                node.accumulate_derivative(d_output)
                continue
            for parent, d in step(node, d_output):
                derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d

    _, a, b, z = example()
    wanted = expression_graph(z, a=a, b=b, z=z).svg
    monkeypatch.setattr(autodiff, "backpropagate", backpropagate)
    assert expression_graph(z, a=a, b=b, z=z).svg == wanted
    x = leaf("x")
    y = result("y", (x, 3.0), (constant("two"), 7.0))
    assert {"grad 12", "12", "grad 4"} <= set(texts(expression_graph(result("z", (y, 4.0)))))


def test_pairs_with_constants(monkeypatch):
    """A chain rule that does not leave out constants can still be drawn."""

    def keep_all(variable, d_output):
        history = variable.history
        return list(zip(history.inputs, history.last_fn._backward(history.ctx, d_output), strict=True))

    monkeypatch.setattr(autodiff, "chain_rule", keep_all)
    assert "grad 120" in texts(expression_graph(example()[3]))


# --- the picture as a file -----------------------------------------------------------------------------------


def test_text_alternative():
    """The picture has a title, and says in words what it shows, inputs before what is computed from them."""
    _, a, b, z = example()
    root = ET.fromstring(expression_graph(z, a=a, b=b, z=z)._repr_svg_())
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Graph of an expression with derivatives"
    words = root.find(f"{SVG}desc").text
    assert words.startswith("x is a leaf, value 5, derivative 120.")
    assert "a is computed by Mul from x and 2, value 10, derivative 60." in words
    assert words.endswith("z is computed by Mul from a and b, value 300, derivative 1.")


def test_stands_alone():
    """The file refers to nothing outside itself, and holds no id that could clash with another picture's."""
    root = ET.fromstring(expression_graph(example()[3]).svg)
    names = {name.rpartition("}")[2] for element in root.iter() for name in element.attrib}
    assert names.isdisjoint({"id", "href", "src"})
    assert "url(" not in expression_graph(example()[3]).svg


def test_dark_pages():
    """There are colours for dark pages."""
    assert "prefers-color-scheme:dark" in expression_graph(example()[3]).svg


def test_names_are_escaped():
    """A name with angle brackets is text, not markup."""
    x = Scalar(1.0, name="<b>&")
    picture = expression_graph(x * 2.0)
    assert "<b>&" in texts(picture)
    assert "<b>" not in picture.svg


def test_too_large():
    """A graph that nobody can read is refused, with a word on what to do."""
    x = Scalar(1.0)
    for _ in range(LARGEST):
        x = x + x
    with pytest.raises(ValueError, match="draw a part"):
        expression_graph(x)


def test_needs_no_matplotlib():
    """Drawing a graph imports neither matplotlib nor numpy; every public name of the package can be had."""
    code = (
        "import sys; from minigrad import Scalar, draw; draw.expression_graph(Scalar(1.0) * 2.0).svg;"
        "assert not {'matplotlib', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(callable(getattr(draw, name)) for name in draw.__all__)
    assert set(draw.__all__) <= set(dir(draw))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = draw.nothing


# --- the layout ----------------------------------------------------------------------------------------------

GRAPHS = {
    "chain": (["x", "a", "z"], [("x", "a"), ("a", "z")]),
    "diamond": (["x", "a", "b", "z"], [("x", "a"), ("x", "b"), ("a", "z"), ("b", "z")]),
    "short and long": (
        ["x", "a", "b", "c", "z"],
        [("x", "a"), ("a", "b"), ("b", "c"), ("c", "z"), ("a", "z"), ("x", "z")],
    ),
    "late constant": (["x", "a", "b", "two", "z"], [("x", "a"), ("a", "b"), ("b", "z"), ("two", "z")]),
    "twice": (["x", "z"], [("x", "z"), ("x", "z")]),
    "alone": (["x"], []),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_inputs_stand_to_the_left(name):
    """Every arrow leads to the right, from its own input to its own result."""
    names, edges = GRAPHS[name]
    keys = {name: i for i, name in enumerate(names)}
    layout = lay_out(list(keys.values()), [(keys[a], keys[b]) for a, b in edges])
    for (start, end), route in zip(edges, layout.routes, strict=True):
        assert (route[0], route[-1]) == (layout.places[keys[start]], layout.places[keys[end]])
        assert all(b[0] - a[0] == 1.0 for a, b in itertools.pairwise(route))


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_stands_on_anything(name):
    """In each layer, boxes and passing arrows keep a distance of one unit, within the size that is given."""
    names, edges = GRAPHS[name]
    keys = {name: i for i, name in enumerate(names)}
    layout = lay_out(list(keys.values()), [(keys[a], keys[b]) for a, b in edges])
    spots = [*layout.places.values(), *(point for route in layout.routes for point in route[1:-1])]
    for one, other in itertools.combinations(spots, 2):
        assert one[0] != other[0] or abs(one[1] - other[1]) >= 1.0 - 1e-9
    assert max(x for x, _ in spots) == layout.size[0]
    assert min(y for _, y in spots) == 0.0 and max(y for _, y in spots) == pytest.approx(layout.size[1])


def test_constants_stand_beside_their_user():
    """A constant that is used late is drawn late, not at the far left."""
    names, edges = GRAPHS["late constant"]
    keys = {name: i for i, name in enumerate(names)}
    layout = lay_out(list(keys.values()), [(keys[a], keys[b]) for a, b in edges])
    assert layout.places[keys["two"]][0] == layout.places[keys["z"]][0] - 1.0


@pytest.mark.parametrize(("result", "names"), [([1.0], {}), (Scalar(1.0), {"a": 2.0})])
@pytest.mark.parametrize("show", [expression_graph, widgets.backprop])
def test_what_is_no_variable(show, result, names):
    """One sentence names the picture, and what was given."""
    with pytest.raises(TypeError, match=rf"{show.__name__}: .* must be a Scalar or a Tensor, not (\[1\.0\]|2\.0)"):
        show(result, **names)


# --- both lanes -------------------------------------------------------------------------------------------------------


def test_tangents_run_to_the_right():
    """Each box shows how fast it moves when a leaf moves with speed 1: both lanes end at one number."""
    x = leaf("x")
    a, b = result("a", (x, 4.0)), result("b", (x, -0.5))
    shown = texts(expression_graph(result("y", (a, 0.25), (b, 4.0)), moving=x))
    for name, tangent, gradient in (("x", 1, -1), ("a", 4, 0.25), ("b", -0.5, 4), ("y", -1, 1)):
        start = shown.index(name)
        assert shown[start + 1 : start + 3] == [f"tangent {tangent:g}", f"grad {gradient:g}"]


def test_the_tangents_of_scalars_are_those_of_jvp():
    """Another leaf stands still, and a constant has no tangent."""
    x, y = Scalar(2.0, name="x"), Scalar(5.0, name="y")
    found = str(expression_graph(x * y + 3.0 * x.sin(), moving=y, gradients=False))
    tangent = dual.jvp(lambda y: 2.0 * y + 3.0 * math.sin(2.0), (5.0,), (1.0,))[1]
    assert f"tangent {tangent:g}." in found and "3 is a constant." in " ".join(found.split())


@pytest.mark.parametrize("moving", [Scalar(1.0), leaf("elsewhere")], ids=["a Scalar", "a leaf"])
def test_what_moves_is_a_leaf_of_the_graph(moving):
    """A number of another graph, or a result, cannot move by itself."""
    x = Scalar(2.0)
    for wrong in (moving, x * x):
        with pytest.raises(ValueError, match="moving must be a leaf of the graph"):
            expression_graph(x * x + 1.0, moving=wrong)
