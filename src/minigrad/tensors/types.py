"""The methods of `Tensor` that change its type or device, or copy it."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from minigrad import layout, tensor_functions
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded
from minigrad.tensors import abstract_mode

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

DTYPES = frozenset(map(np.dtype, (np.float32, np.float64, np.int32, np.int64, np.bool_)))


class Types:
    """Conversions and copies.

    >>> minigrad.tensor([1.0, 0.0]).bool()
    tensor([ True, False])
    """

    __slots__ = ()
    _array: Any

    def clone(self) -> Tensor:
        """Return a row-major copy. Gradients pass through.

        >>> x = minigrad.tensor([1.0, 2.0])
        >>> y = x.clone()
        >>> y[0] = 9.0
        >>> x
        tensor([1., 2.])
        """
        is_recorded = grad_mode.enabled and self._array.dtype.kind == "f"
        if not is_recorded and not abstract_mode.depth:  # a third of the time
            return cast("Tensor", cast(Any, self)._of_array(arrays.contiguous(self._array)))
        return tensor_functions.Clone.apply(self)

    def to(
        self,
        *args: Any,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
    ) -> Tensor:
        """Return the tensor with another type or on another device, or itself if nothing changes.

        Args:
            *args: A dtype, a device ("cpu" or "cuda"), or another tensor to be like; then non_blocking and copy.
            dtype: The type.
            device: The device.
            non_blocking: Taken, and without effect: the tensor is complete when this returns.
            copy: Whether to copy also where nothing changes.

        >>> minigrad.tensor([1.7, -1.7]).to(minigrad.int64)
        tensor([ 1, -1])
        >>> minigrad.tensor([1, 2]).to("cpu").device
        'cpu'
        """
        if args and args[-1].__class__ is bool:
            args, copy = switches_apart(args)
        for given in args:
            if hasattr(given, "_array"):
                dtype, device = given.dtype, given.device
            elif isinstance(given, str) and not hasattr(np, given):
                device = given
            else:
                dtype = given
        x = cast(Any, self)
        if device is not None and _device(device) != x.device:
            moved = tensor_functions.ToDevice.apply(x, device=_device(device))
            x = moved
        result = x if dtype is None else _cast(x, dtype)
        return cast("Tensor", result.clone() if copy and result is self else result)

    def type(self, dtype: DTypeLike | None = None, non_blocking: builtins.bool = False) -> Any:
        """Return the tensor with another type, or without an argument the name of its type.

        Args:
            dtype: The type.
            non_blocking: Taken, and without effect.

        >>> minigrad.tensor([1, 2]).type()
        'int64'
        >>> minigrad.tensor([1, 2]).type(minigrad.float32)
        tensor([1., 2.])
        """
        return str(self._array.dtype) if dtype is None else self.to(dtype=dtype)

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with another tensor's type.

        >>> minigrad.tensor([1, 2]).type_as(minigrad.tensor([0.5]))
        tensor([1., 2.])
        """
        return self.to(dtype=other.dtype)

    def float(self) -> Tensor:
        """Return the tensor as float32.

        >>> minigrad.tensor([1, 2]).float()
        tensor([1., 2.])
        """
        return self.to(dtype=np.float32)

    def double(self) -> Tensor:
        """Return the tensor as float64.

        >>> minigrad.tensor([1, 2]).double().dtype
        dtype('float64')
        """
        return self.to(dtype=np.float64)

    def long(self) -> Tensor:
        """Return the tensor as int64, rounded towards 0.

        >>> minigrad.tensor([1.7, -1.7]).long()
        tensor([ 1, -1])
        """
        return self.to(dtype=np.int64)

    def int(self) -> Tensor:
        """Return the tensor as int32, rounded towards 0.

        >>> minigrad.tensor([1.7, -1.7]).int()
        tensor([ 1, -1], dtype=int32)
        """
        return self.to(dtype=np.int32)

    def bool(self) -> Tensor:
        """Return where elements are not 0.

        >>> minigrad.tensor([0.0, 2.0]).bool()
        tensor([False,  True])
        """
        return self.to(dtype=np.bool_)

    def cpu(self) -> Tensor:
        """Return the tensor in the memory of the CPU.

        >>> minigrad.tensor([1.0]).cpu().device
        'cpu'
        """
        return self.to(device="cpu")

    def cuda(self, device: Any = None, non_blocking: builtins.bool = False) -> Tensor:
        """Return the tensor on the CUDA device.

        Args:
            device: None, or "cuda"; a number is taken, as of the only one.
            non_blocking: Taken, and without effect: the tensor is complete when this returns.
        """
        return self.to(device="cuda" if device is None or isinstance(device, builtins.int) else device)

    def new_zeros(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Return zeros of this tensor's type and device, or of others. The arguments are those of `zeros`.

        >>> minigrad.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
        """
        shape = sizes_given(sizes, size, "new_zeros")
        return self.new_full(shape, 0.0, dtype=dtype, device=device, requires_grad=requires_grad)

    def new_ones(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Return ones of this tensor's type and device, or of others. The arguments are those of `ones`.

        >>> minigrad.tensor([1, 2]).new_ones(2, 2)
        tensor([[1, 1],
                [1, 1]])
        """
        shape = sizes_given(sizes, size, "new_ones")
        return self.new_full(shape, 1.0, dtype=dtype, device=device, requires_grad=requires_grad)

    def new_full(
        self,
        size: Sequence[Any],
        fill_value: Any,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """Return one value everywhere, with this tensor's type and device, or with others.

        >>> minigrad.tensor([1.0]).new_full((2,), 4)
        tensor([4., 4.])
        """
        this = cast("Tensor", self)
        kind = this._array.dtype if dtype is None else dtype_of(dtype)
        shape = shape_to_make((size,), "full")
        made = this.from_host(arrays.full(shape, number_in("new_full", number_to_fill(fill_value), kind), kind))
        made = made if device is None else made.to(device=device)
        return made.requires_grad_() if requires_grad else made


def switches_apart(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
    """Return the arguments of `Tensor.to` without those for non_blocking and copy, and the latter's value."""
    switches = [given for given in args[-2:] if isinstance(given, bool)]
    return args[: len(args) - len(switches)], switches[1:] == [True]


def python_number(value: Any) -> Any:
    """Return a number of NumPy's, or an array without axes, as Python's: so it widens no type of its kind.

    A truth value becomes 1.0 or 0.0, as in PyTorch. NumPy hands on its own numbers so in comparisons.

    >>> from minigrad.tensors import python_number
    >>> python_number(np.float32(0.5))
    0.5
    """
    number = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    if isinstance(number, np.bool_ | np.floating):
        return float(number)
    return number.item() if isinstance(number, np.number) else number


def sizes_given(sizes: tuple[Any, ...], size: Any, operation: str) -> tuple[int, ...]:
    """Return the shape of a new tensor, given as numbers, as one sequence, or by name."""
    return shape_to_make(sizes if size is None else (*sizes, size), operation)


def shape_to_make(given: tuple[Any, ...], operation: str) -> tuple[int, ...]:
    """Return the shape of a new tensor, given as numbers or as one sequence."""
    shape = layout.sizes_of(given, operation)
    if min(shape, default=0) < 0:
        raise ValueError(f"{operation}: sizes are at least 0, not {shape}")
    return tuple(shape)


def number_to_fill(value: Any, operation: str = "full") -> float:
    """Return the one number that a tensor is to be filled with, a number of Python's.

    Raises:
        TypeError: If it is none.
    """
    number = value.item() if hasattr(value, "_array") and not value.ndim else python_number(value)
    if not isinstance(number, int | float):
        wants = "fills with" if operation == "full" else "needs"
        raise TypeError(f"{operation}: {wants} one number, not {layout.type_name(value)}")
    return number


def number_in(operation: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number of Python's as a tensor of a type holds it; integers cut a fraction off, as in PyTorch.

    Raises:
        OverflowError: If it is outside of the type's range.

    >>> from minigrad.tensors.types import number_in
    >>> number_in("full", 2.7, np.dtype(np.int32))
    2
    """
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise outside(operation, value, dtype)
        return int(value)
    if abs(value) > float(np.finfo(dtype).max) and value not in (math.inf, -math.inf):
        raise outside(operation, value, dtype)
    return float(value)


def outside(operation: str, value: Any, dtype: np.dtype[Any]) -> OverflowError:
    """Return the error for a number that a type does not hold."""
    if dtype.kind == "f":
        said = value if isinstance(value, float) else f"a whole number of {value.bit_length()} bits"
        return OverflowError(f"{operation}: {said} is too large for {dtype}")
    limits = np.iinfo(dtype)
    return OverflowError(
        f"{operation}: {value} is outside of {dtype}, which holds whole numbers from {limits.min} to {limits.max}; "
        "choose a wider type, or floats"
    )


def value_in(operation: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number or a tensor, which is to be put into a tensor of a type, in that type."""
    if isinstance(value, Types):
        return value.to(dtype=dtype)
    number = python_number(value)
    return number_in(operation, number, dtype) if isinstance(number, int | float) else number


def need_booleans(operation: str, condition: Any) -> None:
    """Refuse a condition that is no truth value: a number in its place is more often a mistake than meant as one.

    Raises:
        TypeError: If it is a tensor of another type, or anything else.
    """
    kind = condition._array.dtype if isinstance(condition, Types) else None
    if not (isinstance(condition, bool) if kind is None else kind.kind == "b"):
        given = layout.type_name(condition) if kind is None else f"a tensor of {kind}"
        raise TypeError(
            f"{operation}: a condition is a tensor of booleans, not {given}; compare, as in x > 0, or convert it with "
            ".bool()"
        )


def _device(name: str) -> str:
    kind = str(name).split(":")[0]
    if kind not in ("cpu", "cuda"):
        raise ValueError(f"there is no device {name!r}; the devices are 'cpu' and 'cuda'")
    return kind


def dtype_of(dtype: DTypeLike) -> Any:
    """Return a type that tensors may have.

    Raises:
        TypeError: If it is another.

    >>> from minigrad.tensors.types import dtype_of
    >>> dtype_of(float)
    dtype('float64')
    """
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in DTYPES:
        name = getattr(dtype, "__name__", dtype)
        raise TypeError(f"{name} is no type of tensors: those are float32, float64, int32, int64 and bool")
    return found


def _cast(x: Any, dtype: DTypeLike) -> Any:
    wanted = dtype_of(dtype)
    if x.dtype == wanted:
        return x
    if not abstract_mode.depth and not (wanted.kind == x.dtype.kind == "f"):  # nothing to record: half of the time
        return x._of_array(guarded.call(arrays.cast_to, x._array, wanted))
    return tensor_functions.Cast.apply(x, dtype=wanted)
