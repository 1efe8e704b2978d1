"""Visible tests of a network's layer and of its training step.

The layer is tried with plain numbers as values, and the step with gradients set by hand, so that neither waits for
the engine to be written.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from minigrad.checks.expectation import Expectation, expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.errors import GraphError
from minigrad.module import Parameter
from minigrad.scalar import Scalar

LINE = "03 'A line with weights'"
DOWN = "03 'Downhill'"


BOX = "a Parameter is a box around a Scalar: ask it for its .value"
SCALARS = "compute with the Scalars themselves, parameter.value: from a plain number no way leads back to a parameter"


@contextmanager
def box_and_value() -> Iterator[None]:
    """Explain errors of computing with a Parameter itself, or of asking it for a member of its value."""
    try:
        yield
    except (TypeError, AttributeError) as error:
        asked_for_data = "has no attribute 'data'" in str(error)
        if "Parameter" not in str(error) and not asked_for_data:
            raise
        hint = SCALARS if asked_for_data else BOX
        raise Expectation(error, None, f"raised {type(error).__name__}: {error}", hint, None) from error


def watched(value: float) -> float:
    """Return a number whose sums and products tell that they came from it; a plain number made of it does not.

    Its class stands in here, out of reach: its methods would answer exercises on sums and products.
    """

    class Watched(float):
        def __add__(self, other: float) -> Watched:
            return Watched(float(self) + other)

        def __mul__(self, other: float) -> Watched:
            return Watched(float(self) * other)

        __radd__, __rmul__ = __add__, __mul__

    return Watched(value)


def scalar_in(parameter: object) -> Scalar:
    """Return a parameter's value, which has to be a Scalar."""
    value = getattr(parameter, "value", None)
    if not isinstance(value, Scalar):
        hint = "the value of a Parameter is a Scalar, which can carry a gradient; make one by Scalar(...)"
        raise Expectation(value, None, f"got a {type(value).__name__}, expected a Scalar as value", hint, None)
    return value


def outputs(layer: Any, inputs: list[float], **values: float) -> list[float]:
    """Set the named parameters, all others to 0, and return the outputs."""
    return [float(output) for output in computed(layer, inputs, **values)]


REGISTERED = "make every parameter by parameter(name), and keep what it returns in weights[i][j] or biases[j]"
KEPT = (
    "values that were taken out of the parameters when the layer was made are still in use. Training replaces a "
    "parameter's .value, so ask for it at every call of forward"
)


def computed(layer: Any, inputs: list[float], **values: float) -> list[float | Scalar]:
    """Set the named parameters, all others to 0, and return what `forward` gives."""
    missing = [name for name in values if name not in layer._parameters]
    if missing:
        raise Expectation(missing, None, f"the layer has no parameter {' and no '.join(missing)}", REGISTERED, None)
    at_zero, found = (forward(layer, inputs, each) for each in ({}, values))
    if any(map(float, at_zero)):
        seen = [float(each) for each in at_zero]
        raise Expectation(seen, None, f"with every parameter set to 0, forward gives {seen}", KEPT, None)
    return found


def forward(layer: Any, inputs: list[float], values: Mapping[str, float]) -> list[float | Scalar]:
    """Set the named parameters, all others to 0, and return the outputs, which have to be numbers."""
    for name, parameter in layer._parameters.items():
        parameter.update(values.get(name, 0.0))
    with box_and_value():
        found = layer.forward(inputs)
    if not isinstance(found, list | tuple) or not all(isinstance(output, int | float | Scalar) for output in found):
        hint = "forward returns a list with one number for each output"
        raise Expectation(found, None, f"forward gives {found!r:.60}", hint, None)
    return list(found)


@visible("mlp.Linear", section=LINE)
def parameters_are_registered(student: SimpleNamespace) -> None:
    """A layer from 2 inputs to 3 outputs has 6 weights and 3 biases, by name."""
    layer = student.Linear(2, 3, random.Random(0))
    biases = [f"bias_{j}" for j in range(3)]
    weights = [f"weight_{i}_{j}" for i in range(2) for j in range(3)]
    expect(
        sorted(layer._parameters),
        biases + weights,
        hint=REGISTERED,
        when={(): "no parameter is registered: one that is only put in a list is never found, and never trained"},
    )


def lengths(row: object) -> int | str:
    """Return the length of a list, or else the name of the value's type."""
    return len(row) if isinstance(row, list | tuple) else type(row).__name__


@visible("mlp.Linear", section=LINE)
def weights_and_biases(student: SimpleNamespace) -> None:
    """weights is a list of 2 rows with 3 parameters each, biases one of 3 parameters."""
    layer = student.Linear(2, 3, random.Random(0))
    hint = "weights[i][j] leads from input i to output j, so there are as many rows as inputs"
    expect([lengths(row) for row in getattr(layer, "weights", ())], [3, 3], hint=hint)
    expect(lengths(getattr(layer, "biases", None)), 3, hint="each output has a bias of its own, in self.biases")
    named = {id(parameter): name for name, parameter in layer._parameters.items()}
    place = "weights[1][2] keeps the parameter that leads from input 1 to output 2, as parameter(name) returned it"
    kept = layer.weights[1][2]
    seen = "a Scalar" if isinstance(kept, Scalar) else named.get(id(kept), "a parameter without a name")
    when = {"a Scalar": "keep the Parameter itself, not its .value: training replaces the value by another Scalar"}
    expect(seen, "weight_1_2", hint=place, when=when)


@visible("mlp.Linear", section=LINE)
def starting_values(student: SimpleNamespace) -> None:
    """All parameters start at different values in [-1, 1)."""
    layer = student.Linear(2, 3, random.Random(0))
    values = [scalar_in(parameter).data for parameter in layer._parameters.values()]
    hint = "weights that start equal stay equal; parameter(name) draws a value for each"
    expect(len(set(values)), 9, hint=hint, of="the number of different values of its parameters")
    beyond = [value for value in values if not -1.0 <= value < 1.0]
    expect(beyond, [], of="the values outside of [-1, 1)")


@visible("mlp.Linear", section=LINE)
def one_weight(student: SimpleNamespace) -> None:
    """With weight_0_1 = 10 alone, output 1 is ten times input 0."""
    seen = outputs(student.Linear(2, 3, random.Random(0)), [3.0, 5.0], weight_0_1=10.0)
    meanings = {
        (30.0, 0.0, 0.0): "the weight has reached output 0: its second number names the output",
        (50.0, 0.0, 0.0): "input 1 has reached output 0: the first number of weight_i_j names the input",
    }
    expect(seen, [0.0, 30.0, 0.0], hint="the first number names the input, the second the output", when=meanings)


@visible("mlp.Linear", section=LINE)
def whole_sum(student: SimpleNamespace) -> None:
    """Each output is its bias plus the sum of its weighted inputs."""
    layer = student.Linear(2, 2, random.Random(0))
    values = {"weight_0_0": 1.0, "weight_1_0": 2.0, "weight_0_1": 10.0, "weight_1_1": 20.0}
    seen = outputs(layer, [3.0, 5.0], **values, bias_0=100.0, bias_1=200.0)
    meanings = {
        (13.0, 130.0): "the biases are missing: 100 and 200",
        (33.0, 250.0): "the weights are taken the wrong way round: column j of weights makes output j",
    }
    expect(seen, [113.0, 330.0], hint="3 * 1 + 5 * 2 + 100, and 3 * 10 + 5 * 20 + 200", when=meanings)


@visible("mlp.Linear", section=LINE)
def way_back(student: SimpleNamespace) -> None:
    """The outputs are computed from the parameters' values themselves, not from plain numbers made of them."""
    layer = student.Linear(1, 1, random.Random(0))
    found = computed(layer, [3.0], weight_0_0=watched(2.0), bias_0=watched(1.0))
    of = ["a plain number" if type(output) is float else "computed from the values" for output in found]
    expect(of, ["computed from the values"], hint=SCALARS)


def step(student: SimpleNamespace, grad: float | None) -> tuple[Scalar, Scalar]:
    """Take a step from 2.0 with a learning rate of 0.5, and return the value before and after it."""
    parameter = Parameter(Scalar(2.0))
    before = parameter.value
    before.grad = grad
    try:
        with box_and_value():
            student.SGD([parameter], 0.5).step()
    except GraphError:
        hint = "Scalar arithmetic is recorded, and its result is no leaf: compute with .data, then make a Scalar of it"
        expect("a result with a history", "a fresh leaf", hint=hint)
    return before, scalar_in(parameter)


@visible("mlp.SGD", section=DOWN)
def against_the_gradient(student: SimpleNamespace) -> None:
    """A value of 2 with a gradient of 3 and a learning rate of 0.5 goes to 0.5."""
    meanings = {
        3.5: "uphill: the gradient says where the loss grows, so go the other way",
        -1.0: "the step is lr * grad, and lr was 0.5",
        2.0: "nothing has moved: give the parameter its new value by parameter.update(...)",
    }
    expect(step(student, 3.0)[1].data, 0.5, hint="data - lr * grad", when=meanings)


@visible("mlp.SGD", section=DOWN)
def fresh_leaf(student: SimpleNamespace) -> None:
    """The new value is a fresh leaf without a gradient, and the old one is untouched."""
    before, after = step(student, 3.0)
    expect(before.data, 2.0, hint="make a new Scalar instead of changing the old one, which graphs may still use")
    hint = "compute with .data: Scalar arithmetic leaves a history"
    expect_that(after.is_leaf(), "the new value is the result of an operation, and no leaf", hint)
    expect(after.grad, None, of="the gradient of the new value")
    expect_that(after is not before, "the old value was changed", "hand a new Scalar to parameter.update(...)")


@visible("mlp.SGD", section=DOWN)
def without_gradient(student: SimpleNamespace) -> None:
    """A parameter without a gradient stays where it is."""
    hint = "where no gradient has arrived, `.grad` is None: skip that parameter"
    with hinting(hint, TypeError):
        expect(step(student, None)[1].data, 2.0, hint=hint)


@visible("mlp.SGD", section=DOWN)
def forgetting(student: SimpleNamespace) -> None:
    """zero_grad sets the gradient of every parameter's value to None."""
    parameters = [Parameter(Scalar(1.0)), Parameter(Scalar(2.0))]
    for parameter in parameters:
        parameter.value.grad = 3.0
    with box_and_value():
        student.SGD(parameters).zero_grad()
    meanings = {
        (3.0, 3.0): "the gradient lives on the parameter's value: parameter.value.grad",
        (0.0, 0.0): "None says that there is no gradient; 0.0 says that there is one, and it is 0",
        (None, 3.0): "all parameters, not only the first",
    }
    expect([scalar_in(parameter).grad for parameter in parameters], [None, None], when=meanings)
