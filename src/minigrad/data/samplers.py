"""Orders in which a loader goes through a set: iterables of the numbers of its examples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minigrad.tensors import creation
from minigrad.tensors.several import multinomial

_AT_ONCE = 4096  # numbers of examples that are drawn together where each may come again


class Sampler:
    """An order of examples. Every subclass writes ``__iter__``, and ``__len__`` if its loader is to have a length.

    >>> class Backwards(minigrad.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    ...
    >>> list(minigrad.data.DataLoader([10, 11, 12], sampler=Backwards(), batch_size=3))
    [tensor([12, 11, 10])]
    """

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{type(self).__name__} does not define __iter__")


class SequentialSampler(Sampler):
    """The order in which the examples stand.

    Args:
        data_source: The set.

    >>> list(minigrad.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __len__(self) -> int:
        return len(self.data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))


class RandomSampler(Sampler):
    """An order by chance, another one at each iteration.

    Args:
        data_source: The set.
        replacement: Whether an example may come again before all others have come.
        num_samples: How many examples. None takes as many as there are.
        generator: Where random numbers come from. None takes the default generator.

    >>> sorted(minigrad.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: creation.Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else _count(num_samples, "RandomSampler")

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        n, left = len(self.data_source), self.num_samples
        while n and left > 0:  # a part at a time: a loader that never ends asks for 10 ** 10 examples
            size = min(left, _AT_ONCE if self.replacement else n)
            if self.replacement:
                part = creation.randint(0, n, (size,), generator=self.generator)
            else:
                part = creation.randperm(n, generator=self.generator)[:size]
            yield from part.tolist()
            left -= size


class SubsetRandomSampler(Sampler):
    """Some of the examples, in an order by chance.

    Args:
        indices: Which examples.
        generator: Where random numbers come from. None takes the default generator.

    >>> sorted(minigrad.data.SubsetRandomSampler([4, 2]))
    [2, 4]
    """

    def __init__(self, indices: Sequence[int], generator: creation.Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return (self.indices[place] for place in creation.randperm(len(self), generator=self.generator).tolist())


class WeightedRandomSampler(Sampler):
    """Examples by chance, each with a probability in proportion to its weight, so that rare classes come as often.

    Args:
        weights: One for each example, not negative.
        num_samples: How many examples.
        replacement: Whether an example may come again.
        generator: Where random numbers come from. None takes the default generator.

    >>> list(minigrad.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: creation.Generator | None = None,
    ) -> None:
        self.weights = creation.as_tensor(weights, dtype="float64")
        if self.weights.ndim != 1:
            raise ValueError(f"WeightedRandomSampler: weights of shape {self.weights.shape}; give one for each example")
        self.num_samples = _count(num_samples, "WeightedRandomSampler")
        self.replacement, self.generator = replacement, generator

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())


class BatchSampler(Sampler):
    """The numbers of another order, in lists.

    Args:
        sampler: The order.
        batch_size: How many numbers a list has; the last one perhaps fewer.
        drop_last: Whether to leave out a last list that has fewer.

    >>> list(minigrad.data.BatchSampler([4, 2, 7], batch_size=2, drop_last=False))
    [[4, 2], [7]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        self.sampler, self.drop_last = sampler, bool(drop_last)
        self.batch_size = _count(batch_size, "BatchSampler", "batch_size")

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]  # asked of those that have a length
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self) -> Iterator[list[Any]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch


def _count(n: object, owner: str, name: str = "num_samples") -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"{owner}: {name} is {n!r}; it must be a whole number from 1 on")
    return n
