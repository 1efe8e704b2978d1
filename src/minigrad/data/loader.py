"""A set in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from minigrad.data.collating import default_collate, default_convert
from minigrad.data.dataset import Dataset, in_one_go
from minigrad.data.samplers import BatchSampler, RandomSampler, SequentialSampler
from minigrad.machine.missing import missing
from minigrad.tensors import creation


class DataLoader:
    """Goes through a set in batches, as often as it is iterated over.

    All batches are made in this process, when they are asked for. PyTorch's arguments about other processes and about
    memory are taken, and have no effect.

    Args:
        dataset: Anything with ``__getitem__``, and ``__len__`` unless a sampler says which examples there are. If it
            has ``__getitems__``, that is asked for the list of a batch's examples.
        batch_size: Examples in a batch. None gives the examples one by one, with their arrays as tensors.
        shuffle: Whether every pass has a new random order.
        sampler: The numbers of the examples, in their order, in place of shuffle.
        batch_sampler: Lists of the numbers of the examples, each for a batch, in place of all other choices of them.
        num_workers: Without effect.
        collate_fn: Makes a batch of a list of examples, or without batches of one example. None takes
            `default_collate`, or without batches `default_convert`.
        pin_memory: Without effect.
        drop_last: Whether to leave out a last batch that is smaller.
        timeout: Without effect.
        worker_init_fn: Without effect: there are no workers that it could be called in.
        multiprocessing_context: Without effect.
        generator: Where random orders come from. None takes the default generator.
        prefetch_factor: Without effect.
        persistent_workers: Without effect.
        pin_memory_device: Without effect.
        in_order: Without effect: batches come in order.

    Raises:
        ValueError: If the batch size is none, or arguments contradict each other.

    Attributes:
        dataset: The set. The other attributes are those of the arguments.

    >>> examples = minigrad.data.TensorDataset(minigrad.arange(5))
    >>> [batch for (batch,) in minigrad.data.DataLoader(examples, batch_size=2)]
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __init__(
        self,
        dataset: Dataset | Sequence[Any],
        batch_size: object = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: object = None,
        generator: creation.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if batch_size is not None and (
            isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1
        ):
            raise ValueError(f"DataLoader: batch_size is {batch_size!r}; it must be a whole number from 1 on, or None")
        self.shuffle, self.drop_last, self.sampler = bool(shuffle), drop_last, sampler
        chosen = {
            "shuffle": self.shuffle,
            "sampler": sampler is not None,
            "drop_last": drop_last,
            "batch_size": batch_size != 1,
        }
        if batch_sampler is not None:
            _refuse("batch_sampler", chosen, "shuffle", "sampler", "drop_last", "batch_size")
            batch_size = None
        elif batch_size is None:
            _refuse("batch_size=None", chosen, "drop_last")
        if sampler is not None:
            _refuse("sampler", chosen, "shuffle")
        self.dataset, self.batch_size, self.generator = dataset, batch_size, generator
        self.batch_sampler = batch_sampler
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn = worker_init_fn
        self.in_batches = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if self.in_batches else default_convert)

    if not TYPE_CHECKING:  # names that are not there are errors of mypy's

        def __getattr__(self, name: str) -> Any:
            raise missing("minigrad.data.DataLoader", name, self)

    def __len__(self) -> int:
        return len(self._order())

    def __iter__(self) -> Iterator[Any]:
        if self.in_batches:
            return (self._batch(indices) for indices in self._order())
        order = self._order() if self.sampler is not None else (index for (index,) in self._order())
        return (self.collate_fn(self.dataset[index]) for index in order)

    def _order(self) -> Any:
        """Return the lists of numbers of each batch; or, of a sampler without batches, the numbers."""
        if self.batch_sampler is not None:
            return self.batch_sampler
        if self.sampler is not None:
            size = self.batch_size
            return self.sampler if size is None else BatchSampler(self.sampler, size, self.drop_last)
        return self._batches()

    def _batches(self) -> Any:
        """Return the lists of numbers of each batch, of the whole set."""
        whole = self.dataset
        order = RandomSampler(whole, generator=self.generator) if self.shuffle else SequentialSampler(whole)
        return BatchSampler(order, self.batch_size or 1, self.drop_last)

    def _batch(self, indices: Sequence[Any]) -> Any:
        if self.collate_fn is default_collate and (take := in_one_go(self.dataset)) is not None:
            return take([int(index) for index in indices])
        several = getattr(self.dataset, "__getitems__", None)
        return self.collate_fn([self.dataset[index] for index in indices] if several is None else several(indices))


def _refuse(choice: str, chosen: dict[str, bool], *others: str) -> None:
    """Refuse arguments that another one leaves no room for."""
    given = [name for name in others if chosen[name]]
    if given:
        raise ValueError(f"DataLoader: {choice} decides alone, so {' and '.join(given)} cannot be given with it")
