"""Functions of several tensors, by PyTorch's names: joined rows and columns, grids, shapes that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from minigrad import tensor_data
from minigrad.tensors import Tensor, creation, need_tensors
from minigrad.tensors.random import Generator, default_generator
from minigrad.tensors.types import dtype_of


def is_tensor(obj: object) -> bool:
    """Return whether an object is a tensor.

    >>> minigrad.is_tensor(minigrad.zeros(2)), minigrad.is_tensor([0.0, 0.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> Any:
    """Return the type of an operation's result on tensors of two types.

    >>> minigrad.promote_types(minigrad.int64, minigrad.float32)
    dtype('float32')
    """
    made = (creation.zeros(1, dtype=dtype_of(kind)) for kind in (type1, type2))
    return (next(made) * next(made)).dtype


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors one below the other: rows, or matrices along their first axis.

    >>> minigrad.vstack([minigrad.zeros(2), minigrad.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    return creation.cat([x.reshape(1, -1) if x.ndim < 2 else x for x in tensors])


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors one beside the other: vectors along their axis, others along their second axis.

    >>> minigrad.hstack([minigrad.zeros(2, 1), minigrad.ones(2, 1)])
    tensor([[0., 1.],
            [0., 1.]])
    """
    parts = [x.reshape(1) if x.ndim == 0 else x for x in tensors]
    return creation.cat(parts, 0 if parts and parts[0].ndim == 1 else 1)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors one behind the other, along a third axis.

    >>> minigrad.dstack([minigrad.zeros(2), minigrad.ones(2)]).shape
    (1, 2, 2)
    """
    parts = [x.reshape(1, -1, 1) if x.ndim < 2 else x.unsqueeze(2) if x.ndim == 2 else x for x in tensors]
    return creation.cat(parts, 2)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of all points of a grid, one tensor for each axis.

    Args:
        *tensors: Vectors of coordinates along each axis, or one list of them.
        indexing: "ij" puts the first vector along axis 0; "xy" puts it along axis 1.

    >>> minigrad.meshgrid(minigrad.arange(2), minigrad.arange(3))[1]
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    vectors = list(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else list(tensors)
    need_tensors("meshgrid", *vectors)
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be 'ij' or 'xy'")
    if indexing == "xy" and len(vectors) > 1:
        turned = meshgrid(vectors[1], vectors[0], *vectors[2:])
        return (turned[1], turned[0], *turned[2:])
    shape = [x.numel() for x in vectors]
    columns = [x.reshape(*(-1 if n == axis else 1 for n in range(len(shape)))) for axis, x in enumerate(vectors)]
    return tuple(x.expand(*shape) for x in columns)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Return the shape of an elementwise result of tensors of these shapes.

    >>> minigrad.broadcast_shapes((3, 1), (1, 4))
    (3, 4)
    """
    found: Sequence[int] = ()
    for shape in shapes:
        found = tensor_data.shape_broadcast(found, (shape,) if isinstance(shape, int) else tuple(shape))
    return tuple(found)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return views of tensors, all of the shape to which they broadcast.

    >>> a, b = minigrad.broadcast_tensors(minigrad.zeros(3, 1), minigrad.ones(4))
    >>> a.shape, b.shape
    ((3, 4), (3, 4))
    """
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return tuple(x.expand(*shape) for x in tensors)


def searchsorted(sorted_sequence: Tensor, input: Any, *, right: bool = False, side: str | None = None) -> Tensor:
    """Return where numbers would be put into a sorted vector: how many of its elements are smaller.

    Args:
        sorted_sequence: A vector in order.
        input: A tensor of any shape, or a number.
        right: Whether elements that are equal count as smaller.
        side: NumPy's word for it: "left" or "right".

    >>> minigrad.searchsorted(minigrad.tensor([1.0, 3.0, 5.0]), minigrad.tensor([0.5, 3.0, 9.0]))
    tensor([0, 1, 3])
    """
    need_tensors("searchsorted", sorted_sequence)
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ValueError(f"searchsorted: side is {side!r}, with right={right}; it must be 'left' or 'right'")
    right = right or side == "right"
    if sorted_sequence.ndim != 1:
        raise ValueError(
            f"searchsorted: a sequence of shape {sorted_sequence.shape}; it must be a vector: go through the rows"
        )
    values = input._elements("searchsorted") if isinstance(input, Tensor) else input
    found = np.searchsorted(sorted_sequence._elements("searchsorted"), values, "right" if right else "left")
    return sorted_sequence.from_host(np.asarray(found, np.int64))


# --- chances ------------------------------------------------------------------------------------------------


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers from normal distributions.

    Args:
        mean: A number, or a tensor with one for each element.
        std: The standard deviation, likewise.
        size: The shape, where both are numbers.
        generator: Where random numbers come from. None takes the default generator.
        dtype: Of the result.
        device: "cpu" or "cuda".
        requires_grad: Whether the result is a leaf that backward gives a gradient.

    >>> minigrad.normal(0.0, 1.0, size=(2, 3)).shape
    (2, 3)
    """
    of_tensors = [x.shape for x in (mean, std) if isinstance(x, Tensor)]
    if bool(of_tensors) == (size is not None):
        raise TypeError("normal: give size with two numbers, and without it tensors of means or deviations")
    shape = size if size is not None else broadcast_shapes(*of_tensors)
    drawn = creation.randn(shape, generator=generator, dtype=dtype, device=device) * std + mean
    return drawn.detach().requires_grad_() if requires_grad else drawn


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """Return 1 with the probability that each element gives, else 0, in the tensor's type.

    Args:
        input: The probabilities.
        p: One probability for all, in their place: then input gives shape and type alone.
        generator: Where random numbers come from. None takes the default generator.

    >>> minigrad.bernoulli(minigrad.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    need_tensors("bernoulli", input)
    drawn = (generator or default_generator).uniform(0.0, 1.0, input.shape)
    return (drawn < (input.detach() if p is None else p)).to(input.dtype)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Draw places by chance, each with a probability in proportion to its element.

    Args:
        input: Weights of shape (places,), or (rows, places): not negative, not all 0. They need not sum to 1.
        num_samples: How many draws, in each row.
        replacement: Whether a place may be drawn again.
        generator: Where random numbers come from. None takes the default generator.

    Returns:
        int64 of shape (num_samples,) or (rows, num_samples).

    Raises:
        ValueError: If the weights are none, or fewer places have one than are drawn without replacement.

    >>> minigrad.multinomial(minigrad.tensor([0.0, 2.0, 0.0]), 3, replacement=True)
    tensor([1, 1, 1])
    """
    need_tensors("multinomial", input)
    weights = np.atleast_2d(np.asarray(input._elements("multinomial"), np.float64))
    stream = generator or default_generator
    if input.ndim not in (1, 2) or num_samples < 1:
        raise ValueError(f"multinomial: {num_samples} draws from shape {input.shape}; it needs one or two axes")
    if not (np.isfinite(weights).all() and (weights >= 0.0).all() and weights.any(1).all()):
        raise ValueError("multinomial: weights are finite, not negative, and not all 0")
    if not replacement and (np.count_nonzero(weights, 1) < num_samples).any():
        raise ValueError(f"multinomial: fewer than {num_samples} places have a weight; draw with replacement=True")
    if replacement:
        sums = weights.cumsum(1)
        at = stream.uniform(0.0, 1.0, (len(weights), num_samples)).numpy() * sums[:, -1:]
        drawn = np.stack([np.searchsorted(row, x, "right") for row, x in zip(sums, at, strict=True)])
    else:  # the earliest of events that come at these rates
        with np.errstate(divide="ignore"):
            times = -np.log1p(-stream.uniform(0.0, 1.0, weights.shape).numpy()) / weights
        drawn = np.argsort(times, 1, kind="stable")[:, :num_samples]
    return input.from_host(drawn.reshape(*input.shape[:-1], num_samples))
