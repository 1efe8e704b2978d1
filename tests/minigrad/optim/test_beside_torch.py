"""Optimizers and schedules beside PyTorch's: arguments, groups of all kinds, states, and unusual parameters."""

import copy
import inspect

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg

LIBRARIES = [mg, torch]
OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"]
SCHEDULES = {
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "MultiStepLR": {"milestones": [2, 3], "gamma": 0.5},
    "LinearLR": {"total_iters": 3},
    "ExponentialLR": {"gamma": 0.5},
    "CosineAnnealingLR": {"T_max": 4},
    "LambdaLR": {"lr_lambda": lambda epoch: 0.5**epoch},
    "OneCycleLR": {"max_lr": 1.0, "total_steps": 20},
    "ReduceLROnPlateau": {"patience": 0},
}


def network(m, dtype="float32"):
    """Return a network with the same weights in both libraries."""
    net = m.nn.Sequential(m.nn.Linear(3, 4), m.nn.Tanh(), m.nn.Linear(4, 2)).to(getattr(m, dtype))
    weights = np.random.default_rng(0)
    with m.no_grad():
        for parameter in net.parameters():
            parameter.copy_(m.tensor(weights.normal(size=tuple(parameter.shape))))
    return net


def train(m, net, optimizer, steps=3):
    """Take steps, and return the parameters behind them."""
    for step in range(steps):
        optimizer.zero_grad()
        x = m.tensor(np.random.default_rng(step).normal(size=(5, 3))).to(next(net.parameters()).dtype)
        (net(x) ** 2).mean().backward()
        optimizer.step()
    return np.concatenate([p.detach().numpy().ravel() for p in net.parameters()])


def both(make, dtype="float64", **close):
    """Train with the optimizers that a function makes of a library and a network, and compare the parameters."""
    found = []
    for m in LIBRARIES:
        net = network(m, dtype)
        found.append(train(m, net, make(m, net)))
    np.testing.assert_allclose(*found, **{"rtol": 1e-10, **close})


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_optimizers_take_pytorchs_arguments(kind):
    """Each argument of PyTorch's, in its order or by keyword alone where it is so there, with its default."""
    ours, theirs = (
        {p.name: (p.kind, p.default) for p in inspect.signature(getattr(m.optim, kind).__init__).parameters.values()}
        for m in LIBRARIES
    )
    assert ours == theirs
    assert list(ours) == list(theirs)
    of_groups = inspect.signature(mg.optim.Optimizer.add_param_group).parameters
    assert list(of_groups) == list(inspect.signature(torch.optim.Optimizer.add_param_group).parameters)


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("option", ["foreach", "fused", "capturable"])
def test_options_of_speed_change_no_number(kind, option):
    """They are taken where PyTorch takes them, and the steps are those without them."""
    if option not in inspect.signature(getattr(torch.optim, kind)).parameters:
        with pytest.raises(TypeError, match=option):
            getattr(mg.optim, kind)(network(mg).parameters(), **{option: True})
        return
    found = []
    for options in ({}, {option: True}, {option: False}):
        net = network(mg)
        found.append(train(mg, net, getattr(mg.optim, kind)(net.parameters(), **options)).tolist())
    assert found[0] == found[1] == found[2]


def scheduled(m, net):
    """Return an optimizer whose groups carry what a schedule has written into them."""
    optimizer = m.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
    m.optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=20)
    return optimizer


GROUPS = {
    "named parameters": lambda m, net: m.optim.Adam(net.named_parameters(), lr=0.1),
    "groups of named parameters": lambda m, net: m.optim.SGD(
        [{"params": net[0].named_parameters()}, {"params": list(net[2].named_parameters()), "lr": 0.5}], lr=0.1
    ),
    "a generator of groups": lambda m, net: m.optim.AdamW({"params": [p], "lr": 0.1} for p in net.parameters()),
    "groups of generators": lambda m, net: m.optim.SGD([{"params": part.parameters()} for part in net], lr=0.1),
    "a group of one tensor": lambda m, net: m.optim.SGD([{"params": net[0].weight}], lr=0.1),
    "groups with further keys": lambda m, net: m.optim.AdamW(
        [{"params": net[0].parameters(), "name": "first", "lr_scale": 0.5, "layer_id": 3}], lr=0.1
    ),
    "groups of a schedule": lambda m, net: m.optim.SGD(
        [{"params": net.parameters(), "initial_lr": 0.7, "max_lr": 1.0, "lr": 0.2}], lr=0.1
    ),
    "groups of another optimizer": lambda m, net: m.optim.SGD(scheduled(m, net).param_groups, lr=0.1),
    "groups of another kind": lambda m, net: m.optim.Adam(m.optim.SGD(net.parameters(), lr=0.3).param_groups),
    "copied groups": lambda m, net: m.optim.Adam([{**g} for g in m.optim.Adagrad(net.parameters()).param_groups]),
    "a group without parameters": lambda m, net: m.optim.SGD([{"params": []}, {"params": net.parameters()}], lr=0.1),
    "settings in the group": lambda m, net: m.optim.SGD(
        [{"params": net.parameters(), "maximize": True, "momentum": 0.5, "nesterov": True}], lr=0.1
    ),
    "a schedule upon it": lambda m, net: (lambda o: (m.optim.lr_scheduler.LambdaLR(o, lambda e: 0.25), o)[1])(
        m.optim.SGD([{"params": net.parameters(), "initial_lr": 0.7}], lr=0.1)
    ),
}


@pytest.mark.parametrize("make", GROUPS.values(), ids=GROUPS)
def test_groups_are_those_of_pytorch(make):
    """Parameters train as there, and a group has PyTorch's values under the keys that it was given and that it got."""
    both(make)
    ours, theirs = (make(m, network(m)).param_groups for m in LIBRARIES)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        values = {key: list(v) if isinstance(v, tuple) else v for key, v in a.items() if key != "params"}
        wanted = {key: list(v) if isinstance(v, tuple) else v for key, v in b.items() if key != "params"}
        assert values == {key: wanted[key] for key in values}
        of_cycles = {"max_lr", "min_lr", "base_momentum", "max_momentum"}  # here the schedule's own
        assert set(wanted) - set(values) <= {"params", "foreach", "fused", "capturable", "amsgrad", *of_cycles}


def test_a_group_is_the_dictionary_that_was_given():
    """Who holds it changes the group's settings, in both; a group that is refused stays as it was."""
    for m in LIBRARIES:
        p = m.zeros(1, requires_grad=True)
        group = {"params": p, "lr": 0.5}
        optimizer = m.optim.SGD([group], lr=0.1)
        assert optimizer.param_groups[0] is group
        second = m.optim.SGD(optimizer.param_groups, lr=0.1)
        group["lr"] = 0.25
        p.grad = m.ones(1)
        second.step()
        assert p.item() == -0.25
        assert group["params"] == [p]
    group = {"params": mg.zeros(1, requires_grad=True), "lr": -1.0}
    with pytest.raises(ValueError, match=r"lr is -1\.0"):
        optimizer = mg.optim.SGD([group])
    assert list(group) == ["params", "lr"]


def test_optimizers_by_others():
    """A class of a user's own, which wraps an optimizer or keeps its own state, works as on PyTorch."""

    def make(m):
        class Sharp(m.optim.Optimizer):
            """Climbs by rho first, and steps with another optimizer (Foret and others, 2021)."""

            def __init__(self, params, base, rho=0.05, **settings):
                super().__init__(params, {"rho": rho, **settings})
                self.base = base(self.param_groups, **settings)
                self.param_groups = self.base.param_groups
                self.defaults.update(self.base.defaults)

            def step(self, closure=None):
                with m.no_grad():
                    for group in self.param_groups:
                        for p in group["params"]:
                            self.state[p]["old"] = p.detach().clone()
                            p.add_(p.grad, alpha=group["rho"])
                            p.copy_(self.state[p]["old"])
                self.base.step()

        class Counting(m.optim.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, {"lr": lr})

            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        state = self.state[p]
                        if len(state) == 0:
                            state["step"] = 0
                        state["step"] += 1
                        p.data.add_(p.grad, alpha=-group["lr"] / state["step"])

        return Sharp, Counting

    both(lambda m, net: make(m)[0](net.parameters(), m.optim.SGD, lr=0.1, momentum=0.9))
    both(lambda m, net: make(m)[1](net.parameters(), 0.1))


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1, 1)])
def test_parameters_of_any_size(kind, shape):
    """Steps of parameters without axes and without elements are PyTorch's, and so are the shapes of the state."""
    found = []
    for m in LIBRARIES:
        p = m.nn.Parameter(m.full(shape, 0.5))
        optimizer = getattr(m.optim, kind)([p], lr=0.1, weight_decay=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (p * p * 3.0).sum().backward()
            optimizer.step()
        state = optimizer.state_dict()["state"].get(0, {})
        shapes = {key: tuple(value.shape) for key, value in state.items() if key != "step"}
        found.append((p.detach().numpy(), shapes))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize(("before", "behind"), [("float64", "float32"), ("float32", "float64")])
def test_a_state_goes_on_in_another_type(kind, before, behind):
    """A state takes the type of the parameters that it is loaded for, and the steps go on as PyTorch's."""
    options = {"momentum": 0.9} if kind in ("SGD", "RMSprop") else {}

    def make(m, net):
        old = network(m, before)
        optimizer = getattr(m.optim, kind)(old.parameters(), lr=0.05, **options)
        train(m, old, optimizer)
        net.load_state_dict(old.state_dict())
        other = getattr(m.optim, kind)(net.parameters(), **options)
        other.load_state_dict(optimizer.state_dict())
        kinds = {str(x.dtype) for s in other.state.values() for key, x in s.items() if key != "step"}
        assert {kind.removeprefix("torch.") for kind in kinds} == {behind}
        return other

    both(make, behind, rtol=1e-5, atol=1e-7)  # float32 somewhere


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_state_has_pytorchs_names(kind):
    """So that what reads a state reads both."""
    names = []
    for m in LIBRARIES:
        net = network(m)
        options = {"momentum": 0.9} if kind in ("SGD", "RMSprop") else {}
        optimizer = getattr(m.optim, kind)(net.named_parameters(), **options)
        train(m, net, optimizer)
        state = optimizer.state_dict()
        names.append([sorted(state["state"][0]), state["param_groups"][0]["params"]])
        names[-1].append(state["param_groups"][0]["param_names"])
        twin = copy.deepcopy(optimizer)
        assert len(twin.state) == len(optimizer.state)
    assert names[0] == names[1]


def test_names_are_loaded_with_a_state():
    """Those of the state take the place of the optimizer's; where it has none they stay, as in PyTorch."""
    found = []
    for m in LIBRARIES:
        p = m.zeros(1, requires_grad=True)
        named, other, plain = (m.optim.SGD(x, lr=0.1) for x in ([("a", p)], [("b", p)], [p]))
        states = [named.state_dict(), plain.state_dict()]
        found.append([])
        for optimizer in (other, plain):
            for state in states:
                optimizer.load_state_dict(state)
                found[-1].append(optimizer.param_groups[0].get("param_names"))
    assert found[0] == found[1]


@pytest.mark.parametrize("min_lr", [0.0, [0.01]])
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_group_is_added_under_a_schedule(name, min_lr):
    """Rates of both groups are PyTorch's. Where it fails somehow, one sentence says so, before anything is changed."""
    plateau = name == "ReduceLROnPlateau"
    if not plateau and min_lr:
        return
    options = SCHEDULES[name] | ({"min_lr": min_lr} if plateau else {})
    found = []
    for m in LIBRARIES:
        p, q = (m.tensor([1.0], requires_grad=True) for _ in range(2))
        optimizer = m.optim.SGD([p], lr=1.0, momentum=0.9)
        schedule = getattr(m.optim.lr_scheduler, name)(optimizer, **options)
        numbers = (3.0,) if plateau else ()
        optimizer.step()
        schedule.step(*numbers)
        optimizer.add_param_group({"params": [q], "lr": 0.3})
        found.append([])
        try:
            for _ in range(5):
                schedule.step(*numbers)
                found[-1].append([group["lr"] for group in optimizer.param_groups])
        except (ValueError, KeyError, RuntimeError):
            found[-1] = "refused"
    if found[1] != "refused":
        np.testing.assert_allclose(*found, rtol=1e-9)
        return
    assert found[0] == "refused"
    p = mg.tensor([1.0], requires_grad=True)
    optimizer = mg.optim.SGD([p], lr=1.0, momentum=0.9)
    schedule = getattr(mg.optim.lr_scheduler, name)(optimizer, **options)
    optimizer.add_param_group({"params": mg.ones(1, requires_grad=True), "lr": 0.3})
    rates = schedule.get_last_lr()
    with pytest.raises(ValueError, match=f"{name}: the optimizer has 2 groups of parameters, and had 1 when the sch"):
        schedule.step(*numbers)
    assert (schedule.last_epoch, schedule.get_last_lr()) == (0, rates)
