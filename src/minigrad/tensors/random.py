"""Random numbers: streams that a seed determines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import layout
from minigrad.errors import TraceError
from minigrad.machine.missing import missing
from minigrad.tensors import abstract_mode
from minigrad.tensors.devices import Device

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

tensor_class: Any = None
"""The class of tensors: `minigrad.tensors`, which stands on this module, sets it."""


class Generator:
    """A stream of random numbers that a seed determines.

    Args:
        seed: Any integer that is not negative. None takes one that differs each time.
        device: Of PyTorch, which may stand first, too. Numbers are made on the CPU, and put where tensors are wanted.

    >>> stream = minigrad.Generator(seed=0)
    >>> stream.uniform(0.0, 1.0, (2,)).shape
    (2,)
    """

    def __init__(self, seed: Any = None, device: str | None = None) -> None:
        if isinstance(seed, str):  # torch.Generator("cpu")
            seed, device = device, seed
        self._device = Device(device or "cpu")
        self._random = np.random.default_rng(None if seed is None else _seed(seed))

    if not TYPE_CHECKING:  # names that are not there are errors of mypy's

        def __getattr__(self, name: str) -> Any:
            raise missing("minigrad.Generator", name, self)

    @property
    def device(self) -> Device:
        """The device that was named."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of a seed, and return the generator.

        >>> stream = minigrad.Generator()
        >>> first = stream.manual_seed(7).uniform(0.0, 1.0, (3,))
        >>> first.equal(stream.manual_seed(7).uniform(0.0, 1.0, (3,)))
        True
        """
        self._random = np.random.default_rng(_seed(seed))
        return self

    def uniform(self, low: float, high: float, shape: Sequence[int]) -> Tensor:
        """Return float64 numbers, evenly from [low, high).

        >>> x = minigrad.Generator(0).uniform(-1.0, 1.0, (2, 3))
        >>> x.shape, x.dtype
        ((2, 3), dtype('float64'))
        """
        return _drawn(lambda sizes: self._random.uniform(low, high, sizes), shape)

    def normal(self, mean: float, std: float, shape: Sequence[int]) -> Tensor:
        """Return float64 numbers from the normal distribution.

        >>> x = minigrad.Generator(0).normal(5.0, 2.0, (1000,))
        >>> round(x.mean().item()), round(x.std().item())
        (5, 2)
        """
        return _drawn(lambda sizes: self._random.normal(mean, std, sizes), shape)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> Tensor:
        """Return int64 numbers, evenly from low to high - 1.

        >>> minigrad.Generator(0).integers(0, 2, (1000,)).sum().item() in range(400, 600)
        True
        """
        return _drawn(lambda sizes: self._random.integers(low, high, sizes), shape)

    def permutation(self, n: int) -> Tensor:
        """Return the numbers from 0 to n - 1 in random order.

        >>> sorted(minigrad.Generator(0).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return _drawn(lambda sizes: self._permutations(n, sizes[:-1]), (n,))

    def _permutations(self, n: int, sizes: tuple[int, ...]) -> Any:
        drawn = [self._random.permutation(n) for _ in range(math.prod(sizes))]
        return np.reshape(np.asarray(drawn, np.int64), (*sizes, n))


def _drawn(numbers: Callable[[tuple[int, ...]], Any], shape: Sequence[int]) -> Tensor:
    """Return a tensor of numbers that are drawn from a stream."""
    drawn: Tensor = abstract_mode.draw(numbers, shape, lambda array: tensor_class(np.asarray(array)))
    return drawn


def _seed(seed: Any) -> int:
    if abstract_mode.running.draw is not None:
        raise TraceError(
            "trace: a seed would start the stream of random numbers once, while the function is traced, and not at "
            "each run; call manual_seed, or make the Generator, outside of the function"
        )
    number = layout.integer(seed, "manual_seed: a seed")
    if number < 0:
        raise ValueError(f"manual_seed: a seed is at least 0, not {number}")
    return number


def draws_floats(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse to draw floats for a tensor of integers or booleans, which would lose their fractions."""
    if dtype.kind != "f":
        raise TypeError(
            f"{name}: draws floats, which a tensor of {dtype} cannot hold; take float32 or float64, or randint"
        )


default_generator = Generator()
