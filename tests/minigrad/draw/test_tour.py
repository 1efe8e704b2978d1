"""The stand-in network that the course opens with."""

import numpy as np
import pytest

from minigrad import datasets
from minigrad.draw import tour


@pytest.mark.parametrize("name", ["circle", "spiral", "xor"])
def test_learns_every_point(name):
    """With its defaults the training ends with all points of a set on the right side."""
    points = datasets.load(name, 100)
    frames = list(tour.train(points))
    assert frames[-1].correct == 100
    assert frames[-1].loss < frames[0].loss / 10


def test_frames_come_in_step():
    """The start is the first frame, the end the last, and the others lie evenly between."""
    frames = list(tour.train(datasets.xor(20), steps=30, frames=3))
    assert [frame.step for frame in frames] == [0, 10, 20, 30]


def test_a_frame_keeps_its_network():
    """A frame's network stays as it was when training goes on."""
    points = datasets.xor(20)
    frames = tour.train(points, steps=10, frames=2)
    first = next(frames)
    before = first.network.predict(points.X)
    list(frames)
    assert (first.network.predict(points.X) == before).all()


def test_gradients_agree_with_differences():
    """Every slope worked out by hand agrees with a central difference."""
    points = datasets.circle(30)
    inputs, targets = np.array(points.X), np.array(points.y, dtype=float)
    network = tour.Network(hidden=3, seed=1)
    network.biases = [bias + 0.1 for bias in network.biases]  # away from the corner of ReLU at 0

    def loss():
        p = network.predict(inputs)
        return -np.log(np.where(targets == 1.0, p, 1.0 - p)).mean()

    for k, slopes in enumerate(network.gradients(inputs, targets)):
        for values, exact in zip((network.weights[k], network.biases[k]), slopes, strict=True):
            for place in np.ndindex(values.shape):
                kept = values[place]
                values[place] = kept + 1e-6
                above = loss()
                values[place] = kept - 1e-6
                below = loss()
                values[place] = kept
                assert (above - below) / 2e-6 == pytest.approx(exact[place], abs=1e-7)


def test_sure_predictions_do_not_overflow():
    """Probabilities of very sure networks are 0 and 1, without a warning."""
    network = tour.Network()
    network.weights[-1] = 1e6 * np.abs(network.weights[-1])
    assert network.predict([[0.9, 0.9]])[0] == 1.0
    network.weights[-1] = -network.weights[-1]
    assert network.predict([[0.9, 0.9]])[0] == 0.0
