"""Batches of examples, by the kinds of their parts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from minigrad.layout import type_name
from minigrad.tensors import Tensor, abstract_mode, creation


def default_collate(batch: Sequence[Any]) -> Any:
    """Make a batch of examples: tensors and arrays are stacked, numbers become a tensor, containers are followed.

    Texts and bytes stay as they are, in a list. Python's floats become float64, as in PyTorch. Arrays of types that
    tensors do not have become int64 or float32. Dictionaries, lists and named tuples keep their class; other tuples
    become lists.

    Args:
        batch: The examples, at least one.

    Raises:
        TypeError: If an example holds anything else.
        ValueError: If examples are not alike, or there are none.

    >>> minigrad.data.default_collate([(minigrad.tensor([1.0]), 0), (minigrad.tensor([2.0]), 1)])
    [tensor([[1.],
            [2.]]), tensor([0, 1])]
    """
    if not len(batch):
        raise ValueError("a batch cannot be made of no examples")
    first = batch[0]
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Tensor | np.ndarray | np.generic):
        return _stacked(batch)
    if isinstance(first, float):
        return creation.tensor(list(batch), dtype=np.float64)
    if isinstance(first, int):
        return creation.tensor(list(batch))
    if isinstance(first, Mapping):
        for example in batch:
            if not (isinstance(example, Mapping) and first.keys() <= example.keys()):
                raise ValueError(f"a batch cannot be made of examples with different keys: {list(first)} and {example}")
        return _like_mapping(first, {key: default_collate([example[key] for example in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(not isinstance(example, Sequence) or len(example) != len(first) for example in batch):
            raise ValueError("a batch cannot be made of examples with different numbers of parts")
        return _like_sequence(first, [default_collate(parts) for parts in zip(*batch, strict=True)])
    raise TypeError(f"a batch cannot be made of {type_name(first)} objects; give DataLoader a collate_fn")


def default_convert(data: Any) -> Any:
    """Make tensors of the arrays in an example, which stands for itself. Everything else stays as it is.

    >>> minigrad.data.default_convert({"x": np.array([1.0, 2.0]), "n": 3})
    {'x': tensor([1., 2.], dtype=float64), 'n': 3}
    """
    if isinstance(data, np.ndarray | np.generic):
        is_text = isinstance(data, np.ndarray) and data.dtype.kind in "SUO"
        return data if is_text or isinstance(data, str | bytes) else _tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data


def _stacked(parts: Sequence[Any]) -> Tensor:
    """Stack tensors, arrays and numbers of NumPy."""
    arrays = [part if part.__class__ is np.ndarray else _array_of(part) for part in parts]
    first = arrays[0]
    if all(x.__class__ is np.ndarray and x.dtype == first.dtype and x.shape == first.shape for x in arrays):
        return _tensor(np.stack(arrays))  # ten times as quick as by tensors
    tensors = [part if isinstance(part, Tensor) else _tensor(part) for part in parts]
    shapes = dict.fromkeys(tuple(tensor.shape) for tensor in tensors)
    if len(shapes) > 1:
        raise ValueError(f"a batch cannot be made of tensors of different shapes: {', '.join(map(str, shapes))}")
    return creation.stack(tensors)


def _array_of(part: Any) -> Any:
    """Return the array of a number of NumPy's or of a tensor of which no gradient is asked, or None."""
    if isinstance(part, Tensor):
        return None if part.requires_grad else abstract_mode.memory(part)
    return np.asarray(part) if isinstance(part, np.ndarray | np.generic) else None


def _tensor(part: Any) -> Tensor:
    array = np.asarray(part)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a batch cannot be made of arrays of {array.dtype}; give DataLoader a collate_fn")
    # An array may run backwards, as a mirrored image does, and a tensor may not.
    return creation.as_tensor(array if min(array.strides, default=0) >= 0 else array.copy())


def _like_mapping(container: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """Return values in a mapping of the container's class, or in a dictionary."""
    if type(container) is dict:
        return values
    if isinstance(container, MutableMapping):
        return _copied(container, values, lambda twin: twin.update(values))
    try:
        return type(container)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _like_sequence(container: Sequence[Any], values: list[Any]) -> Any:
    """Return values in a named tuple or a sequence of the container's class, or in a list."""
    if hasattr(container, "_fields"):
        return type(container)(*values)
    if type(container) is list or isinstance(container, tuple | range):
        return values
    if isinstance(container, MutableSequence):
        return _copied(container, values, lambda twin: [twin.__setitem__(*pair) for pair in enumerate(values)])
    try:
        return type(container)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _copied(container: Any, values: Any, fill: Callable[[Any], Any]) -> Any:
    """Return a copy of a container, with what else its class keeps, and other values; where it takes them."""
    twin = copy.copy(container)
    try:
        fill(twin)
    except (TypeError, ValueError):  # such as an array of bytes
        return values
    return twin
