"""The network of scalars: its layers, its loss, its optimizer, and that it learns."""

import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minigrad import Scalar, datasets, derivatives, mlp
from minigrad.machine import overrides
from minigrad.module import Parameter


def test_linear_computes_weighted_sums(engine):
    """Output j is bias_j + sum_i weight_ij input_i, for numbers and for Scalars."""
    layer = mlp.Linear(3, 2, random.Random(0))
    w = [[layer.weights[i][j].value.data for j in range(2)] for i in range(3)]
    b = [layer.biases[j].value.data for j in range(2)]
    x = [0.5, -1.0, 2.0]
    for inputs in (x, tuple(x), [Scalar(v) for v in x]):
        out = layer.forward(inputs)
        wanted = [b[j] + sum(w[i][j] * x[i] for i in range(3)) for j in range(2)]
        assert [o.data for o in out] == pytest.approx(wanted)
    variables = [Scalar(v) for v in x]
    layer.forward(variables)[1].backward()
    assert [v.grad for v in variables] == [w[i][1] for i in range(3)]
    assert [layer.weights[i][1].value.grad for i in range(3)] == x
    assert (layer.biases[1].value.grad, layer.biases[0].value.grad) == (1.0, None)


def test_linear_names_its_parameters_and_draws_them_between_minus_one_and_one():
    """weight_i_j and bias_j, each 2 (r - 0.5) with r from the given generator."""
    layer = mlp.Linear(40, 10, random.Random(0))
    named = dict(layer.named_parameters())
    assert set(named) == {f"weight_{i}_{j}" for i in range(40) for j in range(10)} | {f"bias_{j}" for j in range(10)}
    values = [p.value.data for p in named.values()]
    assert -1.0 <= min(values) < -0.9
    assert 0.9 < max(values) < 1.0
    assert abs(sum(values) / len(values)) < 0.1
    assert named["weight_2_3"] is layer.weights[2][3]


def test_linear_refuses_the_wrong_number_of_inputs(engine):
    """Too few inputs are no silent truncation."""
    with pytest.raises(ValueError, match="3 numbers times 2"):
        mlp.Linear(3, 1, random.Random(0)).forward([1.0, 2.0])


def test_sgd_steps_against_the_gradient():
    """Each parameter with a gradient gets a fresh leaf at data - lr * grad; the others stay."""
    moved, still = Parameter(Scalar(3.0), name="w"), Parameter(Scalar(5.0))
    optimizer = mlp.SGD([moved, still], lr=0.1)
    (moved.value * moved.value).backward()
    before = still.value
    optimizer.step()
    assert moved.value.data == pytest.approx(3.0 - 0.1 * 6.0)
    assert (moved.value.grad, moved.value.is_leaf(), moved.value.name) == (None, True, "w")
    assert still.value is before
    (moved.value * 1.0).backward()
    optimizer.zero_grad()
    assert moved.value.grad is None


def test_sgd_ends_the_life_of_the_old_graph():
    """A result computed before the step still has its own gradient."""
    p = Parameter(Scalar(3.0))
    old, y = p.value, p.value * p.value
    y.backward()
    mlp.SGD([p], lr=1.0).step()
    y.backward()
    assert (old.grad, p.value.grad) == (12.0, None)


def test_the_network_has_the_layers_it_is_asked_for():
    """(2, 16, 16) is a network 2 - 16 - 16 - 1; the seed decides the starting values."""
    model = mlp.MLP((2, 16, 16), seed=1)
    assert len(model.parameters()) == 2 * 16 + 16 + 16 * 16 + 16 + 16 + 1
    values = [[p.value.data for p in mlp.MLP((2, 4), seed).parameters()] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_the_networks_gradient_is_right(engine):
    """Back-propagation through a whole network agrees with central differences."""
    model = mlp.MLP((2, 3, 3), seed=4)
    parameters = model.parameters()

    def loss(*values):
        for parameter, value in zip(parameters, values, strict=True):
            parameter.update(value if isinstance(value, Scalar) else Scalar(value))
        return mlp.binary_cross_entropy(model((0.3, 0.8)), 1)

    leaves = [Scalar(p.value.data) for p in parameters]
    loss(*leaves).backward()
    seen = [leaf.grad or 0.0 for leaf in leaves]
    measured = derivatives.gradient(lambda *v: loss(*v).data, *[leaf.data for leaf in leaves])
    assert seen == pytest.approx(measured, abs=1e-8)


@example(0.0, 0)
@example(0.0, 1)
@given(st.floats(-30, 30), st.integers(0, 1))
def test_the_loss_is_minus_the_log_of_the_probability(z, target):
    """-log p or -log (1 - p), with the slope p - target."""
    p = 1.0 / (1.0 + math.exp(-z))
    logit = Scalar(z)
    loss = mlp.binary_cross_entropy(logit, target)
    loss.backward()
    q = p if target else 1.0 / (1.0 + math.exp(z))
    assert loss.data == pytest.approx(-math.log(q), rel=1e-9, abs=1e-12)
    assert logit.grad == pytest.approx(p - target, abs=1e-12)


@pytest.mark.parametrize(("z", "target", "wanted"), [(1000.0, 0, 1000.0), (-1000.0, 1, 1000.0), (1000.0, 1, 0.0)])
def test_the_loss_does_not_overflow(z, target, wanted):
    """A logit of 1000 gives a loss of 1000 or 0, not infinity or nan."""
    logit = Scalar(z)
    loss = mlp.binary_cross_entropy(logit, target)
    loss.backward()
    assert loss.data == wanted
    assert logit.grad == pytest.approx((1.0 if z > 0 else 0.0) - target)


@pytest.mark.parametrize(
    ("name", "sizes", "seed", "epochs", "wanted"),
    [
        ("simple", (2, 4), 0, 60, 38),
        ("diag", (2, 4), 0, 60, 36),
        ("split", (2, 6), 3, 200, 34),
        ("xor", (2, 6), 3, 200, 34),
        ("circle", (2, 6), 3, 200, 34),
    ],
)
@pytest.mark.full("networks are trained", share=4)
def test_it_learns(name, sizes, seed, epochs, wanted):
    """A small network gets most of 40 points right, and its loss falls by 40%."""
    history = list(mlp.fit(mlp.MLP(sizes, seed), datasets.load(name, 40, seed=1), epochs, lr=1.0))
    assert [epoch.number for epoch in history] == list(range(1, epochs + 1))
    assert min(epoch.loss for epoch in history[-20:]) < 0.6 * history[0].loss
    assert max(epoch.correct for epoch in history[-20:]) >= wanted


def test_both_engines_train_alike():
    """The specification and the quick engine give the same losses."""

    def losses():
        return [e.loss for e in mlp.fit(mlp.MLP((2, 4), seed=0), datasets.xor(12), 8, 0.5)]

    quick = losses()
    overrides.use_twins(False)
    try:
        assert losses() == pytest.approx(quick, rel=1e-12)
    finally:
        overrides.use_twins(True)


def test_an_epoch_reports_what_was_before_its_step():
    """The first epoch's loss and count are those of the untrained network."""
    model, points = mlp.MLP((2, 3), seed=2), datasets.xor(20)
    logits = [model(x).data for x in points.X]
    loss = sum(mlp.binary_cross_entropy(z, y) for z, y in zip(logits, points.y, strict=True)) / 20
    first = next(mlp.fit(model, points, 1))
    assert first.loss == pytest.approx(loss)
    assert first.correct == sum((z > 0) == (y == 1) for z, y in zip(logits, points.y, strict=True))
