"""Elements of a batch by key: NumPy's keys with one more axis in front, which counts the examples.

A key has *parts*: integers, slices, None, ... and arrays of integers or booleans. NumPy puts the axes of arrays where
the first of them stands, if no other part is between them, and else in front of all others; there an axis of examples
would be in the way, and has to be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from minigrad import tensor_functions
from minigrad.errors import BatchingError, IndexingError
from minigrad.tensors import Tensor
from minigrad.tensors.shapes import _selection_first, _width

Key = tuple[Any, ...]


def _parts(key: Any) -> Key:
    return key if isinstance(key, tuple) else (key,)


def checked(shape: Sequence[int], key: Any) -> Key:
    """Return a key of NumPy's as a tuple, if it fits the shape of one example.

    Raises:
        IndexingError: If it does not.
    """
    selected_shape(shape, key)
    return _parts(key)


def selected_shape(shape: Sequence[int], key: Any) -> tuple[int, ...]:
    """Return the shape of what a key selects.

    >>> from minigrad.transforms.indexing import selected_shape
    >>> selected_shape((3, 4, 5), (0, None, slice(1, None)))
    (1, 3, 5)
    """
    try:
        return tuple(np.broadcast_to(np.empty(()), tuple(shape))[key].shape)
    except IndexError as error:
        raise IndexingError(f"cannot index shape {tuple(shape)}: {error}") from None


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray)


def _array_axes(parts: Key) -> tuple[int, bool]:
    """Return how many axes the arrays of a key give together, and whether NumPy puts them in front of all others."""
    places = [place for place, part in enumerate(parts) if _is_array(part)]
    if not places:
        return 0, False
    shapes = [parts[place].shape if parts[place].dtype != bool else (1,) for place in places]
    return len(np.broadcast_shapes(*[(1,) * len(s) for s in shapes])), places[-1] - places[0] >= len(places)


def lifted(key: Any) -> tuple[Key, int]:
    """Return a key for the whole batch, and where the axis of examples is in what it selects."""
    parts = _parts(key)
    count, in_front = _array_axes(parts)
    return (slice(None), *parts), count if in_front else 0


def moved(x: Any, source: int, target: int) -> Any:
    """Move an axis."""
    if source == target:
        return x
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(target, source)
    return x.permute(*order)


def take(value: Tensor, key: Any) -> Tensor:
    """Return what a key, the same for all examples, selects from each example of a batch."""
    whole, place = lifted(key)
    return cast(Tensor, moved(tensor_functions.Index.apply(value, key=whole), place, 0))


def put(value: Tensor, key: Any, new: Any, is_batched: bool, operation: str) -> None:
    """Assign to what a key selects from each example of a batch."""
    whole, place = lifted(key)
    if is_batched:
        new = moved(padded(new, len(selected_shape(value.shape[1:], key))), 0, place)
    value._put(operation, whole, new)


def padded(new: Any, ndim: int) -> Any:
    """Give each example of a batch axes of size 1 in front."""
    return new.reshape(new.shape[0], *(1,) * (ndim - new.ndim + 1), *new.shape[1:])


# --- keys that differ from example to example ------------------------------------------------------------------


def take_each(value: Tensor, is_batched: bool, parts: Sequence[Any], mine: Sequence[bool]) -> Tensor:
    """Return what each example's own key selects.

    Args:
        value: A batch of tensors, or one tensor for all.
        is_batched: Which of both.
        parts: The key. Parts that differ between examples are tensors with an axis of examples in front.
        mine: Which parts these are.
    """
    shape = value.shape[1:] if is_batched else value.shape
    before, key, lines = _stood_in(value, parts, mine, len(shape))
    if before is not None:
        value = value[(slice(None), *before)] if is_batched else value[before]
        shape = value.shape[1:] if is_batched else value.shape
    key = _without_dots(key, len(shape))
    count, in_front = _array_axes(key)
    own = _each(key, lines, count)
    first = next(place for place, part in enumerate(key) if _is_array(part))
    kept = 0 if in_front else sum(1 for part in key[:first] if not isinstance(part, int))
    if is_batched:
        size = value.shape[0]
        taken = value[(_column(np.arange(size), count), *own)]
        begins = 0  # the arrays' axes stand in front: those of the key, and the numbers of the examples
        if kept == 0 and first == 0:
            return taken
    else:
        taken = value[tuple(own)]
        begins = kept
    return cast(Tensor, _in_place(taken, begins, count, kept))


def _in_place(taken: Any, begins: int, count: int, kept: int) -> Any:
    """Put the axis of examples in front, and the arrays' axes behind the kept ones."""
    others = [axis for axis in range(taken.ndim) if not begins <= axis <= begins + count]
    arrays = list(range(begins + 1, begins + 1 + count))
    return taken.permute(begins, *others[:kept], *arrays, *others[kept:])


def put_each(value: Any, shape: tuple[int, ...], parts: Sequence[Any], mine: Sequence[bool]) -> Tensor:
    """Return zeros of a shape, with each example's values added where its own key of arrays selects."""
    numbers = _column(np.arange(value.shape[0]), value.ndim - 1)
    arrays = [part.detach().numpy() if hasattr(part, "_array") else part for part in parts]
    key = [part if own else part[None] for part, own in zip(arrays, mine, strict=True)]
    added: Tensor = tensor_functions.IndexAdd.apply(value, shape=(value.shape[0], *shape), key=(numbers, *key))
    return added


def _stood_in(value: Any, parts: Sequence[Any], mine: Sequence[bool], ndim: int) -> tuple[Any, Key, dict[int, Any]]:
    """Return a key with arrays in place of each example's own parts, by way of `_keys`; and those parts by array."""
    lines: dict[int, Any] = {}
    plain = []
    for part, own in zip(parts, mine, strict=True):
        if own:
            if part.dtype.kind == "b":
                raise BatchingError(
                    "vmap: a mask of booleans may select another number of elements in each example; use "
                    "minigrad.where(mask, x, 0.0)"
                )
            stand_in = np.zeros(part.shape[1:], np.int64)
            lines[id(stand_in)] = part
            plain.append(stand_in)
        else:
            plain.append(value._keys(part)[1][0] if hasattr(part, "_array") or isinstance(part, list) else part)
    before, key = _selection_first(plain, ndim)
    return before, key, lines


def _without_dots(key: Key, ndim: int) -> Key:
    """Return a key with slices in place of `...`."""
    place = next((i for i, part in enumerate(key) if part is Ellipsis), None)
    if place is None:
        return key
    missing = ndim - sum(map(_width, key))
    return (*key[:place], *[slice(None)] * missing, *key[place + 1 :])


def _each(key: Key, lines: dict[int, Any], count: int) -> list[Any]:
    """Return the parts of a key for the whole batch, without the numbers of the examples."""
    own = []
    for part in key:
        if id(part) in lines:
            each = lines[id(part)]
            own.append(each.reshape(each.shape[0], *(1,) * (count - each.ndim + 1), *each.shape[1:]))
        else:
            own.append(part)
    return own


def _column(numbers: Any, count: int) -> Any:
    return numbers.reshape(-1, *(1,) * count)
