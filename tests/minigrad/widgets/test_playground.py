"""The playground: three engines, one network, and training in slices."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import traitlets

from minigrad import autodiff, datasets, exercises, mlp, widgets
from minigrad.errors import ExerciseNotDone
from minigrad.widgets.networks import ACTIVATIONS, ENGINES, OPTIMIZERS, Numbers, ScalarTrainer, trainer
from minigrad.widgets.playing import thinned


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_engines_agree(activation, optimizer):
    """From the same numbers, all engines take the same steps, up to the rounding of float32."""
    points = datasets.circle(20, 1)
    start, losses, ends = Numbers.fresh([4, 3], activation, 2), {}, {}
    for engine in ENGINES:
        training = trainer(engine, start, points, optimizer)
        losses[engine] = [training.step(0.05).loss for _ in range(4)]
        ends[engine] = training.numbers()
    for engine in ENGINES[1:]:
        assert losses[engine] == pytest.approx(losses["scalar"], rel=1e-5)
        for ours, theirs in zip(ends[engine].weights, ends["scalar"].weights, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-4)
    assert losses["scalar"][-1] < losses["scalar"][0]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_what_is_drawn_is_what_the_network_says(activation):
    """The boundary is that of the trained network: the points on the right side are counted the same."""
    points = datasets.split(30, 3)
    training = trainer("tensor numba", Numbers.fresh([6], activation, 0), points, "Adam")
    for _ in range(30):
        training.step(0.1)
    sides = training.numbers().predict(np.array(points.X)) > 0.5
    assert training.step(0.1).correct == (sides == np.array(points.y, dtype=bool)).sum()


def test_the_raster_is_the_square_seen_from_above():
    """The top row has the largest x2, the left column the smallest x1."""
    upwards = Numbers([np.array([[0.0], [9.0]])], [np.zeros(1)], "relu")
    raster = upwards.raster(4)
    assert raster[0] == pytest.approx([1.0] * 4, abs=1e-3)
    assert raster[-1] == pytest.approx([0.0] * 4, abs=1e-3)


@pytest.mark.parametrize("data", list(datasets.DATASETS))
def test_it_learns(data):
    """Each of the six sets is learned well in a few hundred steps; the spiral, the hardest, better than by chance."""
    play = widgets.playground(data=data, optimizer="Adam", activation="tanh", hidden=[8, 8])
    play.step(300)
    assert play.epoch == 300
    assert play._losses[-1] < 0.15
    assert play.score.startswith("epoch 300, loss 0.")


def test_another_engine_goes_on():
    """A change of the engine keeps the numbers and the epoch; the loss falls on."""
    play = widgets.playground(data="simple")
    play.step(20)
    before = [array.copy() for array in play._numbers.weights]
    play.engine = "scalar"
    assert (play.epoch, play.running) == (20, False)
    assert all((a == b).all() for a, b in zip(before, play._numbers.weights, strict=True))
    play.step()
    assert play.epoch == 21
    assert isinstance(play._trainer, ScalarTrainer)
    assert play._losses[20] < play._losses[19]


@pytest.mark.parametrize("engine", ENGINES)
def test_another_rate_takes_part_at_once(engine):
    """A change of the learning rate keeps numbers and epoch, and the next step is as many times as long."""
    usual, other = (widgets.playground(data="simple", hidden=[3], engine=engine) for _ in range(2))
    for play in (usual, other):
        play.step(2)
    other.rate = 7.0 * usual.rate
    assert other.epoch == 2
    moves = []
    for play in (usual, other):
        before = play._numbers
        play.step()
        moves.append([new - old for new, old in zip(play._numbers.weights, before.weights, strict=True)])
    for short, long in zip(*moves, strict=True):
        assert np.abs(short).max() > 0.0
        assert long == pytest.approx(7.0 * short, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_another_optimizer_takes_part_at_once(engine):
    """A change to Adam keeps numbers and epoch; its first step moves each number by the rate, whatever the slope is."""
    play = widgets.playground(data="simple", hidden=[3], activation="tanh", engine=engine, rate=0.25)
    play.step(2)
    before = play._numbers
    play.optimizer = "Adam"
    assert "Adam" in play.said and play.epoch == 2
    play.step()
    for new, old in zip(play._numbers.weights, before.weights, strict=True):
        assert np.abs(new - old) == pytest.approx(np.full(old.shape, 0.25), rel=1e-3)


@pytest.mark.parametrize(("name", "value"), [("data", "diag"), ("hidden", [3]), ("activation", "tanh"), ("seed", 5)])
def test_what_begins_anew(name, value):
    """Another set, another network or another seed starts at epoch 0."""
    play = widgets.playground()
    play.step(2)
    setattr(play, name, value)
    assert play.epoch == 0
    assert play.score.startswith("epoch 0")


def test_a_slice_is_short_and_only_taken_while_running():
    """The page asks for slices; a slice that comes after a pause does nothing."""
    play = widgets.playground()
    play._hear("slice")
    assert (play.epoch, play.slices) == (0, 1)
    play.running = True
    play._hear("slice")
    assert play.epoch >= 1
    assert play.slices == 2
    assert play.said == "Training."
    play.running = False
    assert play.said.startswith(f"Paused: epoch {play.epoch}, loss")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), "Interrupted. Start goes on from here."),
        (ExerciseNotDone("mlp.SGD"), "This engine needs more than is there yet: "),
        (ValueError("no such thing"), "Training stopped: ValueError: no such thing"),
    ],
)
def test_what_ends_the_training(monkeypatch, error, said):
    """An interrupt, a missing exercise and an error of the student's code end it with a sentence; then it goes on."""
    play = widgets.playground(engine="scalar", hidden=[2])
    play.step(3)
    play.running = True

    def stop(*args):
        raise error

    monkeypatch.setattr(mlp.SGD, "step", stop)
    play._hear("slice")
    assert play.running is False
    assert play.said.startswith(said)
    assert play.epoch == 3
    monkeypatch.undo()
    play._hear("step")
    assert play.epoch == 4


def test_an_interrupt_between_two_slices():
    """It is kept for the next slice, which ends the training; after that interrupts are again what they were."""
    before = signal.getsignal(signal.SIGINT)
    play = widgets.playground(hidden=[2])
    play.running = True
    play._hear("slice")
    epoch = play.epoch
    signal.raise_signal(signal.SIGINT)
    play._hear("slice")
    assert (play.running, play.epoch) == (False, epoch)
    assert play.said == "Interrupted. Start goes on from here."
    assert signal.getsignal(signal.SIGINT) is before
    play.step()
    assert play.epoch == epoch + 1
    play._hear("step")
    assert signal.getsignal(signal.SIGINT) is before
    play.running = True
    play._hear("slice")
    assert play.epoch > epoch + 2
    play.running = False
    assert signal.getsignal(signal.SIGINT) is before


def test_your_answers_or_the_reference():
    """Training calls what a student has installed, or with the reference what it stands for; it stays installed."""
    calls = []

    def sort(variable, ours=autodiff.topological_sort):
        calls.append(variable)
        return ours(variable)

    with exercises.install({"autodiff.topological_sort": sort}):
        play = widgets.playground(engine="scalar", hidden=[2])
        assert "1 function or class of yours" in play.said
        play.step()
        assert len(calls) == 1
        play.library = "reference"
        play.step()
        assert len(calls) == 1
        assert exercises.installed() == ["autodiff.topological_sort"]
        assert autodiff.topological_sort is sort
        play.library = "with your answers"
        play.step()
        assert len(calls) == 2


def test_the_reference_comes_back_after_an_error():
    """Whatever happens in the block, the student's objects are installed again, the last on top."""

    def first(variable):
        return []

    def second(variable):
        return []

    def look_and_fail():
        with exercises.reference():
            assert autodiff.topological_sort not in (first, second)
            raise KeyError

    name = "autodiff.topological_sort"
    with exercises.install({name: first}), exercises.install({name: second}):
        with pytest.raises(KeyError):
            look_and_fail()
        assert autodiff.topological_sort is second
    assert autodiff.topological_sort not in (first, second)
    assert exercises.installed() == []


@pytest.mark.parametrize(
    "settings",
    [{"data": "moons"}, {"hidden": [17]}, {"hidden": [1] * 5}, {"hidden": [0]}, {"rate": 0.0}, {"engine": "cuda"}],
)
def test_settings_that_do_not_exist(settings):
    """A value that is none is refused."""
    with pytest.raises(traitlets.TraitError):
        widgets.playground(**settings)


@pytest.mark.parametrize("running", [False, True])
def test_seeds_that_do_not_exist(running):
    """A negative seed is refused with a sentence, at the beginning and later; the playground goes on without it."""
    with pytest.raises(traitlets.TraitError, match=r"^playground: seed=-1: give a whole number of 0 or more$"):
        widgets.playground(seed=-1)
    play = widgets.playground(seed=2, hidden=[2])
    play.running = running
    with pytest.raises(traitlets.TraitError, match=r"seed=-3: give a whole number of 0 or more"):
        play.seed = -3
    assert (play.seed, play.running) == (2, running)
    play.step()
    play.reset()
    assert play.epoch == 0


def test_settings_by_name():
    """A setting that is none is refused with the names of those that are."""
    with pytest.raises(TypeError, match="there is no setting 'units'; the settings are data, hidden"):
        widgets.playground(units=3)


def test_a_long_curve_is_thinned():
    """A loss curve keeps its ends and a few hundred points."""
    losses = [1.0 / n for n in range(1, 1001)]
    kept = thinned(losses)
    assert kept[0] == (1, 1.0)
    assert kept[-1] == (1000, 0.001)
    assert len(kept) <= 301
    assert thinned([]) == []


def test_what_a_page_shows_without_widgets():
    """Boundary, points and loss are a picture, too."""
    play = widgets.playground(data="xor")
    play.step(2)
    circles = play._points.y.count(0)
    boundary, _ = play.still()
    assert boundary.count("<circle") == circles
    assert boundary.count('height="6.8"') == 80 - circles > 0
    assert play.fallback().startswith("<div><strong>Playground</strong>")
    assert play.fallback().count("data:image/svg+xml") == 2


def test_no_point_is_cut_by_the_border():
    """Points at the corners of the square are drawn whole, in a page without widgets."""
    play = widgets.playground(data="xor")
    play.points = [[0.0, 0.0, 0], [1.0, 1.0, 0], [0.0, 1.0, 1], [1.0, 0.0, 1]]
    picture = play.still()[0]
    circles = np.array(re.findall(r'<circle cx="(.*?)" cy="(.*?)" r="3.6"', picture), dtype=float)
    squares = np.array(re.findall(r'<rect x="(\S+)" y="(\S+)" width="6.8"', picture), dtype=float)
    assert circles.shape == squares.shape == (2, 2)
    stroke = 0.6
    assert ((circles >= 3.6 + stroke) & (circles <= 240.0 - 3.6 - stroke)).all()
    assert ((squares >= stroke) & (squares <= 240.0 - 6.8 - stroke)).all()


def test_widgets_are_imported_when_they_are_used():
    """Neither minigrad nor minigrad.widgets imports anywidget before a widget is asked for."""
    code = "import sys, minigrad; minigrad.widgets; print('anywidget' in sys.modules, minigrad.widgets.__all__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    names = ["backprop", "broadcast_explorer", "derivative_explorer", "index_explorer", "memory_puzzle", "playground"]
    assert done.stdout.strip() == f"False {names}"


def test_a_widget_that_does_not_exist():
    """A name that is none is an AttributeError, as in any module."""
    with pytest.raises(AttributeError, match=r"'minigrad\.widgets' has no attribute 'stepper_'"):
        _ = widgets.stepper_
    assert {"backprop", "playground"} <= set(dir(widgets))
