"""Every differentiable function: one loop over the registry, and the contract of user-defined functions."""

import itertools
import math
import random

import numpy as np
import pytest
from registry_samples import ELEMENTWISE, reference

from minigrad import Function, Scalar, functions, operators
from minigrad.autodiff import Context
from minigrad.errors import FunctionError, GraphError

SPECIAL = (0.0, -0.0, 1.5, 1000.0, -1000.0, math.inf, -math.inf, math.nan)


def anywhere(rng):
    return rng.uniform(-3.0, 3.0)


def positive(rng):
    return rng.uniform(0.3, 3.0)


def off_zero(rng):
    return rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 3.0)


# For each function: NumPy's answer, and for each input how to draw a number where the function is smooth.
# A function without a row here is compared with PyTorch, at the kind of numbers that registry_samples.py tries it with.
TABLE = {
    "Add": (np.add, [anywhere, anywhere]),
    "Sub": (np.subtract, [anywhere, anywhere]),
    "Mul": (np.multiply, [anywhere, anywhere]),
    "Div": (np.divide, [anywhere, off_zero]),
    "Neg": (np.negative, [anywhere]),
    "Inv": (lambda x: np.divide(1.0, x), [off_zero]),
    "Pow": (np.power, [positive, anywhere]),
    "Dot": (lambda s, a, b, x, y: s + a * x + b * y, [anywhere] * 5),
    "Log": (np.log, [positive]),
    "Exp": (np.exp, [anywhere]),
    "Sigmoid": (lambda x: 1.0 / (1.0 + np.exp(-x)), [anywhere]),
    "ReLU": (lambda x: np.maximum(x, 0.0), [off_zero]),
    "Tanh": (np.tanh, [anywhere]),
    "Sin": (np.sin, [anywhere]),
    "Cos": (np.cos, [anywhere]),
    "LT": (lambda x, y: np.float64(x < y), [anywhere, anywhere]),
    "EQ": (lambda x, y: np.float64(x == y), [anywhere, anywhere]),
    "GT": (lambda x, y: np.float64(x > y), [anywhere, anywhere]),
    "LE": (lambda x, y: np.float64(x <= y), [anywhere, anywhere]),
    "GE": (lambda x, y: np.float64(x >= y), [anywhere, anywhere]),
    "NE": (lambda x, y: np.float64(x != y), [anywhere, anywhere]),
    "Sign": (lambda x: np.float64(x > 0.0) - np.float64(x < 0.0), [off_zero]),
    "Sqrt": (np.sqrt, [positive]),
    "Square": (np.square, [anywhere]),
    "Abs": (np.absolute, [off_zero]),
    "Erf": (math.erf, [anywhere]),
    "Erfc": (math.erfc, [anywhere]),
    "Gelu": (lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2.0)), [anywhere]),
    "Clip": (lambda x, low, high: np.minimum(np.maximum(x, low), high), [anywhere, anywhere, anywhere]),
    "Max": (np.maximum, [anywhere, anywhere]),
    "Min": (np.minimum, [anywhere, anywhere]),
    "Where": (lambda c, x, y: np.where(c != 0.0, x, y), [off_zero, anywhere, anywhere]),
}
for name, (sample, *_) in ELEMENTWISE.items():
    TABLE.setdefault(name, (reference(name), [positive if sample.positive else off_zero] * len(sample.shapes)))
ALL = {function.__name__: function for function in functions.all_functions()}


def test_the_table_covers_the_registry():
    """A function without a row here is not tested, so it may not exist."""
    assert set(TABLE) == set(ALL)


def drawn(name, times=12):
    """Draw inputs, and a tangent for each."""
    rng = random.Random(f"inputs of {name}")
    for _ in range(times):
        yield [draw(rng) for draw in TABLE[name][1]], [rng.uniform(-2.0, 2.0) for _ in TABLE[name][1]]


def recorded(function, values):
    """Run forward, and return its value and context."""
    ctx = Context()
    ctx.values = tuple(values)
    return function._forward(ctx, *values), ctx


@pytest.mark.parametrize("name", TABLE)
def test_values_follow_ieee(name, engine):
    """Scalars give what NumPy gives at zeros, infinities, nan and numbers whose exponential overflows."""
    reference, draws = TABLE[name]
    arity = len(draws)
    points = itertools.product(SPECIAL, repeat=arity) if arity < 4 else [[x] * arity for x in SPECIAL]
    for values in points:
        with np.errstate(all="ignore"):
            wanted = float(reference(*[np.float64(v) for v in values]))
        seen = ALL[name].apply(*[Scalar(v) for v in values]).data
        assert seen == pytest.approx(wanted, rel=1e-14, abs=1e-300, nan_ok=True), (values, seen)


@pytest.mark.parametrize("name", [name for name in TABLE if name != "Dot"])
def test_forward_is_the_kernel(name):
    """An elementwise function's value is its kernel's, to the last bit."""
    kernel = getattr(operators, ALL[name].kernel)
    for values, _ in drawn(name):
        assert recorded(ALL[name], values)[0] == kernel(*values)


@pytest.mark.parametrize("name", TABLE)
def test_jvp_is_the_measured_slope(name):
    """The forward-mode rule agrees with central differences along a random direction."""
    for values, tangents in drawn(name):
        _, ctx = recorded(ALL[name], values)
        h = 1e-6
        above, below = (
            recorded(ALL[name], [v + sign * h * t for v, t in zip(values, tangents, strict=True)])[0]
            for sign in (1, -1)
        )
        assert ALL[name].jvp(ctx, *tangents) == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", TABLE)
def test_jvp_takes_none_for_inputs_that_stay(name):
    """A tangent None counts as zero."""
    for values, tangents in drawn(name, 3):
        _, ctx = recorded(ALL[name], values)
        for i, t in enumerate(tangents):
            alone = [t if i == j else None for j in range(len(tangents))]
            zeros = [t if i == j else 0.0 for j in range(len(tangents))]
            assert ALL[name].jvp(ctx, *alone) == pytest.approx(ALL[name].jvp(ctx, *zeros), rel=1e-15)


@pytest.mark.parametrize("name", TABLE)
def test_backward_is_the_transpose_of_jvp(name):
    """For random u and t, <backward(u), t> equals u * jvp(t)."""
    rng = random.Random(name)
    for values, tangents in drawn(name):
        _, ctx = recorded(ALL[name], values)
        upstream = rng.uniform(-3.0, 3.0)
        pulled = ALL[name]._backward(ctx, upstream)
        along = sum(d * t for d, t in zip(pulled, tangents, strict=True))
        assert along == pytest.approx(upstream * ALL[name].jvp(ctx, *tangents), rel=1e-12, abs=1e-13)


def gradient(function, values, upstream):
    """Return the gradient of upstream * function by one backward pass."""
    xs = [Scalar(v) for v in values]
    y = function.apply(*xs)
    if y.requires_grad:
        y.backward(upstream)
    return [0.0 if x.grad is None else x.grad for x in xs]


@pytest.mark.parametrize("name", TABLE)
def test_second_derivatives_are_differences_of_first_ones(name, engine):
    """Differentiating the recorded gradient along w gives the measured change of the gradient along w."""
    for values, w in drawn(name, 6):
        xs = [Scalar(v) for v in values]
        y = ALL[name].apply(*xs)
        if not y.requires_grad:
            assert not ALL[name].differentiable
            continue
        y.backward(1.7, create_graph=True)
        along = sum(x.grad * d for x, d in zip(xs, w, strict=True))
        for x in xs:
            x.zero_grad()
        if isinstance(along, Scalar) and along.requires_grad:
            along.backward()
        second = [0.0 if x.grad is None else float(x.grad) for x in xs]
        for j in range(len(values)):
            moved = [[v + s * 1e-5 * (i == j) for i, v in enumerate(values)] for s in (1, -1)]
            above, below = (sum(g * d for g, d in zip(gradient(ALL[name], m, 1.7), w, strict=True)) for m in moved)
            assert second[j] == pytest.approx((above - below) / 2e-5, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("compute", "x", "derivatives"),
    [
        (lambda x: x**2, 0.0, [0.0, 2.0, 0.0, 0.0]),
        (lambda x: x**3, 0.0, [0.0, 0.0, 6.0, 0.0, 0.0]),
        (lambda x: x**0, 0.0, [0.0, 0.0]),
        (lambda x: x**1, 0.0, [1.0, 0.0]),
        (lambda x: x.exp(), 0.5, [math.exp(0.5)] * 4),
        (lambda x: x.sin(), 0.5, [math.cos(0.5), -math.sin(0.5), -math.cos(0.5), math.sin(0.5)]),
        (lambda x: x.log(), 2.0, [1 / 2, -1 / 4, 1 / 4, -3 / 8]),
        (lambda x: 1 / x, 2.0, [-1 / 4, 1 / 4, -3 / 8]),
        (lambda x: x.relu() * x, 3.0, [6.0, 2.0, 0.0]),
        (lambda x: x.relu() * x, -3.0, [0.0, 0.0]),
    ],
)
def test_derivatives_of_any_order(compute, x, derivatives, engine):
    """Differentiating again and again gives the derivatives of the textbook, at zero too."""
    variable = Scalar(x)
    y = compute(variable)
    for wanted in derivatives:
        variable.zero_grad()
        if y.requires_grad:
            y.backward(create_graph=True)
        y = variable.grad if isinstance(variable.grad, Scalar) else Scalar(variable.grad or 0.0, requires_grad=False)
        assert y.data == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("compute", "inputs", "wanted"),
    [
        (lambda x: x.log(), [0.0], [math.inf]),
        (lambda x: x.log(), [-0.0], [-math.inf]),
        (lambda x: x.log(), [-2.0], [-0.5]),
        (lambda x: 1 / x, [0.0], [-math.inf]),
        (lambda x, y: x / y, [1.0, 0.0], [math.inf, -math.inf]),
        (lambda x: x.exp(), [1000.0], [math.inf]),
        (lambda x: x.sigmoid(), [1000.0], [0.0]),
        (lambda x: x.sigmoid(), [-1000.0], [0.0]),
        (lambda x: x.tanh(), [-1000.0], [0.0]),
        (lambda x: x.relu(), [0.0], [0.0]),
        (lambda x: x.relu(), [math.nan], [1.0]),
        (lambda x: x.relu() * math.inf, [-1.0], [0.0]),
        (lambda x: abs(x), [0.0], [0.0]),
        (lambda x: abs(x), [-2.0], [-1.0]),
        (lambda x, y: functions.maximum(x, y), [1.0, 1.0], [0.5, 0.5]),
        (lambda x, y: functions.maximum(x, y), [math.nan, 1.0], [1.0, 1.0]),
        (lambda x, y: x**y, [0.0, 0.0], [0.0, 0.0]),
        (lambda x, y: x**y, [0.0, 2.0], [0.0, 0.0]),
        (lambda x, y: x**y, [-2.0, 2.0], [-4.0, math.nan]),
        (lambda x: x**0.5, [0.0], [math.inf]),
        (lambda x: x**-1, [0.0], [-math.inf]),
        (lambda x: 0**x, [2.0], [0.0]),
    ],
)
def test_gradients_at_the_edges(compute, inputs, wanted, engine):
    """Gradients at kinks, poles and overflows are PyTorch's."""
    xs = [Scalar(x) for x in inputs]
    compute(*xs).backward()
    assert [x.grad for x in xs] == pytest.approx(wanted, nan_ok=True)


def test_functions_of_plain_numbers_stay_plain():
    """The helpers that rules are written with give floats for floats, with IEEE semantics."""
    assert functions.log(0.0) == -math.inf
    assert functions.power(0.0, -1.0) == math.inf
    assert functions.where(0.0, 1.0, 2.0) == 2.0
    assert [type(f(0.5)) for f in (functions.exp, functions.sin, functions.cos, functions.tanh)] == [float] * 4
    assert isinstance(functions.sigmoid(Scalar(0.5)), Scalar)
    assert functions.relu(Scalar(-1.0)).grad_fn is functions.ReLU


# --- dot ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", list(itertools.product(["variable", "constant", "float", "int"], repeat=3)))
def test_dot_differentiates_what_is_a_variable(kinds, engine):
    """start + x . y has the products' gradients, whatever mixture of variables and numbers it is given."""
    make = {
        "variable": Scalar,
        "constant": lambda v: Scalar(v, requires_grad=False),
        "float": float,
        "int": int,
    }
    start, a, b = (make[kind](v) for kind, v in zip(kinds, (2, 3, 5), strict=True))
    c = Scalar(7.0)
    out = functions.dot([a, c], [b, c], start)
    assert out.data == 2 + 15 + 49
    out.backward(2.0)
    assert c.grad == 28.0
    for x, slope in ((start, 1.0), (a, 5.0), (b, 3.0)):
        if isinstance(x, Scalar):
            assert x.grad == (2.0 * slope if x.requires_grad else None)


def test_dot_takes_every_kind_of_number(engine):
    """NumPy's numbers, bools and subclasses of Scalar are numbers for dot as for +."""

    class Named(Scalar):
        """A subclass of Scalar."""

    x = Named(3.0)
    out = functions.dot([x, np.float32(2.0), True], [np.int64(4), Scalar(1.0), 2.5], np.float64(1.0))
    assert out.data == 1 + 12 + 2 + 2.5
    out.backward()
    assert x.grad == 4.0


def test_dot_refuses_what_does_not_fit(engine):
    """Sequences of two lengths, and things that are no numbers, are refused in words."""
    with pytest.raises(ValueError, match="dot: 2 numbers times 1; both sequences must have the same length"):
        functions.dot([Scalar(1.0), 2.0], [3.0])
    with pytest.raises(TypeError, match="must be a real number, not str"):
        functions.dot([Scalar(1.0)], ["a"])
    assert functions.dot([], [], 2.0).data == 2.0


# --- user-defined functions ---------------------------------------------------------------------------------


class Square(Function):
    """The square, in PyTorch's manner."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_tensors
        return d_output * 2.0 * a


class Hypotenuse(Function):
    """sqrt(a^2 + b^2), which saves its inputs and its output."""

    @staticmethod
    def forward(ctx, a, b):
        output = math.hypot(a, b)
        ctx.save_for_backward(a, b, output)
        return output

    @staticmethod
    def backward(ctx, d_output):
        a, b, output = ctx.saved_values
        return d_output * a / output, d_output * b / output


def test_user_functions_mix_with_the_librarys(engine):
    """A user-defined function is differentiated like any other, numbers among its inputs included."""
    x = Scalar(3.0)
    y = Square.apply(x) * 2.0 + x
    y.backward()
    assert (y.data, x.grad, Square.apply(4.0).data) == (21.0, 13.0, 16.0)
    a = Scalar(3.0)
    out = Hypotenuse.apply(a, 4)
    out.backward(10.0)
    assert (out.data, a.grad) == (5.0, 6.0)


def test_user_functions_have_second_derivatives(engine):
    """A rule made of differentiable operators on inputs and output can be differentiated again."""
    a, b = Scalar(3.0), Scalar(4.0)
    Hypotenuse.apply(a, b).backward(create_graph=True)
    g = a.grad
    a.zero_grad()
    b.zero_grad()
    g.backward()
    assert a.grad == pytest.approx(16 / 125)
    assert b.grad == pytest.approx(-12 / 125)


def test_the_same_input_twice(engine):
    """A function given one variable twice adds up both derivatives."""
    x = Scalar(3.0)
    Hypotenuse.apply(x, x).backward()
    assert x.grad == pytest.approx(math.sqrt(2.0))


def broken(forward, backward=lambda ctx, d: d):
    """Return a Function with those two methods, called Broken."""
    return type("Broken", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_saved_intermediate_values_cannot_be_differentiated_again(engine):
    """create_graph through a rule that uses a saved intermediate value says so; a plain backward works."""

    def forward(ctx, a):
        ctx.save_for_backward(2.0 * a)
        return a * a

    square = broken(forward, lambda ctx, d: d * ctx.saved_values[0])
    x = Scalar(3.0)
    y = square.apply(x)
    with pytest.raises(GraphError, match="neither one of its inputs nor its output"):
        y.backward(create_graph=True)
    y.backward()
    assert x.grad == 6.0


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ((1.0,), r"Broken\.backward returned 1 derivatives for 2 inputs: return one for each input"),
        ((1.0, 2.0, 3.0), r"Broken\.backward returned 3 derivatives for 2 inputs"),
        (1.0, r"Broken\.backward returned 1 derivatives for 2 inputs"),
        (None, r"Broken\.backward returned nothing"),
    ],
)
def test_the_number_of_derivatives_is_checked(returned, message, engine):
    """A rule that returns more or fewer derivatives than inputs is named, and no leaf gets a derivative."""
    x, y = Scalar(1.0), Scalar(2.0)
    out = broken(lambda ctx, a, b: a + b, lambda ctx, d: returned).apply(x, y)
    with pytest.raises(FunctionError, match=message):
        out.backward()
    assert (x.grad, y.grad) == (None, None)


@pytest.mark.parametrize("returned", [(3.0, None), [3.0, None]])
def test_none_stands_for_no_derivative(returned, engine):
    """A rule may return None for an input that has no derivative, in a tuple or a list."""
    x, y = Scalar(1.0), Scalar(2.0)
    broken(lambda ctx, a, b: a * b, lambda ctx, d: returned).apply(x, y).backward()
    assert (x.grad, y.grad or 0.0) == (3.0, 0.0)


@pytest.mark.parametrize("value", [None, "3", [1.0], 1j, Scalar(1.0)])
def test_forward_must_return_a_number(value, engine):
    """What forward returns is checked, by the function's name."""
    with pytest.raises(
        FunctionError, match=rf"Broken\.forward returned {type(value).__name__}; it must return a number"
    ):
        broken(lambda ctx, a: value).apply(Scalar(1.0))


@pytest.mark.parametrize("value", [True, 2, np.float32(0.5), np.int64(3), 0.25])
def test_forward_may_return_any_real_number(value, engine):
    """The result is a float, whatever kind of number forward returns."""
    out = broken(lambda ctx, a: value).apply(Scalar(1.0))
    assert (type(out.data), out.data) == (float, float(value))


def test_a_wrong_number_of_inputs_is_named(engine):
    """Too many or too few inputs: the function, what it takes and what it got."""
    with pytest.raises(TypeError, match="Square takes 1 inputs, got 2"):
        Square.apply(Scalar(1.0), 2.0)
    with pytest.raises(TypeError, match="Mul takes 2 inputs, got 1"):
        functions.Mul.apply(Scalar(1.0))


def test_an_error_inside_forward_is_the_users_own(engine):
    """A TypeError of the user's code is not taken for a wrong number of inputs."""
    with pytest.raises(TypeError, match="unsupported operand"):
        broken(lambda ctx, a: a + "x").apply(Scalar(1.0))


def test_missing_methods_are_named():
    """A Function without forward, backward or jvp says which one it needs."""
    empty = type("Empty", (Function,), {})
    with pytest.raises(FunctionError, match="needs a forward"):
        empty.apply(Scalar(1.0))
    with pytest.raises(FunctionError, match="needs a backward"):
        type("Half", (Function,), {"forward": staticmethod(lambda ctx, a: a)}).apply(Scalar(1.0)).backward()
    with pytest.raises(FunctionError, match="Square has no forward-mode rule"):
        Square.jvp(Context(), 1.0)


def test_a_rules_own_division_by_zero_is_not_hidden(engine):
    """Under create_graph a rule that divides plain numbers by zero raises; it does not lose the graph in silence."""

    def backward(ctx, d):
        return d * (1.0 / (ctx.saved_values[0].data if isinstance(d, Scalar) else ctx.saved_values[0]))

    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a

    x = Scalar(0.0)
    y = broken(forward, backward).apply(x)
    with pytest.raises(ZeroDivisionError):
        y.backward(create_graph=True)
    y.backward()
    assert x.grad == math.inf


def test_recording_is_off_inside_a_rule(engine):
    """What a rule computes with captured variables is not recorded, and the gradient is a float."""
    w = Scalar(5.0)
    seen = []

    def backward(ctx, d):
        out = w * 2.0
        seen.append(out.requires_grad)
        return d * out.data

    x = Scalar(1.0)
    broken(lambda ctx, a: a, backward).apply(x).backward()
    assert (seen, x.grad, w.grad) == ([False], 10.0, None)
