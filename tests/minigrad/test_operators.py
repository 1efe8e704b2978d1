"""The kernels compute what IEEE 754 says, and the functions of functions do what their names say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry_samples import ELEMENTWISE, reference

from minigrad import functions, operators
from minigrad.exercises import install

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1000.0, -1000.0, 1e-300, math.inf, -math.inf, math.nan)
floats = st.floats(-1e6, 1e6)
lists = st.lists(floats, max_size=8)

ONE = {
    "id": lambda x: x,
    "neg": np.negative,
    "inv": lambda x: np.divide(1.0, x),
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0.0),
    "sqrt": np.sqrt,
    "square": np.square,
    "abs": np.absolute,
    "sign": lambda x: np.float64(x > 0.0) - np.float64(x < 0.0),
    "erf": math.erf,
    "erfc": math.erfc,
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2.0)),
}
TWO = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "max": np.maximum,
    "min": np.minimum,
    "lt": lambda x, y: np.float64(x < y),
    "eq": lambda x, y: np.float64(x == y),
    "gt": lambda x, y: np.float64(x > y),
    "le": lambda x, y: np.float64(x <= y),
    "ge": lambda x, y: np.float64(x >= y),
    "ne": lambda x, y: np.float64(x != y),
    "log_back": lambda x, d: d / x,
    "inv_back": lambda x, d: -d / (x * x),
    "relu_back": lambda x, d: np.where(x <= 0.0, 0.0, d),
    "exp_back": lambda x, d: d * np.exp(x),
}
# A kernel without a row here is compared with PyTorch.
for name, (sample, *_) in ELEMENTWISE.items():
    if len(sample.shapes) < 3:
        (ONE, TWO)[len(sample.shapes) - 1].setdefault(getattr(functions, name).kernel, reference(name))
SIGN_OF_ZERO = {"id", "neg", "inv", "add", "sub", "mul", "div", "pow"}


def agrees(name, seen, wanted):
    """Equal to rounding, nan with nan; where it matters also in the sign of zero."""
    wanted = float(wanted)
    assert type(seen) is float
    if wanted == 0.0 and name in SIGN_OF_ZERO and math.copysign(1.0, seen) != math.copysign(1.0, wanted):
        return False
    return seen == pytest.approx(wanted, rel=1e-14, abs=1e-300, nan_ok=True)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("x", SPECIAL)
def test_operators_of_one_number_follow_ieee(name, x):
    """Poles, overflows and roots of negative numbers give what NumPy gives, and nothing raises."""
    with np.errstate(all="ignore"):
        wanted = ONE[name](np.float64(x))
    assert agrees(name, getattr(operators, name)(x), wanted)


def test_clip_moves_into_an_interval():
    """Below goes to the lower bound, above to the upper one, nan stays, and the upper bound wins a contradiction."""
    assert [operators.clip(x, -1.0, 2.0) for x in (-5.0, -1.0, 0.5, 2.0, 7.0)] == [-1.0, -1.0, 0.5, 2.0, 2.0]
    assert math.isnan(operators.clip(math.nan, 0.0, 1.0))
    assert operators.clip(0.0, 5.0, 3.0) == 3.0


@pytest.mark.parametrize("name", TWO)
def test_operators_of_two_numbers_follow_ieee(name):
    """Every pair of special values gives what NumPy gives, the sign of zero and infinity included."""
    with np.errstate(all="ignore"):
        wrong = [
            (x, y, getattr(operators, name)(x, y), float(TWO[name](np.float64(x), np.float64(y))))
            for x in SPECIAL
            for y in SPECIAL
            if not agrees(name, getattr(operators, name)(x, y), TWO[name](np.float64(x), np.float64(y)))
        ]
    assert wrong == []


WRAPPED = [name for name, value in vars(operators).items() if "__minigrad_wrap__" in getattr(value, "__dict__", ())]
MISTAKES = {
    "a ValueError of Python's own": lambda: float("one"),
    "a ZeroDivisionError of Python's own": lambda: 1.0 / 0.0,
    "an OverflowError of Python's own": lambda: math.exp(1000.0),
}


def raises(error):
    """Raise it, as a student's guard does."""
    raise error


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, OverflowError])
def test_an_error_that_an_operator_raises_itself_is_told(name, error):
    """A ``raise`` statement in a student's operator is heard, whatever the numbers are: 4, 0, -1, infinity."""
    both = TWO | {"log_back": 2, "inv_back": 2}
    inputs = [(x,) if name not in both else (x, y) for x in (4.0, 0.0, -1.0, math.inf) for y in (2.0, 0.0)]
    with install({f"operators.{name}": lambda *_: raises(error("not so"))}):
        for numbers in inputs:
            with pytest.raises(error, match="not so"):
                getattr(operators, name)(*numbers)


@pytest.mark.parametrize("name", [name for name in WRAPPED if name != "pow"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_an_operator_is_no_special_value(name, mistake):
    """Where the standard has an ordinary number, Python's error is the operator's own, and stays."""
    both = TWO | {"log_back": 2, "inv_back": 2}
    x = (-2.0, 3.0) if name == "exp" else (2.0, 3.0)
    wrong = {f"operators.{name}": lambda *_: MISTAKES[mistake]()}
    with install(wrong), pytest.raises((ValueError, ArithmeticError)):
        getattr(operators, name)(*(x if name in both else x[:1]))


def test_plain_formulas_get_the_values_of_the_standard():
    """A student's textbook formulas need no guard: poles and overflows are those of the library's own operators."""
    plain = {
        "inv": (lambda x: 1.0 / x, (0.0, -0.0)),
        "exp": (lambda x: math.e**x, (1000.0,)),
        "log": (lambda x: math.log(x), (0.0, -0.0, -1.0)),
        "log_back": (lambda x, d: d / x, (0.0, -0.0)),
        "inv_back": (lambda x, d: -d / x**2, (0.0, -0.0, 1e-200)),
    }
    for name, (formula, points) in plain.items():
        inputs = [(x, d) for x in points for d in (2.0, -3.0, 0.0)] if name.endswith("back") else [(x,) for x in points]
        wanted = [getattr(operators, name)(*each) for each in inputs]
        with install({f"operators.{name}": formula}):
            np.testing.assert_array_equal([getattr(operators, name)(*each) for each in inputs], wanted, err_msg=name)


def test_ints_are_numbers_too():
    """Operators given ints follow IEEE as well."""
    assert operators.pow(0, -1) == math.inf
    assert operators.div(1, 0) == math.inf
    assert operators.inv(0) == math.inf
    assert math.isnan(operators.pow(-8, 0.5))
    assert type(operators.neg(3)) is float


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [(-10.0, 1001.0, -math.inf), (-10.0, 1000.0, math.inf), (10.0, 1001.0, math.inf), (-0.0, -3.0, -math.inf)],
)
def test_powers_beyond_floats_have_the_right_sign(x, y, wanted):
    """An odd power of a negative number overflows to minus infinity."""
    assert operators.pow(x, y) == wanted


@given(floats)
def test_sigmoid_is_symmetric_and_bounded(x):
    """sigmoid(-x) = 1 - sigmoid(x), within [0, 1]."""
    assert 0.0 <= operators.sigmoid(x) <= 1.0
    assert operators.sigmoid(-x) == pytest.approx(1.0 - operators.sigmoid(x), abs=1e-15)


@given(st.floats(-30, 30), st.floats(-10, 10))
def test_sigmoid_back_is_the_slope_times_d(x, d):
    """sigmoid_back(x, d) = d e^x / (1 + e^x)^2."""
    assert operators.sigmoid_back(x, d) == pytest.approx(
        d * math.exp(x) / (1.0 + math.exp(x)) ** 2, rel=1e-9, abs=1e-14
    )


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [(1.0, 1.0099, 1.0), (1.0, 1.0101, 0.0), (-3.0, -3.009, 1.0), (1.0, -1.0, 0.0), (math.nan, math.nan, 0.0)],
)
def test_is_close_is_a_distance_below_a_hundredth(x, y, wanted):
    """Two numbers are close if they differ by less than 0.01, in either direction."""
    assert operators.is_close(x, y) == operators.is_close(y, x) == wanted


def test_where_chooses_by_what_is_not_zero():
    """Any condition but 0.0 chooses the first value; nan is not 0."""
    assert [operators.where(c, 1.0, 2.0) for c in (1.0, -0.5, math.nan, 0.0, -0.0)] == [1.0, 1.0, 1.0, 2.0, 2.0]


@given(lists, lists)
def test_lists_are_combined_element_by_element(left, right):
    """map, zipWith, negList and addLists work element by element, on any iterable, up to the shorter list."""
    assert operators.map(abs)(iter(left)) == [abs(x) for x in left]
    assert operators.negList(left) == [-x for x in left]
    assert operators.addLists(left, iter(right)) == [x + y for x, y in zip(left, right, strict=False)]
    assert operators.zipWith(lambda x, y: x - 2 * y)(left, right) == [
        x - 2 * y for x, y in zip(left, right, strict=False)
    ]


def test_reduce_folds_from_the_left_and_can_be_used_again():
    """The result so far is the first argument; a folding function keeps no state between lists."""
    minus = operators.reduce(lambda total, x: total - 2.0 * x, 100.0)
    assert minus([1.0, 10.0]) == 78.0
    assert minus([1.0, 10.0]) == 78.0
    assert minus([]) == 100.0
    assert operators.reduce(lambda text, x: f"({text}{x})", "")("abc") == "(((a)b)c)"


@given(lists)
def test_sum_and_prod_fold_the_whole_list(values):
    """sum and prod go from the left; of nothing they are 0.0 and 1.0."""
    total, product = 0.0, 1.0
    for x in values:
        total, product = total + x, product * x
    assert operators.sum(iter(values)) == total
    assert operators.prod(values) == product
    assert (operators.sum([]), operators.prod([])) == (0.0, 1.0)


def test_every_public_operator_is_tested_here():
    """A new operator cannot be added without a test: this file's tables or tests name each of them."""
    elsewhere = {
        "addLists",
        "clip",
        "ieee",
        "is_close",
        "is_reduce",
        "map",
        "negList",
        "prod",
        "reduce",
        "sigmoid_back",
        "sum",
        "where",
    }
    assert set(operators.__all__) == set(ONE) | set(TWO) | elsewhere | {"zipWith"}
