"""What batched and traced tensors share: they have a shape and a type, but no elements of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.tensors import Tensor


class NoArray:
    """Stands where a tensor has its array, with its shape and type; there are no elements to ask for.

    Attributes:
        shape: Of the tensor: under vmap, of one example.
        dtype: Of the elements.
    """

    __slots__ = ("dtype", "shape")
    __array_ufunc__ = None  # NumPy leaves `array * this` to us

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def storage(self) -> NoArray:
        """The memory that it looks at: its own, which nothing else can change."""
        return self

    def to_host(self) -> Any:
        """Refuse: an operation asks for the elements."""
        raise NotImplementedError

    def error(self, message: str) -> Exception:
        """Return the error for something that cannot be done without elements."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__array__":
            raise AttributeError(name)
        return self.to_host()


class AbstractTensor(Tensor):
    """A tensor without elements. Its class says what an operation on it does."""

    __slots__ = ("_is_own",)

    abstract = True
    _is_own: bool

    def own(self, d: Tensor) -> Any:
        """Return a gradient, d or one of this tensor, as a value that nobody else has: `+=` then makes a new one."""
        own: Any = d + 0.0
        own._is_own = True
        return own

    @property
    def data(self) -> Tensor:
        """The same as `detach`. It cannot be assigned to: there is no memory to replace."""
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        array: Any = self._array
        raise array.error("x.data = value replaces the memory of a tensor that has none here; write x = value")

    def __format__(self, spec: str) -> str:
        if spec:
            array: Any = self._array
            raise array.error(
                f"the format {spec!r} asks for a number, which is unknown here; format the result of the call"
            )
        return repr(self)

    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        if not self._is_own:
            return self.add_(other)
        total: Any = self + other
        total._is_own = True
        return total

    def __and__(self, other: object) -> Tensor:
        return self._logical("&", np.bitwise_and, other)

    def __or__(self, other: object) -> Tensor:
        return self._logical("|", np.bitwise_or, other)

    def __xor__(self, other: object) -> Tensor:
        return self._logical("^", np.bitwise_xor, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__  # its own, so that Python asks them first
