"""What lesson 08b has students write agrees with the library that stands on it, and with PyTorch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch import torch

import minigrad
from minigrad import data, exercises, nn, optim, training
from minigrad.errors import ExerciseNotDone
from minigrad.machine import overrides

SHAPES = [(3, 5), (1, 64), (8, 3, 5, 5), (4, 2, 3), (2, 3, 2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fans_are_pytorchs(shape):
    """Both fans are those by which PyTorch initialises."""
    assert training.fans(shape) == torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.0])
def test_initial_weights_have_the_deviations(slope):
    """The library and PyTorch fill weights with numbers of the deviations that the formulas give."""
    shape = (200, 30, 3, 3)
    for library in (nn.init, torch.nn.init):
        weight = minigrad.zeros(*shape) if library is nn.init else torch.zeros(shape)
        for kind in ("uniform", "normal"):
            getattr(library, f"kaiming_{kind}_")(weight, a=slope)
            assert weight.std().item() == pytest.approx(training.kaiming_std(shape, slope), rel=0.02)
            getattr(library, f"xavier_{kind}_")(weight)
            assert weight.std().item() == pytest.approx(training.xavier_std(shape), rel=0.02)


def test_a_signal_keeps_its_size():
    """Behind a leaky ReLU the mean square stays the same through ten layers of Kaiming's weights, for each slope."""
    rng = np.random.default_rng(0)
    for slope in (0.0, 0.3, 1.0):
        x = rng.normal(size=(200, 300))
        for _ in range(10):
            x = x @ rng.normal(0.0, training.kaiming_std((300, 300), slope), (300, 300)).T
            x = np.where(x > 0.0, x, slope * x)
        assert 0.7 < np.sqrt(np.mean(x * x)) < 1.4


OPTIMIZERS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.25, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "nesterov": True}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.5, 0.75), "eps": 0.1, "weight_decay": 0.2}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.2}),
]


def walked(library, name, settings, steps=5):
    """Where an optimizer leads, from known gradients."""
    start = np.array([[1.0, -2.0], [0.5, 3.0]])
    p = library.tensor(start.tolist(), dtype=library.float64, requires_grad=True)
    optimizer, rng = getattr(library.optim, name)([p], **settings), np.random.default_rng(3)
    for _ in range(steps):
        p.grad = library.tensor(rng.normal(size=start.shape).tolist(), dtype=library.float64)
        optimizer.step()
    return p.detach().tolist()


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS, ids=str)
def test_optimizers_take_the_steps_that_are_written(name, settings):
    """By its quick rule and by the step that students write, an optimizer goes where PyTorch's does."""
    quick = walked(minigrad, name, settings)
    overrides.use_twins(False)
    try:
        written = walked(minigrad, name, settings)
    finally:
        overrides.use_twins(True)
    assert written == pytest.approx(np.array(quick), rel=1e-12)
    assert quick == pytest.approx(np.array(walked(torch, name, settings)), rel=1e-9)


def test_optimizers_take_a_students_steps():
    """A student's step is the one that is taken, for small parameters and for those done in pieces."""
    stays = {
        "training.sgd_step": lambda p, grad, velocity, lr, momentum=0.0: (p, velocity),
        "training.adam_step": lambda p, grad, mean, square, step, *settings: (p, mean, square),
    }
    for size in (3, 40_000):
        for name, chosen in OPTIMIZERS[:1] + OPTIMIZERS[3:4]:
            p = minigrad.ones(size, requires_grad=True)
            p.grad = minigrad.ones(size)
            optimizer = getattr(optim, name)([p], **chosen)
            with exercises.install(stays):
                optimizer.step()
            assert p.tolist() == [1.0] * size
            optimizer.step()
            assert p.tolist() != [1.0] * size


def test_a_loader_goes_through_a_students_batches():
    """A loader asks for the batches that are installed, and for their number."""

    class Pairs:
        def __init__(self, count, batch_size, rng=None, drop_last=False):
            self.shuffled = rng is not None

        def __len__(self):
            return 7

        def __iter__(self):
            return iter([[2, 0]])

    examples = data.TensorDataset(minigrad.tensor([1.0, 2.0, 3.0]))
    with exercises.install({"training.Batches": Pairs}):
        loader = data.DataLoader(examples, batch_size=3, shuffle=True)
        assert [batch.tolist() for (batch,) in loader] == [[3.0, 1.0]]
        assert len(loader) == 7


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.integers(1, 20), st.booleans(), st.one_of(st.none(), st.integers(0, 5)))
def test_batches_obey_their_law(count, batch_size, drop_last, seed):
    """Every epoch of the batches is an epoch by the law, and has as many batches as it says."""
    rng = None if seed is None else np.random.default_rng(seed)
    made = training.Batches(count, batch_size, rng, drop_last)
    for _ in range(2):
        epoch = list(made)
        assert training.is_epoch(epoch, count, batch_size, drop_last)
        assert len(epoch) == len(made)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 10), st.booleans(), st.data())
def test_the_law_notices_each_change(count, batch_size, drop_last, drawn):
    """An epoch that loses, repeats or gains a number, in whatever batch, is none any more."""
    epoch = list(training.Batches(count, batch_size, np.random.default_rng(0), drop_last))
    if not epoch:
        return
    place = drawn.draw(st.integers(0, len(epoch) - 1))
    batch = epoch[place]
    for changed in (batch[:-1], [*batch[:-1], count], [*batch[:-1], -1], [*batch, batch[0]]):
        broken = [*epoch[:place], changed, *epoch[place + 1 :]]
        assert not training.is_epoch(broken, count, batch_size, drop_last)


def test_an_edition_without_the_step_says_so(monkeypatch):
    """Where an edition has cut the step, an optimizer names the exercise that is missing."""

    def cut(*_):
        raise ExerciseNotDone("training.adam_step is not done yet")

    monkeypatch.setattr(training, "adam_step", cut)
    overrides.use_twins(False)
    try:
        with pytest.raises(ExerciseNotDone, match="adam_step"):
            walked(minigrad, "Adam", {})
    finally:
        overrides.use_twins(True)
