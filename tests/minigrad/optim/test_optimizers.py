"""Optimizers and schedules: steps, groups, state, and that they agree with PyTorch's."""

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn, optim

SETTINGS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd with decay": ("SGD", {"lr": 0.1, "weight_decay": 0.2}),
    "sgd with momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "sgd with momentum, dampening and decay": (
        "SGD",
        {"lr": 0.1, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1},
    ),
    "nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam with everything": ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    "adamw": ("AdamW", {"lr": 0.1, "weight_decay": 0.2}),
    "rmsprop": ("RMSprop", {"lr": 0.1}),
    "rmsprop with momentum": ("RMSprop", {"lr": 0.05, "momentum": 0.9, "alpha": 0.8, "eps": 1e-3}),
    "rmsprop, centered": ("RMSprop", {"lr": 0.05, "centered": True, "weight_decay": 0.1}),
    "rmsprop with everything": (
        "RMSprop",
        {"lr": 0.05, "alpha": 0.9, "eps": 1e-2, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
    ),
    "adagrad": ("Adagrad", {"lr": 0.1}),
    "adagrad with everything": (
        "Adagrad",
        {"lr": 0.3, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3},
    ),
    "adadelta": ("Adadelta", {"lr": 1.0}),
    "adadelta with everything": ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    "sgd, upwards": ("SGD", {"lr": 0.1, "maximize": True}),
    "sgd with momentum, upwards": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    "adam, upwards": ("Adam", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    "adam with direct decay": ("Adam", {"lr": 0.1, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    "adamw, upwards": ("AdamW", {"lr": 0.1, "maximize": True}),
    "rmsprop, upwards": ("RMSprop", {"lr": 0.1, "maximize": True}),
    "adagrad, upwards": ("Adagrad", {"lr": 0.1, "maximize": True}),
    "adadelta, upwards": ("Adadelta", {"lr": 0.1, "maximize": True}),
}
START = np.random.default_rng(0).normal(size=(3, 4))
GRADIENTS = np.random.default_rng(1).normal(size=(6, 3, 4))


def leaf(values, **options):
    return mg.tensor(np.array(values), requires_grad=True, **options)


def steps(lib, kind, settings, start=START, gradients=GRADIENTS):
    """Take steps with given gradients, the third of them missing; return the values after each."""
    p = lib.tensor(np.array(start), requires_grad=True)
    optimizer = getattr(lib.optim, kind)([p], **settings)
    seen = []
    for number, gradient in enumerate(gradients):
        p.grad = None if number == 2 else lib.tensor(np.array(gradient))
        optimizer.step()
        seen.append(np.array(p.detach().numpy()))
    return seen


@pytest.mark.parametrize("case", SETTINGS.values(), ids=SETTINGS)
def test_steps_are_those_of_pytorch(case):
    """Six steps, one of them without a gradient, lead where PyTorch's lead."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    np.testing.assert_allclose(steps(mg, *case), steps(torch, *case), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"])
def test_the_settings_that_are_not_given_are_pytorchs(kind):
    """Without any setting the steps are PyTorch's, too."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    np.testing.assert_allclose(steps(mg, kind, {}), steps(torch, kind, {}), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", SETTINGS.values(), ids=SETTINGS)
def test_steps_of_large_and_of_strided_parameters(case):
    """A parameter that is changed piece by piece, and one that lies in columns, come to the same values."""
    kind, settings = case
    start = np.random.default_rng(2).normal(size=(200, 301))
    gradients = np.random.default_rng(3).normal(size=(3, 200, 301))
    wanted = [steps(mg, kind, settings, start[:, k], gradients[:, :, k])[-1] for k in (0, 150, 300)]
    found = steps(mg, kind, settings, start, gradients)[-1]
    np.testing.assert_allclose([found[:, k] for k in (0, 150, 300)], wanted, rtol=1e-12)
    base = mg.tensor(start.T)
    p = base.T.detach().requires_grad_()
    optimizer = getattr(optim, kind)([p], **settings)
    for number, gradient in enumerate(gradients):
        p.grad = None if number == 2 else mg.tensor(gradient)
        optimizer.step()
    np.testing.assert_allclose(p.detach().numpy(), found, rtol=1e-12)


def test_a_step_changes_the_parameter_in_place():
    """The tensor, its array and views of it stay the same objects; only the numbers change."""
    p = leaf(START)
    array, view = p._array, p.detach()[0]
    (p * p).sum().backward()
    optim.SGD([p], lr=0.25).step()
    assert p._array is array
    np.testing.assert_allclose(view.numpy(), START[0] * 0.5)


def test_a_step_keeps_the_type():
    """float32 parameters stay float32, and so does what the optimizer remembers."""
    p = leaf(START, dtype="float32")
    optimizer = optim.Adam([p])
    (p * p).sum().backward()
    optimizer.step()
    kinds = {str(x.dtype) for x in (p, optimizer.state[p]["exp_avg"], optimizer.state[p]["exp_avg_sq"])}
    assert kinds == {"float32"}


@pytest.mark.parametrize("case", SETTINGS.values(), ids=SETTINGS)
def test_backward_through_a_changed_parameter_is_refused(case):
    """A graph that needs the values before a step says so, instead of computing with those after it."""
    kind, settings = case
    p = leaf(START)
    loss = (p * p).sum()
    p.grad = mg.tensor(START)
    getattr(optim, kind)([p], **settings).step()
    with pytest.raises(mg.errors.GraphError, match="changed in place"):
        loss.backward()


def test_groups_have_settings_of_their_own():
    """A group's own learning rate counts for its parameters, the default for the others."""
    a, b = leaf([1.0]), leaf([1.0])
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    a.grad = b.grad = mg.tensor([1.0], dtype="float64")
    optimizer.step()
    assert [a.item(), b.item()] == pytest.approx([0.9, 0.5])
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]


def test_zero_grad():
    """zero_grad forgets gradients, or fills them with zeros."""
    p = leaf([1.0, 2.0])
    optimizer = optim.SGD([p], lr=0.1)
    (p * p).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert p.grad is None


def test_step_calls_the_closure():
    """A closure computes the loss, and step returns it."""
    p = leaf([3.0])
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 9.0
    assert p.item() == 0.0


@pytest.mark.parametrize("case", SETTINGS.values(), ids=SETTINGS)
def test_state_goes_on_where_it_stopped(case, tmp_path):
    """Saved to a file after three steps and loaded into a new optimizer, the next three steps are the same."""
    kind, settings = case
    p = leaf(START)
    optimizer = getattr(optim, kind)([p], **settings)
    for gradient in GRADIENTS[:3]:
        p.grad = mg.tensor(gradient)
        optimizer.step()
    mg.save(optimizer.state_dict(), tmp_path / "optimizer")
    q = leaf(p.detach().numpy())
    other = getattr(optim, kind)([q], lr=7.0)
    other.load_state_dict(mg.load(tmp_path / "optimizer"))
    for gradient in GRADIENTS[3:]:
        p.grad, q.grad = mg.tensor(gradient), mg.tensor(gradient)
        optimizer.step()
        other.step()
    assert p.tolist() == q.tolist()
    assert other.param_groups[0]["lr"] == settings["lr"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: optim.SGD([], lr=0.1), ValueError, "no parameters"),
        (lambda p: optim.SGD(p, lr=0.1), TypeError, r"\[tensor\]"),
        (lambda p: optim.SGD([1.0], lr=0.1), TypeError, "float"),
        (lambda p: optim.SGD([p * 2.0], lr=0.1), ValueError, "is a result"),
        (lambda p: optim.SGD([p, p], lr=0.1), ValueError, "twice"),
        (lambda p: optim.SGD([p], lr=-0.1), ValueError, "lr is -0.1"),
        (lambda p: optim.SGD([p], lr=float("nan")), ValueError, "lr is nan"),
        (lambda p: optim.SGD([p], lr=0.1, nesterov=True), ValueError, "nesterov"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), ValueError, "betas is 1.0"),
        (lambda p: optim.Adam([{"params": [p], "momentum": 0.9}]), ValueError, "no setting momentum"),
        (lambda p: optim.Adam([{"params": [p], "wieght_decay": 0.9}]), ValueError, "no setting wieght_decay"),
        (lambda p: optim.Adadelta([p], rho=1.5), ValueError, "rho is 1.5; it must be between 0 and 1"),
        (lambda p: optim.SGD([p], lr=mg.tensor(0.1)), TypeError, r"lr is a Tensor; give a number, such as lr.item\(\)"),
        (lambda p: optim.SGD({p}, lr=0.1), TypeError, "give tensors to train"),
        (lambda p: optim.SGD([{"params": {p}}], lr=0.1), TypeError, "a set has no order"),
        (lambda p: optim.SGD([("w", p), p], lr=0.1), ValueError, "1 of 2 parameters have names; name all or none"),
        (lambda p: optim.SGD([{"params": [("w", p)]}, {"params": []}], lr=0.1), ValueError, "name all or none"),
        (lambda p: optim.SGD([p]).add_param_group([p]), TypeError, "is a dictionary, got a list"),
        (lambda p: optim.SGD([p], differentiable=True), ValueError, "torch's differentiable is not in minigrad"),
        (lambda p: optim.AdamW([{"params": p, "amsgrad": True}]), ValueError, "torch's amsgrad is not in minigrad"),
    ],
)
def test_settings_that_are_refused(make, error, words):
    """What cannot be meant is refused in one sentence."""
    with pytest.raises(error, match=words):
        make(leaf([1.0]))


def test_a_state_of_other_parameters_is_refused():
    """A state for another number of parameters, or for other shapes, is refused and changes nothing."""
    a, b = leaf([1.0]), leaf([1.0, 2.0])
    optimizer, other = optim.Adam([a]), optim.Adam([b])
    b.grad = b.detach()
    other.step()
    with pytest.raises(ValueError, match=r"shape \(2,\), its parameter \(1,\)"):
        optimizer.load_state_dict(other.state_dict())
    with pytest.raises(ValueError, match="groups have"):
        optimizer.load_state_dict(optim.Adam([a, b]).state_dict())
    assert optimizer.state == {}


# --- schedules --------------------------------------------------------------------------------------------------

SCHEDULES = {
    "step": ("StepLR", {"step_size": 3, "gamma": 0.5}),
    "exponential": ("ExponentialLR", {"gamma": 0.8}),
    "cosine": ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    "cosine to zero": ("CosineAnnealingLR", {"T_max": 4}),
    "lambda": ("LambdaLR", {"lr_lambda": lambda epoch: 1.0 / (1 + epoch)}),
    "lambdas": ("LambdaLR", {"lr_lambda": [lambda epoch: 0.5**epoch, lambda epoch: 1.0]}),
}


def rates(lib, p, q, schedules):
    optimizer = lib.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.3}], lr=0.1)
    made = [getattr(lib.optim.lr_scheduler, kind)(optimizer, **options) for kind, options in schedules]
    seen = [made[0].get_last_lr()]
    for _ in range(14):
        optimizer.step()
        for schedule in made:
            schedule.step()
        seen.append(made[0].get_last_lr() if len(made) == 1 else [g["lr"] for g in optimizer.param_groups])
    return seen


@pytest.mark.parametrize("case", SCHEDULES.values(), ids=SCHEDULES)
def test_schedule_is_that_of_pytorch(case):
    """Fifteen epochs have PyTorch's learning rates, in both groups."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    ours = rates(mg, leaf([1.0]), leaf([1.0]), [case])
    theirs = rates(torch, torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True), [case])
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_two_schedules_work_together():
    """Two schedules of one optimizer multiply their factors, as in PyTorch."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    both = [SCHEDULES["exponential"], SCHEDULES["step"]]
    ours = rates(mg, leaf([1.0]), leaf([1.0]), both)
    theirs = rates(torch, torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True), both)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


ONE_CYCLES = {
    "plain": {"max_lr": 0.5, "total_steps": 15},
    "by epochs": {"max_lr": 0.5, "epochs": 3, "steps_per_epoch": 5},
    "lines": {"max_lr": 0.5, "total_steps": 15, "anneal_strategy": "linear", "pct_start": 0.5},
    "three phases": {"max_lr": 0.5, "total_steps": 15, "three_phase": True},
    "each group": {"max_lr": [0.5, 2.0], "total_steps": 15, "div_factor": 5.0, "final_div_factor": 10.0},
    "other momenta": {"max_lr": 0.5, "total_steps": 15, "base_momentum": 0.1, "max_momentum": 0.6},
    "the same momentum": {"max_lr": 0.5, "total_steps": 15, "cycle_momentum": False},
}


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("options", ONE_CYCLES.values(), ids=ONE_CYCLES)
def test_one_cycle_is_that_of_pytorch(options, kind):
    """Rates and momenta of all steps are PyTorch's, in both groups, for momentum and for betas."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    seen = []
    for lib in (mg, torch):
        p, q = (lib.tensor([1.0], requires_grad=True) for _ in range(2))
        more = {"momentum": 0.9} if kind == "SGD" else {}
        optimizer = getattr(lib.optim, kind)([{"params": [p]}, {"params": [q], "lr": 0.3}], lr=0.1, **more)
        schedule = lib.optim.lr_scheduler.OneCycleLR(optimizer, **options)
        seen.append([])
        for step in range(16):
            groups = optimizer.param_groups
            momenta = [group["momentum"] if kind == "SGD" else group["betas"][0] for group in groups]
            seen[-1].append([*schedule.get_last_lr(), *momenta])
            if step < 15:
                optimizer.step()
                schedule.step()
    np.testing.assert_allclose(*seen, rtol=1e-12)


LOSSES = [
    3.0,
    2.0,
    2.1,
    2.0,
    1.9999,
    1.5,
    1.6,
    1.6,
    1.6,
    1.6,
    1.6,
    1.6,
    1.6,
    1.4,
    1.5,
    1.5,
    1.5,
    1.5,
    1.5,
    float("nan"),
]
PLATEAUS = {
    "patient": {"patience": 2},
    "impatient": {"patience": 0, "factor": 0.5},
    "largest": {"mode": "max", "patience": 1},
    "absolute": {"patience": 1, "threshold_mode": "abs", "threshold": 0.3},
    "absolute, largest": {"mode": "max", "patience": 1, "threshold_mode": "abs", "threshold": 0.3},
    "cooling down": {"patience": 1, "cooldown": 2, "factor": 0.5},
    "lowest rates": {"patience": 0, "min_lr": [0.05, 0.2]},
    "small changes": {"patience": 0, "eps": 0.05},
}


@pytest.mark.parametrize("options", PLATEAUS.values(), ids=PLATEAUS)
def test_plateaus_are_those_of_pytorch(options):
    """Rates are lowered when PyTorch lowers them, in both groups, also of a schedule that was loaded half-way."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    seen = []
    for lib in (mg, torch):
        p, q = (lib.tensor([1.0], requires_grad=True) for _ in range(2))
        optimizer = lib.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.3}], lr=1.0)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen.append([])
        for step, loss in enumerate(LOSSES):
            schedule.step(lib.tensor(loss) if step % 2 else loss)
            seen[-1].append([group["lr"] for group in optimizer.param_groups])
            if step == 10:
                old, schedule = schedule, lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
                schedule.load_state_dict(old.state_dict())
    np.testing.assert_allclose(*seen, rtol=1e-12)


def test_schedules_end_or_ask_for_a_number():
    """A cycle has an end, and a plateau needs a number."""
    optimizer = optim.SGD([leaf([1.0])], lr=1.0, momentum=0.9)
    cycle = optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    cycle.step(), cycle.step()
    with pytest.raises(ValueError, match="step 3 of a cycle that has 2"):
        cycle.step()
    with pytest.raises(TypeError, match="step needs the number that is to improve"):
        optim.lr_scheduler.ReduceLROnPlateau(optimizer).step()


def test_step_schedule_drops():
    """StepLR of 2 epochs and 0.1 gives 1, 1, 0.1, 0.1, 0.01."""
    optimizer = optim.SGD([leaf([1.0])], lr=1.0)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2)
    seen = []
    for _ in range(5):
        seen.append(schedule.get_last_lr()[0])
        schedule.step()
    assert seen == pytest.approx([1.0, 1.0, 0.1, 0.1, 0.01])


def test_schedule_goes_on_where_it_stopped():
    """With the states of optimizer and schedule loaded, the rates go on as before."""
    first = optim.SGD([leaf([1.0])], lr=1.0)
    schedule = optim.lr_scheduler.CosineAnnealingLR(first, T_max=5)
    for _ in range(3):
        schedule.step()
    second = optim.SGD([leaf([1.0])], lr=9.0)
    other = optim.lr_scheduler.CosineAnnealingLR(second, T_max=5)
    second.load_state_dict(first.state_dict())
    other.load_state_dict(schedule.state_dict())
    schedule.step()
    other.step()
    assert other.get_last_lr() == schedule.get_last_lr()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda o: optim.lr_scheduler.StepLR(o, 0), ValueError, "step_size is 0"),
        (lambda o: optim.lr_scheduler.CosineAnnealingLR(o, T_max=0), ValueError, "T_max is 0"),
        (lambda o: optim.lr_scheduler.LambdaLR(o, [lambda e: e, lambda e: e]), ValueError, "2 functions for 1 group"),
        (lambda o: optim.lr_scheduler.OneCycleLR(o, 1.0), ValueError, "give total_steps, or both"),
        (lambda o: optim.lr_scheduler.OneCycleLR(o, 1.0, 0), ValueError, "0 steps, pct_start"),
        (lambda o: optim.lr_scheduler.OneCycleLR(o, 1.0, 9, pct_start=2), ValueError, "a part between 0 and 1"),
        (lambda o: optim.lr_scheduler.OneCycleLR(o, 1.0, 9, anneal_strategy="x"), ValueError, "'cos' or 'linear'"),
        (lambda o: optim.lr_scheduler.OneCycleLR(o, [1.0, 2.0], 9), ValueError, "2 rates for 1 group"),
        (
            lambda o: optim.lr_scheduler.OneCycleLR(optim.Adagrad([leaf([1.0])]), 1.0, 9),
            ValueError,
            "no momentum to change",
        ),
        (lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "they must be below 1"),
        (lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, "least"), ValueError, "'min' or 'max'"),
        (lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, min_lr=[0, 1]), ValueError, "2 lowest rates for 1 group"),
        (lambda o: optim.lr_scheduler.StepLR(o.param_groups, 1), TypeError, "got a list"),
    ],
)
def test_schedules_that_are_refused(make, error, words):
    """What cannot be meant is refused in one sentence."""
    with pytest.raises(error, match=words):
        make(optim.SGD([leaf([1.0])], lr=1.0))


# --- clipping ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clip_grad_norm(norm_type, max_norm):
    """Norm and gradients are PyTorch's, clipped or not."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra bench): nothing to compare with")
    found = []
    for lib, utils in ((mg, nn.utils), (torch, torch.nn.utils)):
        parameters = [lib.tensor(np.zeros(shape), requires_grad=True) for shape in ((2, 3), (4,), (1,))]
        for p, seed in zip(parameters[:2], (1, 2), strict=True):
            p.grad = lib.tensor(np.random.default_rng(seed).normal(size=tuple(p.shape)))
        norm = utils.clip_grad_norm_(iter(parameters), max_norm, norm_type)
        found.append([float(norm), *np.concatenate([p.grad.numpy().ravel() for p in parameters[:2]])])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_clip_grad_norm_of_nan():
    """A norm of nan is handed on, or refused where that is asked for."""
    p = leaf([1.0])
    p.grad = mg.tensor([float("nan")], dtype="float64")
    with pytest.raises(ValueError, match="norm of the gradients is nan"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert np.isnan(nn.utils.clip_grad_norm_([p], 1.0).item())


def test_clip_grad_value():
    """Every element is moved into the range."""
    p = leaf([0.0, 0.0, 0.0])
    p.grad = mg.tensor([-5.0, 0.5, 7.0], dtype="float64")
    nn.utils.clip_grad_value_(p, 1.0)
    assert p.grad.tolist() == [-1.0, 0.5, 1.0]
