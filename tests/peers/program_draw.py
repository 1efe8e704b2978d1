"""How the operations of random programs draw their arguments, and what they demand of them.

What is drawn is tame: no logarithm of a negative number, and no argument so close to a tie or a kink (of relu, max,
abs, clamp, ...) that a rounding error would decide.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pytorch import torch

__all__ = [
    "Draw",
    "NoFit",
    "all_apart",
    "apart",
    "away_from",
    "between_integers",
    "compatible",
    "distinct",
    "fits_in",
    "multiplies",
    "positive",
    "ranked",
    "varied",
    "within",
]

GAP = 1e-3  # the least distance of a value from a kink, or from the value that it is compared with


class NoFit(Exception):
    """No value of the pool is fit for the operation."""


class Draw:
    """Draws arguments from a pool of values.

    Args:
        rng: decides
        pool: the values so far, by name
        unused: the names of those that no operation uses yet; they are preferred, or programs would stay shallow
    """

    def __init__(self, rng: random.Random, pool: dict[str, torch.Tensor], unused: list[str]) -> None:
        self.rng = rng
        self.pool = pool
        self.unused = unused

    def value(self, *demands: Callable[[torch.Tensor], bool]) -> str:
        """Return the name of a value that meets all demands."""
        names = self.unused if self.rng.random() < 0.7 else list(self.pool)
        return self.choice(name for name in names if all(meets(self.pool[name]) for meets in demands))

    def pair(self, meets: Callable[[torch.Tensor, torch.Tensor], bool], attempts: int = 60) -> tuple[str, str]:
        """Return the names of two values (or of one, twice) that go together."""
        names = list(self.pool)
        for _ in range(attempts):
            a, b = self.rng.choice(self.unused or names), self.rng.choice(names)
            a, b = (a, b) if self.rng.random() < 0.5 else (b, a)
            if meets(self.pool[a], self.pool[b]):
                return a, b
        raise NoFit

    def choice(self, options):
        """Return one of some options."""
        options = list(options)
        if not options:
            raise NoFit
        return self.rng.choice(options)

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        """Return a number with two digits."""
        return round(self.rng.uniform(low, high), 2)

    def dim(self, name: str, demand: Callable[[int], bool] = lambda size: True) -> int:
        """Return a dimension of a value, counted from the front or from the back."""
        shape = self.pool[name].shape
        dim = self.choice(i for i, size in enumerate(shape) if demand(size))
        return self.choice((dim, dim - len(shape)))

    def dims(self, name: str) -> tuple[int, ...]:
        """Return some dimensions of a value, in any order."""
        dims = range(self.pool[name].dim())
        return tuple(self.rng.sample(dims, self.rng.randint(1, len(dims))))

    def reduction(self, name: str) -> str:
        """Return the arguments of a reduction: none, a dimension, or several, with or without keepdim."""
        if self.pool[name].dim() == 0 or self.rng.random() < 0.15:
            return ""
        dims = self.choice((self.dim(name), self.dims(name)))
        return f"{dims}, keepdim=True" if self.rng.random() < 0.4 else f"{dims}"

    def along(self, name: str, dim: int) -> str:
        """Return the arguments of a function along one dimension, with or without keepdim."""
        return f"{dim}, keepdim=True" if self.rng.random() < 0.4 else f"{dim}"


# --- what a value must be ------------------------------------------------------------------------------------


def ranked(low: int, high: int = 9) -> Callable[[torch.Tensor], bool]:
    """The rank lies between two bounds."""
    return lambda x: low <= x.dim() <= high


def within(bound: float) -> Callable[[torch.Tensor], bool]:
    """No element is larger."""
    return lambda x: x.abs().max().item() <= bound


def positive(x: torch.Tensor) -> bool:
    """All elements are well above 0."""
    return x.min().item() > 0.1


def away_from(*points: float) -> Callable[[torch.Tensor], bool]:
    """No element is close to one of the points."""
    return lambda x: all((x - point).abs().min().item() > GAP for point in points)


def between_integers(x: torch.Tensor) -> bool:
    """No element is, three times as large, close to a whole number, where a conversion to integers jumps."""
    return bool(((x * 3.0 - (x * 3.0).round()).abs() > GAP).all())


def distinct(x: torch.Tensor, dim: int) -> bool:
    """The two largest and the two smallest elements along a dimension differ."""
    if x.shape[dim] < 2:
        return True
    gaps = x.sort(dim).values.diff(dim=dim)
    return min(gaps.select(dim, 0).min().item(), gaps.select(dim, -1).min().item()) > GAP


def varied(x: torch.Tensor, dim: int) -> bool:
    """The elements along a dimension are several, and far from all equal."""
    return x.shape[dim] > 1 and x.var(dim).min().item() > 0.1


def compatible(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The shapes broadcast to at most 4 dimensions."""
    pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
    return all(m == n or 1 in (m, n) for m, n in pairs)


def apart(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The shapes broadcast, and no two elements that meet are close."""
    return compatible(a, b) and (a - b).abs().min().item() > GAP


def fits_in(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The second shape broadcasts to the first."""
    return compatible(a, b) and torch.broadcast_shapes(a.shape, b.shape) == a.shape


def multiplies(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The shapes are those of factors of a matrix product."""
    if not (a.dim() and b.dim()) or a.shape[-1] != b.shape[-2 if b.dim() > 1 else 0]:
        return False
    batches = zip(reversed(a.shape[:-2]), reversed(b.shape[:-2]), strict=False)
    return all(m == n or 1 in (m, n) for m, n in batches)


def all_apart(x: torch.Tensor) -> bool:
    """No two elements are close."""
    return x.numel() == 1 or x.flatten().sort().values.diff().min().item() > GAP
