"""Points in the unit square with two classes: the six small problems that every network here starts with."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["DATASETS", "Points", "circle", "diag", "load", "simple", "spiral", "split", "xor"]


@dataclass(frozen=True)
class Points:
    """A set of labelled points.

    Attributes:
        name: The name of the set.
        X: The points, n pairs (x1, x2) with both in [0, 1].
        y: Their classes, n times 0 or 1.

    >>> points = minigrad.datasets.simple(3, seed=0)
    >>> len(points.X), len(points.y)
    (3, 3)
    """

    name: str
    X: list[tuple[float, float]]
    y: list[int]

    def __len__(self) -> int:
        return len(self.X)


def _labelled(name: str, n: int, seed: int, label: Callable[[float, float], bool]) -> Points:
    rng = random.Random(seed)
    points = [(rng.random(), rng.random()) for _ in range(n)]
    return Points(name, points, [int(label(*x)) for x in points])


def simple(n: int = 50, seed: int = 0) -> Points:
    """Class 1 lies left of the middle: one vertical line separates the classes.

    >>> points = minigrad.datasets.simple(20)
    >>> all((x < 0.5) == bool(label) for (x, _), label in zip(points.X, points.y))
    True
    """
    return _labelled("simple", n, seed, lambda x1, x2: x1 < 0.5)


def diag(n: int = 50, seed: int = 0) -> Points:
    """Class 1 is the lower left corner: one slanted line separates the classes.

    >>> points = minigrad.datasets.diag(20)
    >>> all((x + y < 0.5) == bool(label) for (x, y), label in zip(points.X, points.y))
    True
    """
    return _labelled("diag", n, seed, lambda x1, x2: x1 + x2 < 0.5)


def split(n: int = 50, seed: int = 0) -> Points:
    """Class 1 lies at both sides, class 0 in the middle: two lines are needed.

    >>> len(minigrad.datasets.split(20).X)
    20
    """
    return _labelled("split", n, seed, lambda x1, x2: x1 < 0.2 or x1 > 0.8)


def xor(n: int = 50, seed: int = 0) -> Points:
    """Class 1 is two opposite quarters: no line separates anything.

    >>> points = minigrad.datasets.xor(20)
    >>> all(((x < 0.5) != (y < 0.5)) == bool(label) for (x, y), label in zip(points.X, points.y))
    True
    """
    return _labelled("xor", n, seed, lambda x1, x2: (x1 < 0.5) != (x2 < 0.5))


def circle(n: int = 50, seed: int = 0) -> Points:
    """Class 1 lies outside a circle around the middle.

    >>> set(minigrad.datasets.circle(50).y)
    {0, 1}
    """
    return _labelled("circle", n, seed, lambda x1, x2: (x1 - 0.5) ** 2 + (x2 - 0.5) ** 2 > 0.1)


def spiral(n: int = 50, seed: int = 0) -> Points:
    """Two arms wound around each other; the seed has no effect, the points are evenly spaced.

    >>> minigrad.datasets.spiral(10, seed=0).X == minigrad.datasets.spiral(10, seed=1).X
    True
    """
    points, labels = [], []
    for i in range(n):
        t = 0.5 + 5.5 * (i // 2) / max(1, (n - 1) // 2)
        turn = 1.0 if i % 2 else -1.0
        points.append((0.5 + turn * t * math.cos(t) / 13.0, 0.5 + turn * t * math.sin(t) / 13.0))
        labels.append(i % 2)
    return Points("spiral", points, labels)


DATASETS: dict[str, Callable[[int, int], Points]] = {f.__name__: f for f in (simple, diag, split, xor, circle, spiral)}


def load(name: str, n: int = 50, seed: int = 0) -> Points:
    """Return n points of the set with that name.

    Raises:
        ValueError: If there is no such set.

    >>> minigrad.datasets.load("xor", n=20).X == minigrad.datasets.xor(20).X
    True
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}; choose one of {', '.join(DATASETS)}")
    return DATASETS[name](n, seed)
