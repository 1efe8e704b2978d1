"""Starting values: ranges and moments, and what is refused."""

import math

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn
from minigrad.nn import init


def drawn(function, *args, shape=(60, 50, 3, 3), **options):
    """Fill a large tensor, and return its numbers."""
    x = mg.zeros(*shape, dtype="float64")
    assert function(x, *args, generator=mg.Generator(3), **options) is x
    return x.numpy()


FAN_IN, FAN_OUT = 50 * 9, 60 * 9


@pytest.mark.parametrize(
    ("function", "options", "bound"),
    [
        (init.uniform_, {"a": -2.0, "b": 2.0}, 2.0),
        (init.kaiming_uniform_, {}, math.sqrt(6.0 / FAN_IN)),
        (init.kaiming_uniform_, {"a": math.sqrt(5.0)}, 1.0 / math.sqrt(FAN_IN)),
        (init.kaiming_uniform_, {"mode": "fan_out", "nonlinearity": "relu"}, math.sqrt(6.0 / FAN_OUT)),
        (init.xavier_uniform_, {}, math.sqrt(6.0 / (FAN_IN + FAN_OUT))),
        (init.xavier_uniform_, {"gain": 3.0}, 3.0 * math.sqrt(6.0 / (FAN_IN + FAN_OUT))),
    ],
)
def test_even_spread(function, options, bound):
    """The numbers fill the range from -bound to bound, and have its variance bound^2 / 3."""
    values = drawn(function, **options)
    assert bound * 0.99 < np.abs(values).max() <= bound
    assert values.var() == pytest.approx(bound**2 / 3.0, rel=0.03)
    assert abs(values.mean()) < 0.02 * bound


@pytest.mark.parametrize(
    ("function", "options", "std"),
    [
        (init.normal_, {"std": 0.5}, 0.5),
        (init.kaiming_normal_, {"nonlinearity": "relu"}, math.sqrt(2.0 / FAN_IN)),
        (init.kaiming_normal_, {"nonlinearity": "linear", "mode": "fan_out"}, math.sqrt(1.0 / FAN_OUT)),
        (init.xavier_normal_, {"gain": 2.0}, 2.0 * math.sqrt(2.0 / (FAN_IN + FAN_OUT))),
    ],
)
def test_normal_spread(function, options, std):
    """The numbers have mean 0, that deviation, and the kurtosis of a normal distribution, 3."""
    values = drawn(function, **options)
    assert values.std() == pytest.approx(std, rel=0.02)
    assert np.mean((values / values.std()) ** 4) == pytest.approx(3.0, rel=0.05)


def test_constants():
    """zeros_, ones_ and constant_ fill with one number, also a parameter."""
    p = nn.Parameter(mg.randn(2, 2))
    assert init.ones_(p).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert init.zeros_(p).sum().item() == 0.0
    assert init.constant_(p, 2.5).sum().item() == 10.0
    assert p.requires_grad
    assert p.is_leaf


@pytest.mark.parametrize(
    ("kind", "sizes", "options"),
    [(nn.Linear, (36, 700), {}), (nn.Conv2d, (8, 200, 3), {"groups": 2}), (nn.Conv1d, (4, 300, 9), {})],
)
def test_layers_start_as_in_pytorch(kind, sizes, options):
    """Weights and biases start evenly within 1 / sqrt(inputs of one output), here 6."""
    mg.manual_seed(1)
    layer = kind(*sizes, **options)
    for p in (layer.weight, layer.bias):
        assert 0.98 / 6.0 < p.abs().max().item() <= 1.0 / 6.0


def test_gains():
    """Gains are those of the papers: tanh 5/3, relu sqrt 2, leaky relu by its slope."""
    assert init.calculate_gain("tanh") == 5.0 / 3.0
    assert init.calculate_gain("relu") == math.sqrt(2.0)
    assert init.calculate_gain("leaky_relu", 1.0) == 1.0


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: init.calculate_gain("swish"), "no nonlinearity 'swish'"),
        (lambda: init.xavier_uniform_(mg.zeros(3)), r"two axes, got shape \(3,\)"),
        (lambda: init.kaiming_normal_(mg.zeros(3, 3), mode="fan"), "mode is 'fan'"),
    ],
)
def test_what_is_refused(act, words):
    """Unknown names and shapes without fans are refused in one sentence."""
    with pytest.raises(ValueError, match=words):
        act()
