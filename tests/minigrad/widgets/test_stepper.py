"""The stepper through backpropagation: what has happened after each step, with right and with wrong engines."""

import xml.etree.ElementTree as ET

import pytest
from diamond import example, path_by_path

import minigrad as mg
from minigrad import Scalar, exercises, widgets
from minigrad.errors import ExerciseNotDone
from minigrad.widgets import base
from minigrad.widgets.steps import Moment, record


def shown():
    """The stepper of the example, with every variable named."""
    x, a, b, z = example()
    return widgets.backprop(z, x=x, a=a, b=b, z=z)


def by_name(stepper, column):
    """One column of the table, by the variables' names."""
    return {row["name"]: row[column] for row in stepper.rows}


def breadth_first(variable):
    """A wrong order: a comes before b, although b is made from a."""
    order, queue = [], [variable]
    while queue:
        node = queue.pop(0)
        if node not in order and not node.is_constant():
            order.append(node)
            queue.extend(node.parents)
    return order


# --- with a right engine ----------------------------------------------------------------------------------------


def test_the_beginning():
    """Before the first step only the result's gradient is complete, and everyone says whom they wait for."""
    stepper = shown()
    assert (stepper.step, stepper.last) == (0, 4)
    assert by_name(stepper, "state") == {"z": "complete", "a": "waits", "b": "waits", "x": "waits"}
    assert by_name(stepper, "waits") == {"z": "", "a": "z and b", "b": "z", "x": "a"}
    assert by_name(stepper, "gradient") == {"z": "1", "a": "none", "b": "none", "x": "none"}
    assert stepper.said.startswith("Before the first step: z is the result")


def test_a_gradient_that_is_half_there():
    """After z, a has the part along one path and waits for b, whose gradient is complete."""
    stepper = shown()
    stepper.step = 1
    assert by_name(stepper, "gradient") == {"z": "1", "a": "30", "b": "10", "x": "none"}
    assert by_name(stepper, "state") == {"z": "visited", "a": "waits", "b": "complete", "x": "waits"}
    assert by_name(stepper, "waits")["a"] == "b"
    assert "It hands 1 × 30 = 30 to a, which still waits for b." in stepper.said


def test_the_end():
    """At the end every variable was visited with its whole gradient, and the variables' own grad is untouched."""
    x, a, b, z = example()
    stepper = widgets.backprop(z, a=a, b=b)
    stepper.step = stepper.last
    assert by_name(stepper, "gradient") == {"the × that is 300": "1", "a": "60", "b": "10", "x": "120"}
    assert stepper.said.endswith("Every variable was visited once, with its whole gradient.")
    assert x.grad is None


@pytest.mark.parametrize(("wanted", "got"), [(-3, 0), (99, 4)])
def test_steps_stay_within_the_run(wanted, got):
    """There is nothing before the first and after the last step."""
    stepper = shown()
    stepper.step = wanted
    assert stepper.step == got


def test_the_picture_of_a_moment():
    """The picture marks who was visited last, and shows gradients so far and the slopes."""
    stepper = shown()
    stepper.step = 1
    svg = stepper.pictures["graph"]
    texts = [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "grad 30 so far" in texts
    assert "waits for b" in texts
    assert {"× 30", "× 10", "× 3", "× 2"} <= set(texts)
    key = next(row["key"] for row in stepper.rows if row["name"] == "z")
    assert f'<g class="ms-visited ms-now" data-part="{key}">' in svg


def test_pictures_of_one_run_are_of_one_size():
    """Nothing jumps while one steps."""
    stepper = shown()
    sizes = set()
    for step in range(stepper.last + 1):
        stepper.step = step
        root = ET.fromstring(stepper.pictures["graph"])
        sizes.add((root.get("width"), root.get("height")))
    assert len(sizes) == 1


def test_a_product_with_itself():
    """Both uses of x in x * x hand it a part, and both are counted."""
    x = Scalar(3.0, name="x")
    run = record(x * x)
    assert len(list(run.edges_to(x.unique_id))) == 2
    assert Moment(run, 1).gradient(x.unique_id) == 6.0
    assert Moment(run, 1).state(x.unique_id) == "complete"


def test_tensors():
    """Small tensors have gradients of their shape, which are added up as numbers are."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    stepper = widgets.backprop((y * x).sum(), x=x, y=y)
    stepper.step = stepper.last
    assert by_name(stepper, "gradient")["x"] == "[6 12]"
    assert stepper.said.endswith("with its whole gradient.")


def test_what_a_page_shows_without_widgets(monkeypatch):
    """There is a sentence for terminals, and a picture for pages in an output of its own."""
    stepper, outputs = shown(), []
    monkeypatch.setattr(base, "display", lambda data, **options: outputs.append(data))
    stepper._ipython_display_()
    widget, still = outputs
    assert widget["text/plain"] == repr(stepper) == f"Backpropagation, step by step: {stepper.said}"
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert still["text/html"].startswith(f'<div id="mgw-still-{stepper.model_id}"><div><strong>Backpropagation')
    assert still["text/html"].count("data:image/svg+xml") == len(stepper.still())


# --- with other engines -----------------------------------------------------------------------------------------


def test_a_wrong_order_shows():
    """Visited breadth first, a goes on with half of its gradient, and so does x."""
    with exercises.install({"autodiff.topological_sort": breadth_first}):
        stepper = shown()
        stepper.step = 2
        assert by_name(stepper, "state")["a"] == "early"
        assert "a is visited with 30, too early: it still waits for b." in stepper.said
        assert "to x, which still waits for a." in stepper.said
        stepper.step = stepper.last
    assert by_name(stepper, "state") == {"z": "visited", "a": "early", "b": "visited", "x": "early"}
    assert "it visited a and x too early" in stepper.said


def test_an_engine_that_comes_back_is_not_blamed():
    """Path by path, a is visited twice; at the end all parts have arrived."""
    with exercises.install({"autodiff.backpropagate": path_by_path}):
        stepper = shown()
    stepper.step = stepper.last
    assert by_name(stepper, "gradient")["x"] == "120"
    assert set(by_name(stepper, "state").values()) == {"visited"}
    assert stepper.said.endswith("All parts have arrived, in 6 visits to 4 variables.")


def test_an_engine_that_stops_with_an_error():
    """The steps before the error can be walked, and the last sentence is the error."""

    def only_one(variable):
        yield variable
        raise LookupError("no more")

    with exercises.install({"autodiff.topological_sort": only_one}):
        stepper = shown()
    stepper.step = 1
    assert stepper.said.endswith("The engine stopped here: LookupError: no more")


def test_an_engine_that_ends_too_soon():
    """Whoever was never visited is named."""
    with exercises.install({"autodiff.topological_sort": lambda variable: [variable]}):
        stepper = shown()
    stepper.step = stepper.last
    assert stepper.said.endswith("but never visited a, b and x.")


def test_an_engine_that_is_still_to_be_written():
    """The values and who waits for whom can be seen before there is an engine, and the sentence names the exercise."""

    def missing(variable, deriv):
        raise ExerciseNotDone("autodiff.backpropagate")

    with exercises.install({"autodiff.backpropagate": missing}):
        stepper = shown()
    assert stepper.last == 0
    assert "There is no engine yet" in stepper.said
    assert "autodiff.backpropagate" in stepper.said
    assert by_name(stepper, "waits")["a"] == "z and b"


def test_reset_takes_the_engine_of_that_moment():
    """The same widget shows a mended engine, without being made again."""
    with exercises.install({"autodiff.topological_sort": breadth_first}):
        stepper = shown()
    stepper.step = 3
    stepper.again()
    assert stepper.step == 0
    stepper.step = stepper.last
    assert stepper.said.endswith("Every variable was visited once, with its whole gradient.")


def test_too_large_a_graph():
    """A graph that cannot be read is refused with a sentence."""
    x = Scalar(1.0)
    for _ in range(130):
        x = x + 1.0
    with pytest.raises(ValueError, match="more than 120 variables"):
        widgets.backprop(x)


def test_a_constant():
    """Nothing leads back from a constant: a sentence says what to take."""
    with pytest.raises(ValueError, match=r"backprop: tensor\(3\.\) is a constant"):
        widgets.backprop(mg.tensor(3.0))
