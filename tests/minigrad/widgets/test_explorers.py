"""The explorers: indices and positions, broadcasting, and the errors of differences."""

import math
import re

import numpy as np
import pytest

import minigrad as mg
from minigrad import exercises, widgets
from minigrad.errors import ExerciseNotDone
from minigrad.tensor_data import TensorData
from minigrad.widgets import broadcasting, differences, grids, indexing
from minigrad.widgets.charts import ticks

# --- indices ----------------------------------------------------------------------------------------------------

REPEATED = np.broadcast_to(np.arange(6).reshape(2, 1, 3), (2, 2, 3))


def test_an_index_leads_to_a_position():
    """Looking at an element shows the sum of products, its position and the element."""
    explorer = widgets.index_explorer(np.arange(6).reshape(2, 3).T)
    explorer.look_at((2, 1))
    assert (explorer.index, explorer.position) == ([2, 1], 5)
    assert explorer.said.startswith("index (2, 1): 2·1 + 1·3 = position 5, where 5 stands")


def test_positions_agree_with_numpy():
    """For sliced, permuted and repeated views the place is where NumPy finds the element."""
    base = np.arange(24.0).reshape(2, 3, 4)
    for array in (base, base.transpose(2, 0, 1), base[1:, ::2, 1:], np.broadcast_to(base[0], (2, 3, 4))):
        view = TensorData.of(array)
        for index in grids.indices(view.shape):
            assert view.storage[indexing.place_of(view, index)] == array[index]


def test_the_way_back_with_a_stride_of_0():
    """A position is shown by every index along an axis with stride 0, and the sentence says why."""
    explorer = widgets.index_explorer(REPEATED)
    explorer.look_in(4)
    assert (explorer.index, explorer.position) == ([1, 0, 1], 4)
    assert "shown by 2 indices: (1, 0, 1), (1, 1, 1): a step along axis 1 has stride 0" in explorer.said
    explorer._hear({"in": "storage", "key": "Enter"})
    assert explorer.index == [1, 1, 1]
    assert explorer.said.endswith("shown by (1, 0, 1): a step along axis 1 has stride 0 and stays where it is.")
    explorer._hear({"in": "storage", "key": "Enter"})
    assert explorer.index == [1, 0, 1]


def test_a_position_that_no_index_shows():
    """What a slice leaves out is in the storage, and no index leads there."""
    explorer = widgets.index_explorer(np.arange(6)[::2])
    explorer.look_in(3)
    assert (explorer.index, explorer.position) == ([], 3)
    assert explorer.said == "position 3 holds 3: no index of this view leads there."


def test_an_offset_is_said():
    """A view that begins later in the storage starts its sum with the offset."""
    explorer = widgets.index_explorer(np.arange(6)[2:])
    assert explorer.said.startswith("index (0,): 2 + 0·1 = position 2")


def test_pictures_mark_what_is_looked_at():
    """Every index of the position is marked in the view, and its box in the storage."""
    explorer = widgets.index_explorer(REPEATED)
    explorer.look_at((1, 1, 1))
    for part in ("view:1,0,1", "view:1,1,1"):
        assert f'data-part="{part}"><rect class="mp-mark"' in explorer.pictures["view"]
    assert explorer.pictures["view"].count("mgw-here") == 1
    assert 'data-part="storage:4"><rect class="mp-mark"' in explorer.pictures["storage"]
    assert explorer.pictures["storage"].count('"mp-mark"') == 1


@pytest.mark.parametrize(
    ("key", "there"),
    [("ArrowRight", (1, 0, 2)), ("ArrowLeft", (1, 0, 0)), ("ArrowDown", (1, 1, 1)), ("ArrowUp", (1, 0, 1)),
     ("PageUp", (0, 0, 1)), ("PageDown", (1, 0, 1)), ("Home", (0, 0, 0)), ("End", (1, 1, 2)), ("x", (1, 0, 1))],
)  # fmt: skip
def test_keys(key, there):
    """Arrows move along the last two axes, the page keys along the one before, and nothing leaves the array."""
    assert grids.moved((2, 2, 3), (1, 0, 1), key) == there


@pytest.mark.parametrize(
    ("key", "index", "there"),
    [("PageDown", (0, 1, 1, 0), (1, 0, 1, 0)), ("PageUp", (1, 0, 1, 0), (0, 1, 1, 0)),
     ("PageDown", (2, 1, 0, 1), (2, 1, 0, 1)), ("PageUp", (0, 0, 0, 1), (0, 0, 0, 1))],
)  # fmt: skip
def test_page_keys_in_four_axes(key, index, there):
    """They go on along the first axis where the second one ends, and stop at the first and the last grid."""
    assert grids.moved((3, 2, 2, 2), index, key) == there


@pytest.mark.parametrize("shape", [(3, 2, 2, 2), (2, 1, 3, 2, 2)])
def test_keys_reach_every_element(shape):
    """Arrows and the page keys lead from the first element to all others, however many axes there are."""
    explorer = widgets.index_explorer(np.arange(math.prod(shape)).reshape(shape))
    waiting, seen = [tuple(explorer.index)], {tuple(explorer.index)}
    while waiting:
        at = waiting.pop()
        for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"):
            explorer.look_at(at)
            explorer._hear({"in": "view", "key": key})
            if tuple(explorer.index) not in seen:
                seen.add(tuple(explorer.index))
                waiting.append(tuple(explorer.index))
    assert sorted(seen) == grids.indices(shape)


def test_keys_in_few_axes():
    """In a row there is no up and down, and in a single number no way at all."""
    assert grids.moved((3,), (1,), "ArrowDown") == (1,)
    assert grids.moved((), (), "ArrowRight") == ()


def test_keys_in_the_storage():
    """Arrows move from position to position, and stop at both ends."""
    explorer = widgets.index_explorer(np.arange(3))
    for key, position in (("ArrowLeft", 0), ("ArrowRight", 1), ("End", 2), ("ArrowDown", 2), ("Home", 0)):
        explorer._hear({"in": "storage", "key": key})
        assert explorer.position == position


def test_the_pointer():
    """What is pointed at is looked at, in the view and in the storage; from a lonely position a key leads back."""
    explorer = widgets.index_explorer(np.arange(6).reshape(2, 3)[:, ::2])
    explorer._hear({"part": "view:1,1"})
    assert (explorer.index, explorer.position) == ([1, 1], 5)
    explorer._hear({"in": "view", "key": "ArrowLeft"})
    assert (explorer.index, explorer.position) == ([1, 0], 3)
    explorer._hear({"part": "storage:4"})
    assert (explorer.index, explorer.position) == ([], 4)
    explorer._hear({"in": "storage", "key": "Enter"})
    assert (explorer.index, explorer.position) == ([], 4)
    explorer._hear({"in": "view", "key": "ArrowRight"})
    assert explorer.index == [0, 1]


def test_tensors_and_single_numbers_can_be_explored():
    """A tensor shows its storage; a number without axes has one element, at position 0."""
    explorer = widgets.index_explorer(mg.tensor([[1.0, 2.0], [3.0, 4.0]]).permute(1, 0))
    explorer.look_at((0, 1))
    assert "position 2, where 3 stands" in explorer.said
    assert widgets.index_explorer(np.array(7)).said.startswith("index (): 0 = position 0, where 7 stands")


def test_what_cannot_be_explored():
    """Too many elements, none, and places that are not there are refused with a sentence."""
    with pytest.raises(ValueError, match="a view of 100 elements cannot be shown; take one of 1 to 96"):
        widgets.index_explorer(np.zeros(100))
    with pytest.raises(TypeError, match=r"index_explorer: \[1, 2\] has no storage and no strides"):
        widgets.index_explorer([1, 2])
    with pytest.raises(ValueError, match="a view of 0 elements"):
        widgets.index_explorer(np.zeros((0, 3)))
    explorer = widgets.index_explorer(np.zeros((2, 2)))
    with pytest.raises(IndexError, match=r"\(0, 2\) is no index of a view of shape \(2, 2\)"):
        explorer.look_at((0, 2))
    with pytest.raises(IndexError, match="no position 4 in a storage of 4"):
        explorer.look_in(4)


# --- broadcasting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "shape"),
    [("4, 1", (4, 1)), (" (4,1) ", (4, 1)), ("[2 3]", (2, 3)), ("3,", (3,)), ("", ()), ("()", ()), ("0", (0,))],
)
def test_shapes_that_are_typed(typed, shape):
    """Shapes may be written with or without brackets, with commas or spaces."""
    assert broadcasting.parse_shape(typed) == shape


@pytest.mark.parametrize("typed", ["x", "4, -1", "4,,1", "2.5", "1,1,1,1,1,1,1,1,1"])
def test_what_is_no_shape(typed):
    """Anything else is answered with a sentence, in the widget too, and the next shape is taken."""
    with pytest.raises(ValueError, match=r"is no shape|at most 8"):
        broadcasting.parse_shape(typed)
    explorer = widgets.broadcast_explorer()
    explorer.b = typed
    assert explorer.shape is None
    assert repr(typed) in explorer.said
    explorer._hear({"in": "out", "key": "ArrowRight"})
    assert (explorer.shape, explorer.pictures) == (None, {})
    explorer.b = "3"
    assert explorer.shape == [4, 3]


@pytest.mark.parametrize("gap", ["  ", " , "])
def test_long_words_that_are_no_shape(gap):
    """They are answered as soon as they are read, however many gaps they have."""
    with pytest.raises(ValueError, match="is no shape: write sizes with commas between them"):
        broadcasting.parse_shape(f"1{gap}" * 2000 + "x")


def test_a_number_is_a_shape_of_one_axis():
    """Where a shape is asked for, a number is taken as its only size, as NumPy and PyTorch do."""
    explorer = widgets.broadcast_explorer(1, np.int64(4))
    assert (explorer.a, explorer.b, explorer.shape) == ("1", "4", [4])


@pytest.mark.parametrize("shape", [-3, 2.5, None, (2, -1), (2.0,)])
def test_what_is_no_shape_to_begin_with(shape):
    """Whatever else is given is a ValueError that shows it."""
    with pytest.raises(ValueError, match=r"is no shape: write sizes with commas between them, such as 4, 1"):
        widgets.broadcast_explorer(shape, (3,))


def test_who_reads_what():
    """An element of the result reads one of a and one of b; both are marked, and it is said how many share them."""
    explorer = widgets.broadcast_explorer((4, 1), (3,))
    explorer._hear({"part": "out:2,1"})
    assert explorer.said.startswith("out[2, 1] reads a[2, 0] and b[1].")
    assert "a[2, 0] is read by 3 elements and b[1] is read by 4 elements of the result" in explorer.said
    for name, part in (("a", "a:2,0"), ("b", "b:1"), ("out", "out:2,1")):
        assert f'data-part="{part}"><rect class="mp-mark"' in explorer.pictures[name]
        assert explorer.pictures[name].count('"mp-mark"') == 1
    explorer._hear({"in": "out", "key": "ArrowDown"})
    assert explorer.index == [3, 1]


def test_reading_agrees_with_numpy():
    """For every element the two sources hold what NumPy adds up there."""
    a, b = np.arange(4.0).reshape(4, 1), 10.0 * np.arange(6.0).reshape(2, 1, 3)
    meeting = broadcasting.Meeting(a.shape, b.shape)
    total = a + b
    for index in grids.indices(total.shape):
        source_a, source_b = meeting.read_by(index)
        assert a[source_a] + b[source_b] == total[index]


def test_who_is_read_by_whom():
    """From an element of a one sees all elements of the result that read it."""
    explorer = widgets.broadcast_explorer((4, 1), (3,))
    explorer._hear({"part": "a:2,0"})
    assert explorer.said == "a[2, 0] is read by 3 elements: out[2, 0], out[2, 1], out[2, 2]."
    assert explorer.pictures["out"].count('"mp-mark"') == 3
    explorer._hear({"in": "a", "key": "ArrowDown"})
    assert (explorer.where, explorer.index) == ("a", [3, 0])


def test_a_clash_is_said_with_the_rule():
    """Shapes that do not fit have no result, and the sentence is the rule; other shapes do again."""
    explorer = widgets.broadcast_explorer((4, 1), (3,))
    explorer.b = "2, 3"
    assert explorer.shape is None
    assert "axis -2 has sizes 4 and 2; they must match or one must be 1" in explorer.said
    explorer._hear({"part": "a:0,0"})
    assert list(explorer.pictures) == ["together"]
    explorer.a = "1, 2, 1"
    assert explorer.shape == [1, 2, 3]


def test_results_that_cannot_be_shown():
    """A result without elements, or with too many, has its shape and a sentence."""
    explorer = widgets.broadcast_explorer((0, 3), (3,))
    assert explorer.shape == [0, 3]
    assert "With 0 elements the result cannot be shown" in explorer.said
    explorer.a = "40, 3"
    assert "With 120 elements" in explorer.said
    assert widgets.broadcast_explorer((), ()).said.startswith("out[()] reads a[()] and b[()].")


# --- differences ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(differences.FUNCTIONS))
def test_derivatives_of_the_list(name):
    """Each function in the list has the derivative that stands beside it."""
    f, derivative = differences.FUNCTIONS[name]
    step = 1e-5
    assert derivative(0.7) == pytest.approx((f(0.7 + step) - f(0.7 - step)) / (2.0 * step), rel=1e-5)


def test_errors_fall_and_rise_again():
    """The best forward step is near the root of the rounding unit, the best central one much longer and better."""
    m = widgets.derivative_explorer("exp", 1.0).measurement
    assert 1e-9 <= m.best("forward") <= 1e-7
    assert 1e-7 < m.best("central") <= 1e-4
    assert min(m.errors("central")) < 0.01 * min(m.errors("forward"))


def test_what_a_step_gives():
    """The sentence has slope, error, and what prevails on which side of the best step."""
    explorer = widgets.derivative_explorer("x ** 2", 3.0)
    explorer.exponent = -1.0
    assert "slope 6. With epsilon = 0.1:" in explorer.said
    assert "forward difference 6.1, error 0.1: truncation prevails." in explorer.said
    explorer.exponent = -16.0
    assert "forward difference 0, error 6: rounding prevails." in explorer.said
    explorer.exponent = -40.0
    assert explorer.exponent == -16.0


def test_places_without_a_slope():
    """Outside a function's domain, and at a pole, there is a sentence and no error."""
    explorer = widgets.derivative_explorer("log", 1.0)
    explorer.x = -1.0
    assert explorer.said == "log(x) has no derivative at x = -1; choose another x."
    explorer.x, explorer.exponent = 0.5, 0.0
    assert "central difference: none, since the step leaves where log(x) has values." in explorer.said
    assert "forward difference 1.09" in explorer.said
    explorer.function, explorer.x = "1 / x", 0.0
    assert explorer.said == "1 / x has no derivative at x = 0; choose another x."


def test_differences_of_the_student():
    """What is measured is what the library's present functions say."""
    with exercises.install({"derivatives.central_difference": lambda f, *vals, arg=0, epsilon=1e-6: 7.0}):
        explorer = widgets.derivative_explorer("sin", 0.0)
        assert "central difference 7, error 6" in explorer.said


def test_differences_that_are_still_to_be_written():
    """The other one is still shown, and the sentence names the exercise."""

    def missing(f, *vals, arg=0, epsilon=1e-6):
        raise ExerciseNotDone("derivatives.central_difference")

    with exercises.install({"derivatives.central_difference": missing}):
        explorer = widgets.derivative_explorer("sin", 0.0)
    assert "derivatives.central_difference" in explorer.said
    assert "forward difference 0.998" in explorer.said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda f, *vals, arg=0, epsilon=1e-6: None, "returns None; it is to return a number"),
        (lambda f, *vals, arg=0, epsilon=1e-6: vals + 1.0, "raises TypeError: can only concatenate"),
    ],
)
def test_a_difference_that_gives_no_number(wrong, said):
    """The explorer shows the other one, and says of a student's wrong answer what it does, in place of a traceback."""
    with exercises.install({"derivatives.central_difference": wrong}):
        explorer = widgets.derivative_explorer("sin", 0.0)
    assert f"central difference: central_difference {said}" in explorer.said
    assert "forward difference 0.998" in explorer.said and '`check("derivatives.central_difference")`' in explorer.said


def test_functions_of_ones_own():
    """The engine finds the derivative of what a Scalar can do; of anything else it must be given."""
    explorer = widgets.derivative_explorer(lambda x: x * x * x, 2.0)
    assert "has the slope 12." in explorer.said
    given = widgets.derivative_explorer(math.gamma, 2.0, derivative=lambda x: 0.42278433509846713)
    assert "gamma(x), yours at x = 2 has the slope 0.4227843351." in given.said
    with pytest.raises(ValueError, match=r"give it as the third argument, derivative=\.\.\."):
        widgets.derivative_explorer(lambda x: math.gamma(x), 2.0)
    with pytest.raises(ValueError, match=r"there is no function 'sine'; the functions are sin\(x\)"):
        widgets.derivative_explorer("sine")


@pytest.mark.parametrize(
    ("bounds", "wanted"), [((0.0, 10.0), [0, 2, 4, 6, 8, 10]), ((-0.5, 0.6), [-0.4, -0.2, 0, 0.2, 0.4, 0.6])]
)
def test_ticks(bounds, wanted):
    """Axes have a few round numbers."""
    assert ticks(*bounds) == pytest.approx(wanted)


@pytest.mark.parametrize("x", [math.nan, math.inf, 1e17, "a"])
def test_places_that_cannot_be_shown(x):
    """At the beginning, and later."""
    explorer = widgets.derivative_explorer("sin(x)")
    with pytest.raises(ValueError, match=f"derivative_explorer: x = {re.escape(str(x))} cannot be shown"):
        widgets.derivative_explorer("sin(x)", x)
    if isinstance(x, float):
        with pytest.raises(ValueError, match="cannot be shown"):
            explorer.x = x


@pytest.mark.parametrize("f", [math.exp, lambda x: 1e20])
def test_curves_of_huge_values(f):
    """Their charts have room."""
    explorer = widgets.derivative_explorer(f, 708.5, derivative=f)
    assert set(explorer.pictures) == {"curve", "errors"}
