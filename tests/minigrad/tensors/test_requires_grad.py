"""The flag `requires_grad`, assigned and set by its method, and further attributes of parameters, beside PyTorch."""

from __future__ import annotations

import copy
import pickle

import pytest
from pytorch import torch

import minigrad as mg

LEAVES = {
    "floats": lambda lib: lib.tensor([1.0, 2.0]),
    "a leaf": lambda lib: lib.tensor([1.0, 2.0], requires_grad=True),
    "a parameter": lambda lib: lib.nn.Parameter(lib.tensor([1.0, 2.0])),
    "integers": lambda lib: lib.tensor([1, 2]),
    "int32": lambda lib: lib.tensor([1, 2], dtype=lib.int32),
    "booleans": lambda lib: lib.tensor([True, False]),
    "a result": lambda lib: lib.tensor([1.0, 2.0], requires_grad=True) * 2.0,
    "a view": lambda lib: lib.tensor([1.0, 2.0], requires_grad=True)[0],
    "a constant result": lambda lib: lib.tensor([1.0, 2.0]) * 2.0,
    "a detached result": lambda lib: (lib.tensor([1.0, 2.0], requires_grad=True) * 2.0).detach(),
    "a result under no_grad": lambda lib: lib.no_grad()(lambda: lib.ones(2, requires_grad=True) * 2.0)(),
    "a double": lambda lib: lib.tensor([1.0], dtype=lib.float64),
    "nothing": lambda lib: lib.ones(0),
}


def assign(x, value):
    """Assign the flag."""
    x.requires_grad = value


SETTERS = {"assigned": assign, "method": lambda x, value: x.requires_grad_(value)}


def outcome(lib, kind, how, value):
    """Return the flag after it was set, or None where that was refused."""
    x = LEAVES[kind](lib)
    before = x.requires_grad
    try:
        SETTERS[how](x, value)
    except (RuntimeError, TypeError, ValueError):
        assert x.requires_grad == before
        return None
    return x.requires_grad


@pytest.mark.parametrize("kind", LEAVES)
@pytest.mark.parametrize("how", SETTERS)
@pytest.mark.parametrize("value", [True, False])
def test_the_flag_is_set_or_refused_as_in_pytorch(kind, how, value):
    """Integers and booleans cannot want gradients, and a result cannot stop wanting them."""
    assert outcome(mg, kind, how, value) == outcome(torch, kind, how, value)


def test_a_refused_flag_says_what_to_do():
    """The message names detach() for results, a conversion for integers, and booleans for other values."""
    with pytest.raises(mg.errors.GraphError, match=r"only a leaf can be changed; use detach\(\)"):
        (mg.ones(2, requires_grad=True) * 2.0).requires_grad = False
    with pytest.raises(TypeError, match=r"a tensor of int64 has no derivative.*\.float\(\)"):
        mg.tensor([1, 2]).requires_grad = True
    with pytest.raises(TypeError, match="assign True or False, not 1"):
        mg.ones(2).requires_grad = 1


def test_a_flag_that_is_assigned_decides_what_is_recorded():
    """A frozen parameter gets no gradient, and gets one again when it is thawed."""
    layer = mg.nn.Linear(2, 1)
    layer.weight.requires_grad = False
    layer(mg.ones(1, 2)).sum().backward()
    assert layer.weight.grad is None
    layer.weight.requires_grad = True
    layer(mg.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0]]


COPIES = {
    "the same": lambda p: p,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda p: pickle.loads(pickle.dumps(p)),
    "clone": lambda p: p.clone(),
    "detach": lambda p: p.detach(),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_parameters_attributes_are_kept_by_what_keeps_them_in_pytorch(how):
    """`p.no_weight_decay = True` marks a parameter; the same kinds of copy have the mark."""
    marks = []
    for lib in (mg, torch):
        p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
        p.no_weight_decay, p.parts = True, ["a"]
        twin = COPIES[how](p)
        marks.append((getattr(twin, "no_weight_decay", None), getattr(twin, "parts", None)))
    assert marks[0] == marks[1]


def test_attributes_of_parameters_choose_groups_of_an_optimizer():
    """Training scripts mark parameters and sort them by the mark; `step` keeps it."""
    model = mg.nn.Linear(3, 2)
    model.bias.no_weight_decay = True
    groups = [
        {"params": [p for p in model.parameters() if hasattr(p, "no_weight_decay")], "weight_decay": 0.0},
        {"params": [p for p in model.parameters() if not hasattr(p, "no_weight_decay")], "weight_decay": 0.1},
    ]
    optimizer = mg.optim.SGD(groups, lr=0.1)
    model(mg.ones(1, 3)).sum().backward()
    optimizer.step()
    assert model.bias.no_weight_decay
    assert not hasattr(model.weight, "no_weight_decay")
    with pytest.raises(AttributeError):
        mg.ones(2).no_weight_decay = True
