"""Hidden tests of the recorder, and of the operators of Scalar that call it."""

import functools

import pytest

from autograder import expect

record = functools.partial(pytest.mark.exercise, "scalar.record")
arithmetic = functools.partial(pytest.mark.exercise, "scalar.Arithmetic")

REMEMBERS = "scalar.record: 'the result remembers how it was made.'"
CONTEXT = "scalar.record: 'ctx is a new Context(), into which forward puts what backward needs.'"
NUMBER = "scalar.record: 'A number among the inputs counts as a constant'"
WANTED = "scalar.record: 'It is set only where somebody may want a derivative'"
REFLECTED = "scalar.Arithmetic: 'Return other - self, where other is a number.'"
HISTORY = "scalar.Arithmetic: 'applies a function to two operands, and its result remembers that.'"


def kind(mg, name, *inputs):
    """Probe: what a function of variables "x", constants "c" and numbers returns: a constant, a leaf or a result."""
    made = [mg.Scalar(2.0, requires_grad=each == "x") if isinstance(each, str) else each for each in inputs]
    found = mg.scalar.record(getattr(mg.functions, name), made)
    return "a constant" if found.is_constant() else "a leaf" if found.is_leaf() else "a result"


# --- scalar.record ------------------------------------------------------------------------------------------


@record(group="history", because=REMEMBERS)
def test_the_result_remembers_function_and_inputs(student):
    """The history names the function and the inputs, in their order."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a, name="x"), mg.Scalar(b, name="y")
        found = mg.scalar.record(mg.functions.Sub, [x, y])
        if found.history is None:
            return [found.data, "nothing"]
        return [found.data, found.history.last_fn.__name__, [each.name for each in found.history.inputs]]

    expect(
        student(observe, 10.0, 4.0),
        [6.0, "Sub", ["x", "y"]],
        hint="set result.history to a History of the function, the context and the inputs",
        misconception="nothing-remembered",
    )


@record(group="history", because=REMEMBERS)
def test_the_inputs_themselves_are_remembered(student):
    """The derivative arrives at the variables that went in."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a), mg.Scalar(b)
        found = mg.scalar.record(mg.functions.Sub, [x, y])
        return [any(each is x for each in found.parents), any(each is y for each in found.parents)]

    expect(
        student(observe, 10.0, 4.0),
        [True, True],
        hint="a Scalar among the inputs stays as it is; only numbers are packed into new ones",
        misconception="inputs-copied",
    )


@record(group="history", because=CONTEXT)
def test_the_context_of_forward_is_remembered(student):
    """backward finds what forward has saved."""

    def observe(mg, a, b):
        found = mg.scalar.record(mg.functions.Pow, [mg.Scalar(a), mg.Scalar(b)])
        return list(found.history.ctx.saved_values) if found.history else []

    expect(
        student(observe, 3.0, 2.0),
        [3.0, 2.0],
        hint="give the history the context that forward was called with",
        misconception="another-context",
    )


@record(group="history", because=CONTEXT)
def test_each_result_has_a_context_of_its_own(student):
    """A later call of the same function changes nothing in an earlier result."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a), mg.Scalar(b)
        first = mg.scalar.record(mg.functions.Pow, [x, y])
        mg.scalar.record(mg.functions.Pow, [y, x])
        return list(first.history.ctx.saved_values) if first.history else []

    expect(
        student(observe, 3.0, 2.0),
        [3.0, 2.0],
        hint="make a new Context in each call",
        misconception="one-context-for-all",
    )


@record(group="history", because="scalar.record: 'their data, and returns a number'")
def test_the_rule_returns_one_derivative_for_each_input(student):
    """The step back works: the context knows how many values came in."""

    def observe(mg, a, b):
        found = mg.scalar.record(mg.functions.Pow, [mg.Scalar(a), mg.Scalar(b)])
        if not found.history:
            return []
        try:
            return list(found.history.last_fn._backward(found.history.ctx, 1.0))[:1]
        except mg.errors.FunctionError as error:
            return f"FunctionError: {error}"

    expect(
        student(observe, 3.0, 2.0),
        [6.0],
        hint="call function._forward: it runs forward, and notes in ctx which values came in",
        misconception="bare-forward",
    )


@record(group="constants", because=NUMBER)
def test_a_number_becomes_a_constant(student):
    """Nobody wants the derivative in a plain number."""

    def observe(mg, a):
        inputs = mg.scalar.record(mg.functions.Sub, [2.0, mg.Scalar(a)]).parents
        return [each.is_constant() for each in inputs if each.data == 2.0]

    expect(
        student(observe, 5.0),
        [True],
        hint="Scalar(x) is a variable, Scalar(x, requires_grad=False) is a constant",
        misconception="numbers-as-variables",
    )


@record(group="constants", because="scalar.record: 'Scalars and numbers, in the order of forward's arguments.'")
def test_a_number_keeps_its_place(student):
    """The inputs of the history are as many as forward's arguments."""

    def observe(mg, a):
        return [each.data for each in mg.scalar.record(mg.functions.Sub, [2.0, mg.Scalar(a)]).parents]

    expect(
        student(observe, 5.0),
        [2.0, 5.0],
        hint="backward returns a derivative for the number as well: it must stay in its place",
        misconception="numbers-left-out",
    )


@record(group="constants", because=WANTED)
def test_constants_alone_make_a_constant(student):
    """Numbers and constants give a constant."""
    expect(
        [student(kind, "Sub", "c", "c"), student(kind, "Sub", "c", 3.0)],
        ["a constant", "a constant"],
        hint="where no input is a variable, no history is set",
        misconception="constants-recorded",
    )


@record(group="constants", because="scalar.record: 'at least one input is no constant'")
def test_one_variable_is_enough(student):
    """A constant beside a variable, on either side, does not prevent recording."""
    expect(
        [student(kind, "Sub", "x", "c"), student(kind, "Sub", "c", "x"), student(kind, "Sub", "x", 3.0)],
        ["a result"] * 3,
        hint="ask whether any input is a variable, not whether all are",
        misconception="all-inputs-asked",
    )


@record(group="recording", because="scalar.record: 'recording is on'")
def test_nothing_is_recorded_under_no_grad(student):
    """Inside of no_grad results are constants; with enable_grad inside it they are not."""

    def observe(mg):
        def kind(found):
            return "a constant" if found.is_constant() else "a leaf" if found.is_leaf() else "a result"

        x = mg.Scalar(3.0)
        with mg.no_grad():
            off = kind(mg.scalar.record(mg.functions.Sub, [x, x]))
            with mg.autodiff.enable_grad():
                on = kind(mg.scalar.record(mg.functions.Sub, [x, x]))
        return [off, on]

    expect(
        student(observe),
        ["a constant", "a result"],
        hint="ask is_grad_enabled() before a history is set",
        misconception="no-grad-ignored",
    )


@record(group="recording", because="scalar.record: 'Otherwise the result is a constant, too.'")
def test_a_result_that_is_not_recorded_is_no_leaf(student):
    """A leaf is a number that somebody chose."""
    expect(
        student(kind, "Sub", "c", 3.0),
        "a constant",
        hint="Scalar(value) is a leaf: pass requires_grad=False",
        misconception="leaf-instead-of-constant",
    )


@record(group="recording", because="scalar.record: 'a comparison is not'")
def test_comparisons_are_not_recorded(student):
    """x < y has no slope."""
    expect(
        [student(kind, "LT", "x", "x"), student(kind, "EQ", "x", 3.0)],
        ["a constant", "a constant"],
        hint="ask function.differentiable before a history is set",
        misconception="comparisons-recorded",
    )


# --- scalar.Arithmetic --------------------------------------------------------------------------------------


def value(mg, symbol, left, right):
    """Probe: the value of a difference or product; an operand is a number, or a Scalar if it stands in a list."""
    a, b = (mg.Scalar(x[0]) if isinstance(x, list) else x for x in (left, right))
    try:
        return float(a - b if symbol == "-" else a * b)
    except (TypeError, AttributeError) as error:
        return type(error).__name__


def slopes(mg, symbol, left, right):
    """Probe: the gradients of the Scalars in a difference or product."""
    operands = [mg.Scalar(x[0]) if isinstance(x, list) else x for x in (left, right)]
    a, b = operands
    try:
        (a - b if symbol == "-" else a * b).backward()
    except (TypeError, AttributeError) as error:
        return type(error).__name__
    return [x.grad for x in operands if isinstance(x, mg.Scalar)]


@arithmetic(group="differences", because="scalar.Arithmetic: 'with a Scalar or a number on either side.'")
def test_differences_with_a_number_on_the_right(student):
    """x - y and x - 7.0."""
    expect(
        [student(value, "-", [5.0], [7.0]), student(value, "-", [5.0], 7.0)],
        [-2.0, -2.0],
        hint="operate takes numbers as they are",
        misconception="scalars-only",
    )


@arithmetic(group="differences", because=REFLECTED)
def test_differences_with_a_number_on_the_left(student):
    """10.0 - x: self stands on the right."""
    expect(
        student(value, "-", 10.0, [7.0]),
        3.0,
        hint="in __rsub__, other stands on the left of the minus sign",
        misconception="subtraction-reversed",
    )


@arithmetic(group="differences", because=HISTORY)
def test_differences_can_be_differentiated(student):
    """The slopes of a difference are 1 and -1."""
    expect(
        [student(slopes, "-", [5.0], [7.0]), student(slopes, "-", 10.0, [7.0])],
        [[1.0, -1.0], [-1.0]],
        hint="hand both operands to operate, as they are",
        misconception="difference-without-history",
    )


@arithmetic(group="products", because="scalar.Arithmetic: 'Return other * self, where other is a number.'")
def test_products_with_a_number_on_the_left(student):
    """3.0 * x."""
    expect(
        [student(value, "*", 3.0, [7.0]), student(value, "*", [7.0], 3.0), student(value, "*", [7.0], [2.0])],
        [21.0, 21.0, 14.0],
        hint="Python calls x.__rmul__(3.0) for 3.0 * x",
        misconception="number-on-the-left-refused",
    )


@arithmetic(group="products", because=HISTORY)
def test_products_can_be_differentiated(student):
    """The slope of a product is the other factor."""
    expect(
        [student(slopes, "*", [5.0], [7.0]), student(slopes, "*", 3.0, [7.0]), student(slopes, "*", [7.0], 3.0)],
        [[7.0, 5.0], [3.0], [3.0]],
        hint="hand both operands to operate, as they are",
        misconception="product-without-history",
    )
