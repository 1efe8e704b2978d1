"""The six sets of points: the same every time, in the unit square, labelled by their rule."""

import math

import pytest

from minigrad import datasets

RULES = {
    "simple": lambda a, b: a < 0.5,
    "diag": lambda a, b: a + b < 0.5,
    "split": lambda a, b: a < 0.2 or a > 0.8,
    "xor": lambda a, b: (a < 0.5) ^ (b < 0.5),
    "circle": lambda a, b: math.hypot(a - 0.5, b - 0.5) > math.sqrt(0.1),
}


@pytest.mark.parametrize("name", datasets.DATASETS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 50, 300])
def test_points_lie_in_the_unit_square(name, n):
    """n points, n labels 0 or 1, coordinates in [0, 1]."""
    points = datasets.load(name, n, seed=3)
    assert (points.name, len(points), len(points.X), len(points.y)) == (name, n, n, n)
    assert all(0.0 <= v <= 1.0 for x in points.X for v in x)
    assert set(points.y) <= {0, 1}
    assert all(type(v) is float for x in points.X for v in x)


@pytest.mark.parametrize("name", RULES)
def test_labels_follow_the_rule(name):
    """Each label is what the set's rule says, and both classes occur."""
    points = datasets.load(name, 500, seed=1)
    assert points.y == [int(RULES[name](*x)) for x in points.X]
    assert set(points.y) == {0, 1}


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_points_are_the_same_every_time(name):
    """The same seed gives the same points; another seed others, but for the spiral, which has none."""
    assert datasets.load(name, 20, 5) == datasets.load(name, 20, 5)
    assert (datasets.load(name, 20, 5).X != datasets.load(name, 20, 6).X) == (name != "spiral")


def test_the_spiral_has_two_arms_of_one_shape():
    """Classes alternate; the arms are each other's mirror image in the middle, and their distance from it grows."""
    points = datasets.spiral(100)
    assert points.y == [0, 1] * 50
    for (a, b), (c, d) in zip(points.X[::2], points.X[1::2], strict=True):
        assert (a + c, b + d) == pytest.approx((1.0, 1.0))
    radii = [math.hypot(a - 0.5, b - 0.5) for a, b in points.X[::2]]
    assert radii == sorted(radii)
    assert radii[-1] > 0.4


def test_an_unknown_set_is_refused_with_the_names():
    """The error lists what there is."""
    with pytest.raises(ValueError, match="there is no data set 'moons'; choose one of simple, diag, split, xor"):
        datasets.load("moons")
