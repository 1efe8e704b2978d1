"""Pictures of a network of scalars: its numbers at a moment, its loss, and the fold that ReLU makes."""

import math

import numpy as np
import pytest

import minigrad
from minigrad import datasets, draw
from minigrad.draw.boundary import Numbers, folding, loss_curve, snapshot
from minigrad.mlp import MLP, Epoch, fit

POINTS = datasets.split(40, seed=1)
FOLD = ((-1.0, 0.0, 0.38), (1.0, 0.0, -0.62), (10.0, 10.0, -1.8))


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@pytest.mark.parametrize("sizes", [(2,), (2, 3), (2, 4, 3)])
def test_numbers_say_what_the_network_says(sizes):
    """The copy gives the probabilities that belong to the network's logits, for any depth."""
    model = MLP(sizes, seed=3)
    places = [(0.0, 0.0), (0.3, 0.9), (-2.0, 5.0)]
    wanted = [sigmoid(model(place).data) for place in places]
    assert Numbers(model).predict(np.array(places)) == pytest.approx(wanted, abs=1e-12)


def test_numbers_do_not_overflow():
    """A logit far out gives a probability of 0 or 1, without a warning."""
    model = MLP((2,), seed=0)
    far = Numbers(model).predict(np.array([(1e6, 1e6), (-1e6, -1e6)]))
    assert sorted(far) == [0.0, 1.0]


def test_snapshot_stays_as_it_was():
    """A moment keeps the numbers of its time, while training goes on."""
    model = MLP((2, 3), seed=1)
    before = Numbers(model).predict(np.array(POINTS.X))
    moment = snapshot(model, Epoch(4, 0.5, 30))
    list(fit(model, POINTS, epochs=2))
    assert (moment.step, moment.loss, moment.correct) == (4, 0.5, 30)
    assert moment.network.predict(np.array(POINTS.X)) == pytest.approx(before, abs=0.0)
    assert Numbers(model).predict(np.array(POINTS.X)) != pytest.approx(before, abs=1e-6)


def test_film_takes_moments():
    """Moments can be shown side by side."""
    model = MLP((2, 3), seed=1)
    moments = [snapshot(model, epoch) for epoch in fit(model, POINTS, epochs=2)]
    picture = draw.film(moments, POINTS)
    assert len(picture.figure.axes) == 2
    assert picture.png().startswith(b"\x89PNG")


def test_film_of_nothing():
    """Without a moment there is a sentence, not one of the plotting library's."""
    with pytest.raises(ValueError, match="no moment to draw"):
        draw.film([], POINTS)


def test_loss_curve_of_nothing():
    """Without a loss, as after a training that failed, there is a sentence and no IndexError."""
    with pytest.raises(ValueError, match="no loss to draw"):
        loss_curve([])


def test_loss_curve():
    """The curve begins at epoch 1, shows every loss, and the axis of the loss begins at 0."""
    picture = loss_curve([0.7, 0.5, 0.2], "title")
    (ax,) = picture.figure.axes
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 0.7], [2.0, 0.5], [3.0, 0.2]]
    assert ax.get_ylim()[0] == 0.0
    assert ax.get_title() == "title"
    assert "from 0.700 to 0.200" in picture.caption


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_epochs_are_whole_numbers(count):
    """No half epoch stands along the axis, however short the training was."""
    (ax,) = loss_curve([1.0] * count).figure.axes
    assert all(tick.is_integer() for tick in ax.get_xticks())


def folded_points(picture):
    """The places of the points in the middle panel."""
    return np.concatenate([collection.get_offsets() for collection in picture.figure.axes[1].collections])


def test_fold_puts_points_on_the_axes():
    """Two units that are never positive together leave every point on an axis."""
    picture = folding(POINTS, *FOLD)
    places = folded_points(picture)
    assert len(places) == len(POINTS)
    assert (places.min(axis=1) == 0.0).all()
    assert (places.max(axis=0) > 0.2).all()
    assert f"{len(POINTS)} of {len(POINTS)} points" in picture.caption


def test_fold_counts_what_is_off_the_axes():
    """Where both units are positive a point keeps both numbers, and is not counted."""
    points = datasets.Points("three", [(0.2, 0.2), (0.9, 0.9), (0.4, 0.1)], [0, 1, 0])
    picture = folding(points, (1.0, 0.0, -0.3), (0.0, 1.0, -0.3), (1.0, 1.0, -0.5))
    assert "2 of 3 points" in picture.caption
    assert sorted(map(tuple, folded_points(picture).round(9))) == [(0.0, 0.0), (0.1, 0.0), (0.6, 0.6)]


def test_line_unfolds_to_the_boundary():
    """The straight line h1 + h2 = 0.18 is the pair of lines x1 = 0.2 and x1 = 0.8 in the plane of the points."""
    after = folding(POINTS, *FOLD).figure.axes[2]
    boundary = after.collections[1].get_paths()
    xs = np.concatenate([path.vertices[:, 0] for path in boundary])
    assert sorted(set(xs.round(6))) == [0.2, 0.8]


@pytest.mark.parametrize(
    ("first", "output"),
    [
        ((0.0, 0.0, -1.0), (1.0, 1.0, -1.0)),
        pytest.param((0.0, 0.0, 1.0), (1.0, 0.0, -0.5), marks=pytest.mark.full("a second picture is drawn", share=4)),
    ],
)
def test_units_that_draw_no_line(first, output):
    """A unit that is positive nowhere or everywhere, or an output without a line, is no error."""
    assert folding(POINTS, first, (1.0, 0.0, -0.5), output).png().startswith(b"\x89PNG")


@pytest.mark.parametrize("losses", [np.array([3.0, 2.0]), minigrad.tensor([3.0, 2.0]), iter([3.0, 2.0])])
def test_losses_of_other_kinds(losses):
    """Arrays and tensors are drawn as lists are."""
    assert repr(loss_curve(losses)) == "Picture: loss over 2 epochs, from 3.000 to 2.000"


@pytest.mark.parametrize("losses", [3.0, "ab", np.zeros((2, 2))])
def test_losses_that_are_none(losses):
    """What is not one number after another is refused in a sentence."""
    with pytest.raises(TypeError, match="loss_curve: takes one number for each epoch, not "):
        loss_curve(losses)
