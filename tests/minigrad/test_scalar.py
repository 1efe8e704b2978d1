"""Scalar: what it accepts, its operators, its comparisons, and the protocol that MiniTorch's code expects."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from minigrad import Scalar, exercises, functions
from minigrad.autodiff import Context, History
from minigrad.errors import GraphError
from minigrad.scalar import operate

NUMBERS = [2, 2.0, True, np.float64(2.0), np.float32(2.0), np.int64(2), Fraction(2)]


@pytest.mark.parametrize("value", NUMBERS)
def test_every_real_number_becomes_a_float(value):
    """ints, bools, NumPy's numbers and fractions are taken as floats."""
    assert type(Scalar(value).data) is float
    assert Scalar(value).data == float(value)


@pytest.mark.parametrize("value", ["x", "3", None, 1j, [1.0], Decimal(2), np.array([1.0, 2.0]), Scalar(1.0)])
def test_anything_else_is_refused_by_name(value):
    """Scalar("x") says that the value must be a real number, and what it is instead."""
    with pytest.raises(TypeError, match=rf"^Scalar\(.*\): the value must be a real number, not {type(value).__name__}"):
        Scalar(value)


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_on_both_sides(value, engine):
    """Each operator takes every kind of number on the left and on the right, with the right gradient."""
    v = float(value)
    cases = [
        (lambda x: x + value, 5.0, 1.0),
        (lambda x: value + x, 5.0, 1.0),
        (lambda x: x - value, 3.0 - v + 0.0, 1.0),
        (lambda x: value - x, v - 3.0, -1.0),
        (lambda x: x * value, 3.0 * v, v),
        (lambda x: value * x, 3.0 * v, v),
        (lambda x: x / value, 3.0 / v, 1.0 / v),
        (lambda x: value / x, v / 3.0, -v / 9.0),
        (lambda x: x**value, 3.0**v, v * 3.0 ** (v - 1.0)),
        (lambda x: value**x, v**3.0, v**3.0 * math.log(v)),
    ]
    for compute, data, grad in cases:
        x = Scalar(3.0)
        y = compute(x)
        y.backward()
        assert type(y.data) is float
        assert y.data == pytest.approx(data + (v - 2.0 if data == 5.0 and grad == 1.0 else 0.0))
        assert x.grad == pytest.approx(grad)


@pytest.mark.parametrize("other", ["a", [1], None, 1j, Decimal(1), (1.0,), np.array([1.0, 2.0])])
@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**", "<", "<=", ">", ">="])
def test_other_operands_are_refused_by_operator(operator, other, engine):
    """x + [1] and [1] + x raise Python's own TypeError, which names the operator or the types."""
    names = {"x": Scalar(2.0), "other": other}
    for left, right in (("x", "other"), ("other", "x")):
        with pytest.raises(TypeError, match=r"Scalar|Concatenation"):
            eval(f"{left} {operator} {right}", names)


def test_mixed_graphs_of_variables_and_constants(engine):
    """A constant takes part in the value, and gets no gradient."""
    x, k = Scalar(3.0), Scalar(5.0, requires_grad=False)
    for compute, grad in (
        (lambda: x + k, 1.0),
        (lambda: k - x, -1.0),
        (lambda: k * x, 5.0),
        (lambda: x / k, 0.2),
        (lambda: k / x, -5.0 / 9.0),
        (lambda: x**k, 5.0 * 81.0),
        (lambda: k**x, 125.0 * math.log(5.0)),
    ):
        x.zero_grad()
        compute().backward()
        assert x.grad == pytest.approx(grad)
        assert k.grad is None
    assert not (k * k + 1.0).requires_grad


def test_unary_operators_and_methods(engine):
    """Each method is the textbook's function with the textbook's derivative."""
    v = 0.7
    s = 1 / (1 + math.exp(-v))
    table = [
        (lambda x: +x, v, 1.0),
        (lambda x: -x, -v, -1.0),
        (lambda x: abs(-x), v, 1.0),
        (lambda x: x.exp(), math.exp(v), math.exp(v)),
        (lambda x: x.log(), math.log(v), 1 / v),
        (lambda x: x.sin(), math.sin(v), math.cos(v)),
        (lambda x: x.cos(), math.cos(v), -math.sin(v)),
        (lambda x: x.tanh(), math.tanh(v), 1 - math.tanh(v) ** 2),
        (lambda x: x.sigmoid(), s, s * (1 - s)),
        (lambda x: x.relu(), v, 1.0),
        (lambda x: (-x).relu(), 0.0, 0.0),
    ]
    for compute, data, grad in table:
        x = Scalar(v)
        y = compute(x)
        y.backward()
        assert (y.data, x.grad) == pytest.approx((data, grad), rel=1e-14)
    k = Scalar(v, requires_grad=False)
    assert not any(compute(k).requires_grad for compute, _, _ in table)


# --- comparison ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [1.0, 2.0, 3.0, math.nan])
def test_comparisons_are_constants_one_or_zero(other, engine):
    """All six comparisons, with Scalars and numbers on both sides, agree with floats, nan included."""
    x = Scalar(2.0)
    for o in (other, Scalar(other), np.float64(other)):
        pairs = [
            (x < o, 2.0 < other),
            (x <= o, 2.0 <= other),
            (x > o, 2.0 > other),
            (x >= o, 2.0 >= other),
            (x == o, other == 2.0),
            (x != o, other != 2.0),
            (o < x, other < 2.0),
            (o >= x, other >= 2.0),
            (o == x, other == 2.0),
        ]
        assert [(s.data, s.requires_grad) for s, _ in pairs] == [(float(w), False) for _, w in pairs]


def test_equality_with_other_things_is_false(engine):
    """x == "a" is False and x != None is true, as Python has it."""
    x = Scalar(2.0)
    assert not x == "a"
    assert not x == None  # noqa: E711 the operator is what is tested
    assert x != "a"
    assert x != None  # noqa: E711 likewise


def test_truth_membership_and_hash(engine):
    """A Scalar is true where it is not 0; membership compares values; the hash is of the object."""
    zero, one, other = Scalar(0.0), Scalar(1.0), Scalar(1.0)
    assert (bool(zero), bool(one), bool(Scalar(math.nan))) == (False, True, True)
    assert one in [other]
    assert zero not in [one]
    assert len({one, other, one}) == 2
    assert {one: "a"}.get(other) is None
    assert max([zero, one]) is one
    assert sorted([Scalar(3.0), zero, one], key=float)[0] is zero


def test_conversions():
    """float(), item() and repr() show the value."""
    x = Scalar(2.5)
    assert (float(x), x.item(), repr(x)) == (2.5, 2.5, "Scalar(2.5)")
    assert repr(x.detach()) == "Scalar(2.5, requires_grad=False)"
    assert math.isnan(float(Scalar(math.nan)))


# --- leaves, constants, names ---------------------------------------------------------------------------------


def test_requires_grad_can_be_switched_on_leaves_only(engine):
    """requires_grad_ makes a leaf a constant and back; a result is refused."""
    x = Scalar(2.0)
    assert x.requires_grad_(False) is x
    assert x.is_constant()
    assert not (x * 3.0).requires_grad
    x.requires_grad_()
    y = x * 3.0
    y.backward()
    assert x.grad == 3.0
    with pytest.raises(GraphError, match=r"requires_grad_: only a leaf can be changed; use detach\(\)"):
        y.requires_grad_(False)


def test_a_leaf_made_constant_after_use_gets_no_gradient(engine):
    """What counts is whether a gradient is wanted when backward comes by."""
    x, w = Scalar(2.0), Scalar(3.0)
    y = functions.dot([x], [w], x)
    x.requires_grad_(False)
    y.backward()
    assert (x.grad, w.grad) == (None, 2.0)


def test_detach_cuts_the_graph(engine):
    """A detached value is a constant of its own; the original is unchanged."""
    x = Scalar(2.0)
    y = x * 3.0
    cut = y.detach()
    (y * cut).backward()
    assert x.grad == 18.0
    assert (cut.data, cut.is_constant(), cut.history) == (6.0, True, None)


def test_names():
    """A name is the user's, or the unique id; it can be changed."""
    x = Scalar(1.0, name="x")
    assert x.name == "x"
    x.name = "y"
    assert x.name == "y"
    y = Scalar(1.0)
    assert y.name == str(y.unique_id)


# --- MiniTorch's protocol ---------------------------------------------------------------------------------------


def test_the_protocol_of_a_leaf():
    """A leaf has an empty history, no parents, and a derivative that adds up."""
    x = Scalar(2.0)
    assert (x.is_leaf(), x.is_constant(), x.parents) == (True, False, ())
    assert x.history == History()
    assert (x.grad_fn, x.derivative) == (None, None)
    x.accumulate_derivative(2)
    x.accumulate_derivative(1.5)
    assert (x.grad, x.derivative, type(x.grad)) == (3.5, 3.5, float)
    x.derivative = None
    assert x.grad is None


def test_the_protocol_of_a_constant():
    """A constant has no history, and refuses a derivative."""
    k = Scalar(2.0, requires_grad=False)
    assert (k.is_leaf(), k.is_constant(), k.history, k.parents) == (False, True, None, ())
    with pytest.raises(GraphError, match="accumulate_derivative: only a leaf stores a derivative"):
        k.accumulate_derivative(1.0)


@pytest.mark.parametrize(
    ("compute", "function", "values", "saved", "derivatives"),
    [
        (lambda x, y: x * y, functions.Mul, (2.0, 5.0), (2.0, 5.0), [50.0, 20.0]),
        (lambda x, y: x * 4, functions.Mul, (2.0, 4.0), (2.0, 4.0), [40.0]),
        (lambda x, y: 4.0 - x, functions.Sub, (4.0, 2.0), (), [-10.0]),
        (lambda x, y: 4.0 / x, functions.Div, (4.0, 2.0), (4.0, 2.0), [-10.0]),
        (lambda x, y: x**2, functions.Pow, (2.0, 2.0), (2.0, 2.0), [40.0]),
        (lambda x, y: -x, functions.Neg, (2.0,), (), [-10.0]),
        (lambda x, y: x.log(), functions.Log, (2.0,), (2.0,), [5.0]),
        (lambda x, y: x.exp(), functions.Exp, (2.0,), (math.exp(2.0),), [10.0 * math.exp(2.0)]),
        (lambda x, y: x.relu(), functions.ReLU, (2.0,), (2.0,), [10.0]),
        (lambda x, y: functions.dot([x], [y], 1.0), functions.Dot, (1.0, 2.0, 5.0), (1.0, 2.0, 5.0), [50.0, 20.0]),
    ],
)
def test_the_protocol_of_a_result(compute, function, values, saved, derivatives, engine):
    """A result knows its function, inputs and saved values; chain_rule leaves the constants out."""
    x, y = Scalar(2.0), Scalar(5.0)
    z = compute(x, y)
    history = z.history
    assert (z.is_leaf(), z.is_constant(), z.grad_fn, history.last_fn) == (False, False, function, function)
    assert tuple(p.data for p in z.parents) == tuple(i.data for i in history.inputs) == values
    assert [p for p in z.parents if p is x or p is y] == [p for p in z.parents if not p.is_constant()]
    assert history.ctx.saved_values == pytest.approx(saved)
    pairs = list(z.chain_rule(10.0))
    assert [d for _, d in pairs] == pytest.approx(derivatives)
    assert all(p is x or p is y for p, _ in pairs)
    with pytest.raises(GraphError, match="only a leaf"):
        z.accumulate_derivative(1.0)


def test_unique_ids_of_living_variables_differ():
    """No two variables of a graph have the same unique_id, and it stays the same."""
    variables = [Scalar(1.0)]
    for _ in range(1000):
        variables.append(variables[-1] * 1.0)
    assert len({v.unique_id for v in variables}) == 1001
    assert variables[5].unique_id == variables[5].unique_id


def test_results_store_no_derivative(engine):
    """Only leaves get a grad; PyTorch and MiniTorch agree."""
    x = Scalar(1.0)
    y = x * 2.0
    (y * 3.0).backward()
    assert (x.grad, y.grad) == (6.0, None)


def test_numpy_leaves_the_work_to_scalar(engine):
    """A NumPy number times a Scalar is a Scalar, recorded."""
    x = Scalar(3.0)
    y = np.float64(2.0) * x + np.int32(1) - np.float32(0.5) / x
    assert isinstance(y, Scalar)
    y.backward()
    assert x.grad == pytest.approx(2.0 + 0.5 / 9.0)


def test_a_subclass_is_a_scalar(engine):
    """Operators take subclasses of Scalar."""

    class Named(Scalar):
        """A subclass."""

    x, y = Named(3.0), Scalar(4.0)
    (x * y + y * x + 2.0 * x - x / y).backward()
    assert (x.grad, y.grad) == (8.0 + 2.0 - 0.25, 6.0 + 3.0 / 16.0)


def test_copies(engine):
    """A shallow copy shares the graph; a deep copy and a pickle have one of their own."""
    x = Scalar(3.0)
    y = x * x
    copy.copy(y).backward()
    assert x.grad == 6.0
    for make in (copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        twin = make(y)
        twin.backward()
        assert x.grad == 6.0
        assert twin.parents[0].grad == 12.0


def test_an_int_beyond_floats_is_refused(engine):
    """10^400 is no float: OverflowError, from the constructor and from an operator."""
    with pytest.raises(OverflowError):
        Scalar(10**400)
    with pytest.raises(OverflowError):
        Scalar(1.0) * 10**400


def test_a_history_that_is_set_makes_the_kind_of_scalar():
    """A function makes a result, an empty history a leaf, None a constant."""
    x, y = Scalar(5.0), Scalar(7.0)
    ctx = Context()
    z = Scalar(functions.Sub._forward(ctx, x.data, y.data), requires_grad=False)
    z.history = History(functions.Sub, ctx, [x, y])
    z.backward(10.0)
    assert (x.grad, y.grad, z.grad_fn, z.parents) == (10.0, -10.0, functions.Sub, (x, y))
    z.history = History()
    assert z.is_leaf()
    z.history = None
    assert z.is_constant()
    assert z.parents == ()


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ("a made-up history", "a History or None, not str"),
        (History(functions.Sub, None, []), "a Context, not NoneType"),
    ],
)
def test_a_history_of_another_type_is_refused(history, message):
    """The sentence names what was given."""
    with pytest.raises(TypeError, match=message):
        Scalar(1.0).history = history


def test_operators_and_functions_ask_the_recorder_that_is_installed():
    """A student's recorder makes every result, and a student's operators hand it their operands."""
    asked = []

    def record(function, inputs):
        asked.append((function.__name__, [getattr(x, "data", x) for x in inputs]))
        return Scalar(0.5)

    class Arithmetic:
        def __rsub__(self, other):
            return operate(functions.Add, other, self)

    x = Scalar(3.0)
    with exercises.install({"scalar.record": record, "scalar.Arithmetic": Arithmetic}):
        assert not hasattr(Scalar, "__mul__")  # what the installed class leaves out is not there
        made = [2.0 - x, x.exp(), functions.Sin.apply(x), x + x]
    assert [each.data for each in made] == [0.5] * 4
    assert asked == [("Add", [2.0, 3.0]), ("Exp", [3.0]), ("Sin", [3.0]), ("Add", [3.0, 3.0])]
    assert (2.0 - x).data == -1.0
