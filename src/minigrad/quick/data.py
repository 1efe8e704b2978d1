"""The batches of a loader are a quick form of `minigrad.training.Batches`: a student's take their place."""

from __future__ import annotations

from typing import Any

from minigrad import training
from minigrad.data.loader import DataLoader
from minigrad.machine import overrides
from minigrad.tensors import creation


class _Orders:
    """The random orders of a generator of this library, as `training.Batches` asks for them."""

    def __init__(self, generator: creation.Generator | None) -> None:
        self.generator = generator

    def permutation(self, n: int) -> Any:
        return creation.randperm(n, generator=self.generator).numpy()


def _batches(loader: DataLoader) -> training.Batches:
    rng = _Orders(loader.generator) if loader.shuffle else None
    return training.Batches(len(loader.dataset), loader.batch_size or 1, rng, loader.drop_last)


overrides.twin(DataLoader, "_batches", DataLoader._batches, specified=_batches, unless=("training",))
