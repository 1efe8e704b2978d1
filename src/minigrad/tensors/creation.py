"""Making tensors, and the functions of tensors that are no methods; names and meanings are PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike

from minigrad import backends, functions, layout, tensor_functions
from minigrad.backends import arrays, guarded
from minigrad.tensors import Tensor, abstract_mode, need_tensors
from minigrad.tensors.random import Generator, default_generator, draws_floats
from minigrad.tensors.shapes import by_numpys_name
from minigrad.tensors.types import (
    dtype_of,
    need_booleans,
    number_in,
    number_to_fill,
    outside,
    python_number,
    shape_to_make,
    sizes_given,
)

__all__ = [
    "Generator",
    "arange",
    "as_tensor",
    "cat",
    "concat",
    "concatenate",
    "default_generator",
    "empty",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "linear",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "stack",
    "tensor",
    "where",
    "zeros",
    "zeros_like",
]


def manual_seed(seed: int) -> Generator:
    """Seed the generator that random functions use by default, and return it.

    >>> _ = minigrad.manual_seed(0)
    >>> first = minigrad.rand(3)
    >>> _ = minigrad.manual_seed(0)
    >>> first.equal(minigrad.rand(3))
    True
    """
    return default_generator.manual_seed(seed)


def _made(array: Any, requires_grad: bool, device: str | None) -> Tensor:
    device = device or ("cuda" if backends.chosen() == "cuda" else "cpu")
    moved = Tensor(array).to(device=device)
    return Tensor(moved._array, requires_grad)


def tensor(data: Any, dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False) -> Tensor:
    """Copy numbers, nested lists or arrays into a new tensor.

    Args:
        data: Any of these. Python floats get the default type (see `set_default_dtype`), ints int64, bools bool;
            NumPy's numbers and arrays, and tensors, keep theirs, also in lists, where the widest one is taken.
        dtype: Another type.
        device: "cpu" or "cuda".
        requires_grad: Whether the tensor is a leaf that backward gives a gradient.

    Raises:
        ValueError: If lists are not of equal lengths.
        TypeError: If something is no number.

    >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [3., 4.]])
    >>> minigrad.tensor([1, 2], dtype=minigrad.float64, requires_grad=True)
    tensor([1., 2.], dtype=float64, requires_grad=True)
    """
    array = _array_of(data)
    kind = dtype_of(dtype) if dtype is not None else _natural(array, data)
    if kind.kind == "i" and array.dtype != kind:
        _refuse_outside(array, kind)
    elif array.dtype == object:
        array = np.array([number_in("tensor", x, kind) for x in array.flat]).reshape(array.shape)
    return _made(guarded.call(np.array, array, kind, order="C"), requires_grad, device)


def _refuse_outside(array: Any, kind: np.dtype[Any]) -> None:
    """Refuse numbers that a type of integers does not hold: NumPy would wrap them round."""
    limits = np.iinfo(kind)
    above = array < 2.0 ** (limits.bits - 1) if array.dtype.kind == "f" else array <= limits.max
    fits = np.asarray((array >= limits.min) & above, bool)
    if not fits.all():
        raise outside("tensor", array.reshape(-1).tolist()[int(np.argmin(fits))], kind)


def _elements(x: Tensor) -> Any:
    if x.abstract:
        raise x._array.error(
            "tensor() copies numbers, which are unknown here; join tensors with minigrad.stack or minigrad.cat, and "
            "copy one with clone()"
        )
    return abstract_mode.elements(x)


def _array_of(data: Any) -> Any:
    if isinstance(data, Tensor):
        return _elements(data)
    if isinstance(data, list | tuple):
        data = _without_tensors(data)
    try:
        array = np.asarray(data)
    except ValueError:
        raise ValueError("tensor: nested lists must have equal lengths along each axis") from None
    if array.dtype == object and all(isinstance(x, int | float) for x in array.flat):
        return array  # integers of any size
    if array.dtype.kind not in "biuf":
        raise TypeError(f"tensor: needs numbers, not {type(data).__name__} with elements of type {array.dtype}")
    return array


def _without_tensors(data: Any) -> Any:
    if isinstance(data, Tensor):
        return _elements(data)
    if isinstance(data, list | tuple) and not _are_numbers(set(map(type, data))):
        return [_without_tensors(x) for x in data]
    return data


def _are_numbers(kinds: set[type]) -> bool:
    """Return whether a list holds numbers alone: such lists are long, and looked at with the speed of C."""
    return kinds <= _PLAIN or all(issubclass(kind, _NUMBERS) for kind in kinds)


_PLAIN = {bool, int, float}
_NUMBERS = (int, float, np.generic)


def _natural(array: Any, data: Any) -> Any:
    if array.dtype.kind == "b":
        return np.dtype(bool)
    if array.dtype.kind in "iu":
        return np.dtype(np.int32 if _kinds(data) == {np.dtype(np.int32)} else np.int64)
    floats = _floats(data)
    if not floats and array.size and isinstance(data, int | list | tuple):  # whole numbers, of which NumPy made floats
        return np.dtype(np.int64)
    return np.result_type(*(floats or {backends.default_float()}))


def _floats(data: Any) -> set[Any]:
    """Return the floating-point types of a number, an array, or the elements of lists."""
    if isinstance(data, list | tuple):
        kinds = set(map(type, data))
        if kinds == {float}:  # as most rows of a matrix
            return {backends.default_float()}
        return set().union(*map(_floats_of, kinds) if _are_numbers(kinds) else map(_floats, data))
    if isinstance(data, _NUMBERS):
        return _floats_of(type(data))
    return _kept(_array_of(data).dtype) if hasattr(data, "dtype") else {backends.default_float()}


def _kinds(data: Any) -> set[Any]:
    """Return the types of integers that arrays, tensors and numbers of NumPy have; None stands for Python's numbers."""
    if isinstance(data, list | tuple):
        kinds = set(map(type, data))
        if kinds <= _PLAIN:  # as most
            return {None}
        return set().union(*map(_kinds, data))
    return {getattr(data, "dtype", None)}


def _floats_of(kind: type) -> set[Any]:
    """Return the floating-point type of numbers of one class: NumPy's keep theirs, Python's have the default one."""
    if issubclass(kind, np.generic):
        return _kept(np.dtype(kind))
    return {backends.default_float()} if issubclass(kind, float) else set()


def _kept(dtype: np.dtype[Any]) -> set[Any]:
    """Return a floating-point type of NumPy's if tensors have it, else the default one."""
    if dtype.kind != "f":
        return set()
    own = dtype.newbyteorder("=")
    return {own if own in _shared_types else backends.default_float()}


def as_tensor(data: Any, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a tensor of the data. It shares memory with a NumPy array. A tensor is returned as it is.

    >>> array = np.zeros(2)
    >>> x = minigrad.as_tensor(array)
    >>> array[0] = 5.0
    >>> x
    tensor([5., 0.], dtype=float64)
    """
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if isinstance(data, np.ndarray) and data.dtype in _shared_types:
        return from_numpy(data).to(dtype=dtype, device=device)
    return tensor(data, dtype, device)


_shared_types = frozenset(map(np.dtype, (np.float32, np.float64, np.int32, np.int64, np.bool_)))


def from_numpy(ndarray: Any) -> Tensor:
    """Return a tensor that shares memory with a NumPy array.

    Raises:
        TypeError: If it is no array of float32, float64, int32, int64 or bool.
        ValueError: If strides are negative. Such an array must be copied first.

    >>> array = np.array([1.0, 2.0])
    >>> x = minigrad.from_numpy(array)
    >>> array[1] = 9.0
    >>> x
    tensor([1., 9.], dtype=float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: needs a NumPy array, not {type(ndarray).__name__}")
    if ndarray.dtype not in _shared_types:
        raise TypeError(
            f"from_numpy: cannot share an array of {ndarray.dtype}; convert it to one of the types of tensors"
        )
    result = Tensor(ndarray)
    _ = result._tensor  # which refuses strides that tensors cannot have
    return result


def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor that shares memory with an array of another library, by the DLPack protocol.

    >>> minigrad.from_dlpack(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=float64)
    """
    return from_numpy(np.from_dlpack(ext_tensor))


def full(
    size: Sequence[int],
    fill_value: Any,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor with one value everywhere. Its type is by default that of the value, as a Python number.

    >>> minigrad.full((2, 2), 7.0)
    tensor([[7., 7.],
            [7., 7.]])
    >>> minigrad.full((2,), 7)
    tensor([7, 7])
    """
    shape = shape_to_make((size,), "full")
    value = number_to_fill(fill_value)
    kind = dtype_of(dtype) if dtype is not None else _natural(_array_of(value), value)
    return _made(arrays.full(shape, number_in("full", value, kind), kind), requires_grad, device)


def zeros(
    *sizes: Any,
    size: Any = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return zeros, in a shape given as numbers, in a tuple, or by name.

    >>> minigrad.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    return full(sizes_given(sizes, size, "zeros"), 0, kind, device, requires_grad)


def ones(
    *sizes: Any,
    size: Any = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ones, in a shape given as numbers, in a tuple, or by name.

    >>> minigrad.ones((2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    return full(sizes_given(sizes, size, "ones"), 1, kind, device, requires_grad)


def empty(
    *sizes: Any,
    size: Any = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor with arbitrary values, in a shape given as numbers, in a tuple, or by name.

    >>> minigrad.empty(2, 3).shape
    (2, 3)
    """
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    return _made(arrays.empty(sizes_given(sizes, size, "empty"), kind), requires_grad, device)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return one value everywhere, in another tensor's shape, and in its type and device unless others are given.

    >>> minigrad.full_like(minigrad.tensor([1, 2]), 9)
    tensor([9, 9])
    """
    need_tensors("full_like", input)
    return full(input.shape, fill_value, dtype or input.dtype, device or input.device, requires_grad)


def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return zeros in another tensor's shape, and in its type and device unless others are given.

    >>> minigrad.zeros_like(minigrad.tensor([[1.0, 2.0]]))
    tensor([[0., 0.]])
    """
    need_tensors("zeros_like", input)
    return full_like(input, 0, dtype=dtype, device=device, requires_grad=requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ones in another tensor's shape, and in its type and device unless others are given.

    >>> minigrad.ones_like(minigrad.tensor([[1.0, 2.0]]))
    tensor([[1., 1.]])
    """
    need_tensors("ones_like", input)
    return full_like(input, 1, dtype=dtype, device=device, requires_grad=requires_grad)


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return start, start + step, ... below end. A single argument is the end of a range from 0. Integers give int64.

    >>> minigrad.arange(4)
    tensor([0, 1, 2, 3])
    >>> minigrad.arange(1.0, 2.0, 0.25)
    tensor([1.00, 1.25, 1.50, 1.75])
    """
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    start, end, step = (number_to_fill(x, "arange") for x in (start, end, step))
    if not math.isfinite(start) or not math.isfinite(end):
        raise ValueError(f"arange: from {start} to {end}; both ends must be finite")
    if (end - start) * step < 0:
        raise ValueError(f"arange: steps of {step} from {start} never reach {end}; change the sign of the step")
    if all(isinstance(x, int) for x in (start, end, step)):
        start, end = (number_in("arange", x, np.dtype(np.int64)) for x in (start, end))
    values = np.arange(start, end, step)
    kind = dtype_of(dtype) if dtype is not None else _natural(values, 0.0 if values.dtype.kind == "f" else 0)
    if values.size:
        for x in (values[0], values[-1]):
            number_in("arange", x.item() if hasattr(x, "item") else x, kind)
    return _made(values.astype(kind), requires_grad, device)


def linspace(
    start: float,
    end: float,
    steps: int,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return that many numbers at equal distances, from start to end, both included.

    >>> minigrad.linspace(0.0, 1.0, 5)
    tensor([0.00, 0.25, 0.50, 0.75, 1.00])
    """
    if steps < 0:
        raise ValueError(f"linspace: the number of steps is at least 0, not {steps}")
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    return _made(np.linspace(start, end, steps).astype(kind), requires_grad, device)


def eye(
    n: int,
    m: int | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the identity matrix of n rows and m columns (by default n).

    >>> minigrad.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    return _made(np.eye(n, m, dtype=kind), requires_grad, device)


def _random(name: str, values: Tensor, dtype: DTypeLike | None, device: str | None, requires_grad: bool) -> Tensor:
    kind = dtype_of(dtype) if dtype is not None else backends.default_float()
    draws_floats(name, kind)
    if values.abstract:
        return values.to(kind)
    return _made(values._array.astype(kind), requires_grad, device)


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers, evenly from [0, 1).

    >>> x = minigrad.rand(2, 3)
    >>> x.shape, bool((x >= 0).all()), bool((x < 1).all())
    ((2, 3), True, True)
    """
    made = (generator or default_generator).uniform(0.0, 1.0, sizes_given(sizes, size, "rand"))
    result = _random("rand", made, dtype, device, requires_grad)
    if result.abstract:
        return result.minimum(1.0 - 2.0**-24) if result.dtype == np.float32 else result
    if result.dtype == np.float32:  # rounding may reach 1
        np.minimum(result._array, np.float32(1.0 - 2.0**-24), out=result._array) if result.device == "cpu" else None
    return result


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers from the standard normal distribution.

    >>> minigrad.randn(2, 3).shape
    (2, 3)
    """
    made = (generator or default_generator).normal(0.0, 1.0, sizes_given(sizes, size, "randn"))
    return _random("randn", made, dtype, device, requires_grad)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `rand` in another tensor's shape, and in its type and device unless others are given.

    >>> minigrad.rand_like(minigrad.zeros(2, 3)).shape
    (2, 3)
    """
    need_tensors("rand_like", input)
    kind = input.dtype if dtype is None else dtype_of(dtype)
    draws_floats("rand_like", kind)
    where = device or input.device
    return rand(input.shape, generator=generator, dtype=kind, device=where, requires_grad=requires_grad)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return `randn` in another tensor's shape, and in its type and device unless others are given.

    >>> minigrad.randn_like(minigrad.zeros(2, 3)).shape
    (2, 3)
    """
    need_tensors("randn_like", input)
    kind = input.dtype if dtype is None else dtype_of(dtype)
    draws_floats("randn_like", kind)
    where = device or input.device
    return randn(input.shape, generator=generator, dtype=kind, device=where, requires_grad=requires_grad)


def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random integers from low to high - 1. ``randint(high, size)`` starts at 0.

    Args:
        low: The smallest.
        high: One more than the largest.
        size: The shape.
        generator: Where random numbers come from. None takes the default generator.
        dtype: The type, int64 by default.
        device: "cpu" or "cuda".
        requires_grad: Whether the tensor, of floats then, is a leaf that backward gives a gradient.

    >>> x = minigrad.randint(1, 7, (5,))
    >>> x.dtype, set(x.tolist()) <= {1, 2, 3, 4, 5, 6}
    (dtype('int64'), True)
    """
    if size is None:
        low, high, size = 0, low, high
    elif high is None:  # randint(high, size=(2,))
        low, high = 0, low
    if size is None or high is None:
        raise TypeError("randint: the size is missing; call randint(high, size) or randint(low, high, size)")
    if not low < high:
        raise ValueError(
            f"randint: no integer is at least {low} and less than {high}; call randint(high, size) or "
            "randint(low, high, size)"
        )
    drawn = (generator or default_generator).integers(low, high, shape_to_make((size,), "randint"))
    return _as_asked(drawn, dtype, device, requires_grad)


def _as_asked(x: Tensor, dtype: DTypeLike | None, device: str | None, requires_grad: bool) -> Tensor:
    """Return a new tensor in another type and place, and as a leaf, if that is asked for."""
    x = x if dtype is None and device is None else x.to(dtype=dtype, device=device)
    return x.requires_grad_() if requires_grad else x


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the numbers from 0 to n - 1 in random order.

    >>> sorted(minigrad.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    return _as_asked((generator or default_generator).permutation(n), dtype, device, requires_grad)


# --- functions of several tensors ---------------------------------------------------------------------------


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Return tensors one behind the other along an axis.

    Args:
        tensors: At least one. The shapes may differ along that axis only.
        dim: The axis.
        axis: NumPy's name for dim.

    >>> a, b = minigrad.zeros(1, 2), minigrad.ones(1, 2)
    >>> minigrad.cat([a, b])
    tensor([[0., 0.],
            [1., 1.]])
    >>> minigrad.cat([a, b], dim=1)
    tensor([[0., 0., 1., 1.]])
    """
    dim = dim if axis is None else by_numpys_name(dim, axis, "cat", 0)
    parts = _parts(tensors, dim, "cat")
    if not parts:
        raise ValueError("cat: needs at least one tensor")
    first = parts[0]._array.shape
    along = layout.normal_axis(dim, len(first), "cat")
    for part in parts[1:]:
        shape = part._array.shape
        if len(shape) != len(first) or shape[:along] != first[:along] or shape[along + 1 :] != first[along + 1 :]:
            raise ValueError(f"cat: {first} and {shape}; all sizes but that of axis {dim} must match")
    common = arrays.promote([part._array for part in parts])
    same = [part if part._array.dtype is common else part.to(dtype=common) for part in parts]
    return Tensor._apply(tensor_functions.Cat, same, dim=along)


concat = concatenate = cat


def _parts(tensors: Any, dim: Any, operation: str) -> list[Tensor]:
    """Return the tensors to be joined, in a list."""
    if isinstance(tensors, Tensor) or isinstance(dim, Tensor):
        raise TypeError(f"{operation}: joins the tensors of a list: {operation}([a, b], dim)")
    parts = list(tensors)
    for part in parts:
        if not isinstance(part, Tensor):
            raise TypeError(f"{operation}: joins tensors, not {layout.type_name(part)}; make a tensor of it")
    return parts


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Return tensors of one shape side by side along a new axis.

    >>> minigrad.stack([minigrad.zeros(2), minigrad.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    dim = dim if axis is None else by_numpys_name(dim, axis, "stack", 0)
    parts = _parts(tensors, dim, "stack")
    for part in parts[1:]:
        if part.shape != parts[0].shape:
            raise ValueError(f"stack: {parts[0].shape} and {part.shape}; all shapes must be the same")
    return cat([part.unsqueeze(dim) for part in parts], dim)


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: Any, other: Any) -> Tensor: ...
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return input where the condition holds, else other. The condition alone gives the indices where it holds.

    >>> x = minigrad.tensor([-1.0, 2.0])
    >>> minigrad.where(x > 0, x, 0.0)
    tensor([0., 2.])
    """
    if input is None or other is None:
        return condition.nonzero(as_tuple=True)
    need_booleans("where", condition)
    return Tensor._apply(functions.Where, (condition, python_number(input), python_number(other)))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return input W^T + bias.

    Args:
        input: (..., k).
        weight: (m, k).
        bias: (m,), or None.

    >>> x, weight = minigrad.tensor([[1.0, 2.0]]), minigrad.tensor([[3.0, 4.0]])
    >>> minigrad.linear(x, weight, minigrad.tensor([0.5]))
    tensor([[11.5]])
    """
    need_tensors("linear", input, weight, *(() if bias is None else (bias,)))
    if input.ndim == 0 or weight.ndim != 2 or input.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"linear: input {input.shape} and weight {weight.shape}; the last axis of the input must have the size of "
            "the weight's last"
        )
    if bias is not None and bias.shape != (weight.shape[0],):
        raise ValueError(f"linear: weight {weight.shape} gives {weight.shape[0]} outputs, but bias has {bias.shape}")
    inputs = of_one_type((input, weight) if bias is None else (input, weight, bias))
    return Tensor._apply(tensor_functions.Linear, inputs)


def of_one_type(operands: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return tensors in their common type."""
    first = operands[0]._array.dtype
    for each in operands:
        if each._array.dtype is not first:
            common = arrays.promote([each._array for each in operands])
            return tuple(each.to(dtype=common) for each in operands)
    return operands
