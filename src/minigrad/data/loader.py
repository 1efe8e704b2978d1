"""Batches of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import training
from minigrad.data.dataset import Dataset
from minigrad.tensors import Tensor, creation

__all__ = ["DataLoader", "collate"]


class DataLoader:
    """Goes through a set in batches, as often as it is iterated over.

    Args:
        dataset: Anything with ``__len__`` and ``__getitem__``.
        batch_size: Examples in a batch.
        shuffle: Whether every pass has a new random order.
        drop_last: Whether to leave out a last batch that is smaller.
        collate_fn: Makes a batch of a list of examples. None takes `collate`.
        generator: Where random orders come from. None takes the default generator.
        num_workers: Of PyTorch. Whatever it says, batches are made in this process, when they are asked for.
        pin_memory: Of PyTorch, likewise without effect.
        persistent_workers: Of PyTorch, likewise without effect.

    Attributes:
        dataset: The set.

    >>> examples = minigrad.data.TensorDataset(minigrad.arange(5))
    >>> [batch for (batch,) in minigrad.data.DataLoader(examples, batch_size=2)]
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self,
        dataset: Dataset | Sequence[Any],
        batch_size: object = 1,
        shuffle: bool = False,
        *,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        generator: creation.Generator | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        persistent_workers: bool = False,
    ) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"DataLoader: batch_size is {batch_size!r}; it must be a whole number from 1 on")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.collate_fn = collate_fn
        self.generator = generator

    def __len__(self) -> int:
        return len(self._batches())

    def __iter__(self) -> Iterator[Any]:
        return (self._batch(indices) for indices in self._batches())

    def _batches(self) -> training.Batches:
        rng = _Orders(self.generator) if self.shuffle else None
        return training.Batches(len(self.dataset), self.batch_size, rng, self.drop_last)

    def _batch(self, indices: Sequence[int]) -> Any:
        take = getattr(self.dataset, "take", None)
        if take is not None and self.collate_fn is None:
            return take(indices)
        return (self.collate_fn or collate)([self.dataset[index] for index in indices])


class _Orders:
    """The random orders of a generator of this library, as `training.Batches` asks for them."""

    def __init__(self, generator: creation.Generator | None) -> None:
        self.generator = generator

    def permutation(self, n: int) -> Any:
        return creation.randperm(n, generator=self.generator).numpy()


def collate(examples: Sequence[Any]) -> Any:
    """Make a batch of examples: tensors are stacked, numbers become a tensor, tuples and dictionaries are followed.

    Raises:
        TypeError: If an example holds anything else.
        ValueError: If examples are not alike.

    >>> from minigrad.data.loader import collate
    >>> collate([(minigrad.tensor([1.0]), 0), (minigrad.tensor([2.0]), 1)])
    [tensor([[1.],
            [2.]]), tensor([0, 1])]
    """
    first = examples[0]
    if isinstance(first, Tensor):
        shapes = {tuple(example.shape) for example in examples}
        if len(shapes) > 1:
            raise ValueError(f"a batch cannot be made of tensors of different shapes: {', '.join(map(str, shapes))}")
        return creation.stack(list(examples))
    if isinstance(first, np.ndarray):
        return creation.from_numpy(np.stack(examples))
    if isinstance(first, bool | int | float | np.generic):
        return creation.tensor(list(examples))
    if isinstance(first, str):
        return list(examples)
    if isinstance(first, Mapping):
        return {key: collate([example[key] for example in examples]) for key in first}
    if isinstance(first, Sequence):
        if len({len(example) for example in examples}) > 1:
            raise ValueError("a batch cannot be made of examples with different numbers of parts")
        return [collate(parts) for parts in zip(*examples, strict=True)]
    raise TypeError(f"a batch cannot be made of {type(first).__name__} objects; give DataLoader a collate_fn")
