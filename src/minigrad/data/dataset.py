"""Sets of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minigrad.tensors import Tensor, creation


class Dataset:
    """Examples by number. Every subclass writes ``__len__`` and ``__getitem__``.

    >>> class Squares(minigrad.data.Dataset):
    ...     def __len__(self):
    ...         return 3
    ...
    ...     def __getitem__(self, index):
    ...         return index**2
    ...
    >>> Squares()[2]
    4
    """

    def __len__(self) -> int:
        raise TypeError(f"{type(self).__name__} does not define __len__")

    def __getitem__(self, index: int) -> Any:
        """Return one example."""
        raise TypeError(f"{type(self).__name__} does not define __getitem__")

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


class TensorDataset(Dataset):
    """Examples that stand in tensors, one behind the other along the first axis.

    Args:
        *tensors: Tensors with the same first size, such as inputs and targets.

    >>> inputs, classes = minigrad.tensor([[1.0], [2.0], [3.0]]), minigrad.tensor([0, 1, 1])
    >>> minigrad.data.TensorDataset(inputs, classes)[1]
    (tensor([2.]), tensor(1))
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors or not all(isinstance(tensor, Tensor) and tensor.ndim for tensor in tensors):
            raise TypeError("TensorDataset takes tensors with at least one axis, along which the examples stand")
        sizes = [tensor.shape[0] for tensor in tensors]
        if len(set(sizes)) > 1:
            raise ValueError(f"TensorDataset: the tensors have {sizes} examples; they must have the same number")
        self.tensors: tuple[Tensor, ...] = tensors

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])

    def __getitem__(self, index: object) -> tuple[Tensor, ...]:
        """Return an example, or those of a slice or of a tensor of numbers, stacked along the first axis."""
        if isinstance(index, int):
            _check_index(index, len(self))
        return tuple(tensor[index] for tensor in self.tensors)

    def take(self, indices: Sequence[int]) -> list[Tensor]:
        """Return several examples, stacked along the first axis. A loader makes its batches with one such call.

        >>> examples = minigrad.data.TensorDataset(minigrad.tensor([[1.0], [2.0], [3.0]]))
        >>> examples.take([2, 0])
        [tensor([[3.],
                [1.]])]
        """
        first, count = (indices[0], len(indices)) if indices else (0, 0)
        if 0 <= first <= len(self) - count and list(indices) == list(range(first, first + count)):
            # Quicker than by numbers. A copy: a batch may be changed in place, and the set stays.
            return [tensor[first : first + count].clone() for tensor in self.tensors]
        chosen = creation.tensor(list(indices), dtype="int64")
        return [tensor[chosen] for tensor in self.tensors]


class Subset(Dataset):
    """Some examples of another set.

    Args:
        dataset: The set.
        indices: Which examples.

    >>> examples = minigrad.data.TensorDataset(minigrad.tensor([1.0, 2.0, 3.0]))
    >>> minigrad.data.Subset(examples, [2])[0]
    (tensor(3.),)
    """

    def __init__(self, dataset: Dataset | Sequence[Any], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = list(indices)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        """Return one of the examples."""
        _check_index(index, len(self))
        return self.dataset[self.indices[index]]


def in_one_go(dataset: object) -> Callable[[Sequence[int]], list[Tensor]] | None:
    """Return a function that takes several examples at once, of a set that stands in tensors and whose class is ours.

    A class that says itself what an example is, or has a method of the name for something else, is asked as any other.
    """
    kind: Any = type(dataset)
    if hasattr(kind, "__getitems__"):
        return None
    if isinstance(dataset, TensorDataset):
        own = kind.__getitem__ is TensorDataset.__getitem__ and kind.take is TensorDataset.take
        return dataset.take if own else None
    if isinstance(dataset, Subset) and kind.__getitem__ is Subset.__getitem__:
        whole, numbers = in_one_go(dataset.dataset), dataset.indices
        return None if whole is None else lambda indices: whole([int(numbers[index]) for index in indices])
    return None


class ConcatDataset(Dataset):
    """Several sets, one behind the other.

    Args:
        datasets: The sets.

    >>> ones, twos = (minigrad.data.TensorDataset(minigrad.full((3,), value)) for value in (1, 2))
    >>> both = minigrad.data.ConcatDataset([ones, twos])
    >>> len(both), both[4]
    (6, (tensor(2),))
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset needs at least one set")

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)

    def __getitem__(self, index: int) -> Any:
        """Return an example of the set that it falls into."""
        _check_index(index, len(self))
        place = index % len(self)
        for dataset in self.datasets:
            if place < len(dataset):
                return dataset[place]
            place -= len(dataset)
        raise AssertionError("an index below the sum of the lengths falls into a set")


def random_split(
    dataset: Dataset | Sequence[Any], lengths: Sequence[int | float], generator: creation.Generator | None = None
) -> list[Subset]:
    """Split a set by chance into parts without common examples.

    Args:
        dataset: The set.
        lengths: How many examples each part has, together all of them, or fractions that sum to 1, whose rounding
            remainders go to the first parts.
        generator: Where random numbers come from. None takes the default generator.

    Raises:
        ValueError: If the lengths do not sum to the set's.

    >>> examples = minigrad.data.TensorDataset(minigrad.arange(10))
    >>> [len(part) for part in minigrad.data.random_split(examples, [8, 2])]
    [8, 2]
    """
    total = len(dataset)
    sizes: list[Any] = list(lengths)
    if abs(sum(sizes) - 1.0) < 1e-9 and any(isinstance(size, float) for size in sizes):
        sizes = [int(total * fraction) for fraction in lengths]
        for number in range(int(total - sum(sizes))):
            sizes[number % len(sizes)] += 1
    if sum(sizes) != total or any(size < 0 or size != int(size) for size in sizes):
        raise ValueError(f"random_split: the lengths {list(lengths)} do not add up to the {total} examples")
    order = creation.randperm(total, generator=generator).tolist()
    parts, start = [], 0
    for size in map(int, sizes):
        parts.append(Subset(dataset, order[start : start + size]))
        start += size
    return parts


def _check_index(index: int, length: int) -> None:
    if not -length <= index < length:
        raise IndexError(f"there is no example {index}: the set has {length}")
