"""Hidden tests of the network's two parts that students write: mlp.Linear and mlp.SGD."""

import functools

import pytest

from autograder import expect

linear = functools.partial(pytest.mark.exercise, "mlp.Linear")
sgd = functools.partial(pytest.mark.exercise, "mlp.SGD")

FORMULA = "mlp.Linear: 'output j is bias_j plus the sum over i of weight_ij * input_i'"
NAMES = "mlp.Linear: 'The parameters weight_i_j as weights[i][j]'"


# --- mlp.Linear ---------------------------------------------------------------------------------------------


@linear(group="values", because=FORMULA)
def test_outputs(student):
    """Each output is its bias plus the weighted inputs."""

    def observe(mg, sizes, inputs):
        import random

        layer = mg.mlp.Linear(*sizes, random.Random(1))
        for k, row in enumerate(layer.weights):
            for j, weight in enumerate(row):
                weight.update(mg.Scalar(1.0 + 10.0 * k + j))
        for j, bias in enumerate(layer.biases):
            bias.update(mg.Scalar(1000.0 * (j + 1)))
        return [output.data for output in layer(inputs)]

    # weights [[1, 2], [11, 12], [21, 22]], biases [1000, 2000]
    expect(
        student(observe, [3, 2], [1.0, -2.0, 0.5]),
        [989.5, 1989.0],
        hint="is the bias in the sum?",
        misconception="bias-forgotten",
    )


@linear(group="values", because=NAMES)
def test_names_and_places(student):
    """weight_i_j leads from input i to output j."""

    def observe(mg, wanted):
        import random

        layer = mg.mlp.Linear(2, 2, random.Random(1))
        outputs = []
        for name in wanted:
            for other, parameter in layer.named_parameters():
                parameter.update(mg.Scalar(1.0 if other == name else 0.0))
            outputs.append([output.data for output in layer([3.0, 5.0])])
        return outputs

    expect(
        student(observe, ["weight_0_0", "weight_0_1", "weight_1_0", "weight_1_1"]),
        [[3.0, 0.0], [0.0, 3.0], [5.0, 0.0], [0.0, 5.0]],
        hint="the first number of weight_i_j is the input's, the second the output's",
        misconception="weights-transposed",
    )


@linear(
    group="values",
    because="lesson 03, 'A line with weights': Compute with the Scalars themselves, so that backward finds the way to every parameter.",
)
def test_gradients_reach_parameters(student):
    """The derivative of an output in a weight is its input, and in its bias it is 1."""

    def observe(mg, inputs):
        import random

        layer = mg.mlp.Linear(2, 2, random.Random(1))
        first = layer(inputs)[0]
        if not isinstance(first, mg.Scalar) or not first.requires_grad:
            return "an output without a history"
        first.backward()
        return [layer.weights[0][0].value.grad, layer.weights[1][0].value.grad, layer.biases[0].value.grad]

    expect(
        student(observe, [3.0, 5.0]),
        [3.0, 5.0, 1.0],
        hint="compute with the parameters' Scalars, not with their .data",
        misconception="computed-on-floats",
    )


@linear(
    group="values",
    because="lesson 03, 'A line with weights': Ask for it at every call of forward, since training replaces it.",
)
def test_new_values_are_used(student):
    """After a parameter is updated, forward uses the new value."""

    def observe(mg, inputs):
        import random

        layer = mg.mlp.Linear(1, 1, random.Random(1))
        outputs = []
        for value in (2.0, 7.0):
            layer.weights[0][0].update(mg.Scalar(value))
            layer.biases[0].update(mg.Scalar(1.0))
            outputs.append(layer(inputs)[0].data)
        return outputs

    expect(
        student(observe, [10.0]),
        [21.0, 71.0],
        hint="keep the Parameter and ask it for .value in forward; a value kept from __init__ grows old",
        misconception="values-kept-from-start",
    )


@linear(
    group="parameters",
    because="lesson 03, 'A line with weights': Only registered parameters are found by parameters(), and trained.",
)
def test_parameters_are_registered(student):
    """named_parameters lists every weight and bias of the layer."""

    def observe(mg, sizes):
        import random

        return sorted(name for name, _ in mg.mlp.Linear(*sizes, random.Random(1)).named_parameters())

    expect(
        student(observe, [2, 3]),
        [
            "bias_0",
            "bias_1",
            "bias_2",
            "weight_0_0",
            "weight_0_1",
            "weight_0_2",
            "weight_1_0",
            "weight_1_1",
            "weight_1_2",
        ],
        hint="a Parameter inside a list is not seen; make it by the helper parameter(name), which registers it",
        misconception="parameters-not-registered",
    )


@linear(group="parameters", because="mlp.Linear: 'The parameters bias_j as biases[j]'")
def test_shapes(student):
    """There are in_size rows of out_size weights, and out_size biases."""

    def observe(mg, sizes):
        import random

        layer = mg.mlp.Linear(*sizes, random.Random(1))
        parameters = {id(p) for row in layer.weights for p in row} | {id(p) for p in layer.biases}
        return [len(layer.weights), [len(row) for row in layer.weights], len(layer.biases), len(parameters)]

    expect(
        student(observe, [2, 3]),
        [2, [3, 3], 3, 9],
        hint="each output has a bias of its own",
        misconception="one-bias-for-all",
    )


@linear(group="parameters", because="mlp.Linear: 'each starting in [-1, 1)'")
def test_starting_values(student):
    """The parameters start at different values in [-1, 1), the same ones for the same seed."""

    def observe(mg, seed):
        import random

        def start(seed):
            return [p.value.data for p in mg.mlp.Linear(5, 4, random.Random(seed)).parameters()]

        values = start(seed)
        inside = all(-1.0 <= value < 1.0 for value in values)
        return [len(set(values)), inside, values == start(seed), values == start(seed + 1)]

    expect(
        student(observe, 3),
        [24, True, True, False],
        hint="weights that start equal stay equal: every unit would learn the same",
        misconception="equal-start",
    )


# --- mlp.SGD ------------------------------------------------------------------------------------------------


@sgd(group="step", because="mlp.SGD: 'every step moves each parameter a little against its gradient'")
def test_direction(student):
    """A positive gradient makes the value smaller, a negative one larger."""

    def observe(mg, grads):
        parameters = [mg.module.Parameter(mg.Scalar(2.0)) for _ in grads]
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.value.grad = grad
        mg.mlp.SGD(parameters, lr=1.0).step()
        return [parameter.value.data for parameter in parameters]

    expect(
        student(observe, [0.5, -3.0, 0.0]),
        [1.5, 5.0, 2.0],
        hint="the gradient points uphill; go the other way",
        misconception="uphill",
    )


@sgd(group="step", because="mlp.SGD.step: 'a fresh leaf at data - lr * grad'")
def test_learning_rate(student):
    """The learning rate scales the step."""

    def observe(mg, rates):
        values = []
        for lr in rates:
            parameter = mg.module.Parameter(mg.Scalar(2.0))
            parameter.value.grad = 4.0
            mg.mlp.SGD([parameter], lr=lr).step()
            values.append(parameter.value.data)
        return values

    expect(
        student(observe, [0.5, 0.01]),
        [0.0, 1.96],
        hint="the step is lr * grad",
        misconception="learning-rate-forgotten",
    )


@sgd(group="step", because="mlp.SGD.step: 'Give every parameter that has a gradient a new value'")
def test_without_gradient(student):
    """A parameter without a gradient stays as it is."""

    def observe(mg, lr):
        used, unused = mg.module.Parameter(mg.Scalar(2.0)), mg.module.Parameter(mg.Scalar(3.0))
        used.value.grad = 1.0
        try:
            mg.mlp.SGD([unused, used], lr=lr).step()
        except TypeError:
            return "TypeError"
        return [used.value.data, unused.value.data]

    expect(
        student(observe, 0.5),
        [1.5, 3.0],
        hint="a grad of None means that no backward pass came by: skip the parameter",
        misconception="gradient-none",
    )


@sgd(group="fresh", because="mlp.SGD.step: 'a fresh leaf'")
def test_new_value_is_a_leaf(student):
    """The new value has no history: it is a leaf that wants a gradient."""

    def observe(mg, steps):
        parameter = mg.module.Parameter(mg.Scalar(2.0))
        for _ in range(steps):
            (parameter.value * parameter.value).backward()
            try:
                mg.mlp.SGD([parameter], lr=0.25).step()
            except mg.errors.GraphError:
                return "GraphError"
        if not isinstance(parameter.value, mg.Scalar):
            return f"a {type(parameter.value).__name__}"
        return [parameter.value.is_leaf(), parameter.value.requires_grad]

    expect(
        student(observe, 2),
        [True, True],
        hint="compute with .data and make a new Scalar; arithmetic on the old Scalar is recorded, and the graph grows for ever",
        misconception="step-keeps-graph",
    )


@sgd(group="fresh", because="lesson 03, 'Downhill': A step gives the parameter a fresh leaf")
def test_old_value_stays(student):
    """The new value is another Scalar without a gradient; the old one, which graphs may still use, keeps its number."""

    def observe(mg, grad):
        parameter = mg.module.Parameter(mg.Scalar(2.0))
        old = parameter.value
        old.grad = grad
        mg.mlp.SGD([parameter], lr=0.5).step()
        return [old.data, parameter.value is old, getattr(parameter.value, "grad", None)]

    expect(
        student(observe, 1.0),
        [2.0, False, None],
        hint="give the parameter a new Scalar by parameter.update(...) instead of changing the old one",
        misconception="changed-in-place",
    )


@sgd(group="zero_grad", because="lesson 03, 'Downhill': The gradient belongs to the parameter's value")
def test_passes_start_afresh(student):
    """After zero_grad a backward pass counts alone: 3.0, where without it 5.0 would stand."""

    def observe(mg, slopes):
        parameters = [mg.module.Parameter(mg.Scalar(10.0)) for _ in range(2)]
        optimizer = mg.mlp.SGD(parameters)
        for slope in slopes:
            optimizer.zero_grad()
            for parameter in parameters:
                (parameter.value * slope).backward()
        return [parameter.value.grad for parameter in parameters]

    expect(
        student(observe, [2.0, 3.0]),
        [3.0, 3.0],
        hint="a Parameter is a box around a value; the grad to forget is parameter.value.grad",
        misconception="zeroed-on-the-box",
        when={(5.0, 5.0): ("zeroed-on-the-box", "5 = 2 + 3: the first pass was not forgotten")},
    )


@sgd(group="zero_grad", because="mlp.SGD.zero_grad: 'Set the gradient of every parameter to None'")
def test_none_rather_than_zero(student):
    """zero_grad leaves None, so that step can tell 'no gradient' from 'a gradient of 0'."""

    def observe(mg, grad):
        parameter = mg.module.Parameter(mg.Scalar(2.0))
        parameter.value.grad = grad
        mg.mlp.SGD([parameter]).zero_grad()
        return parameter.value.grad

    expect(
        student(observe, 1.5),
        None,
        hint="None says that no gradient is there; 0.0 says that there is one",
        misconception="zero-instead-of-none",
    )
