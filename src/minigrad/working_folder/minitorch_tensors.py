"""Stand-ins for MiniTorch's tensors: what an answer to `Permute` may ask of them.

They hold values and strides as MiniTorch's do, share storages, and keep no history: an answer's forward and backward
get tensors without one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import operators, tensor_data
from minigrad.errors import MinigradError


class TensorData(tensor_data.TensorData):
    """Our TensorData with the rest of MiniTorch's members; a permuted one is a stand-in again."""

    __slots__ = ()

    @classmethod
    def like(cls, data: tensor_data.TensorData) -> TensorData:
        """Return a stand-in over the same storage."""
        return cls(data.storage, data.shape, data.strides, data.offset)

    def permute(self, *order: Any) -> TensorData:
        """Permute by whole numbers of any type: MiniTorch's orders are tensors, whose elements are floats."""
        return self.like(super().permute(*[int(axis) if axis == int(axis) else axis for axis in order]))

    def sample(self) -> tuple[int, ...]:
        """Return a random index."""
        return tuple(random.randint(0, size - 1) for size in self.shape)

    def to_cuda_(self) -> None:
        """Stay where the elements are."""


class Context:
    """What forward saves for backward.

    Args:
        no_grad: As in MiniTorch; nothing is saved then.
        unwraps: Whether a single saved value comes back alone, as in MiniTorch until 2021.
    """

    def __init__(self, no_grad: bool = False, unwraps: bool = False) -> None:
        self.no_grad = no_grad
        self._saved: tuple[Any, ...] = ()
        self._unwraps = unwraps

    def save_for_backward(self, *values: Any) -> None:
        """Keep values."""
        self._saved = () if self.no_grad else values

    @property
    def saved_values(self) -> Any:
        """The saved values."""
        return self._saved[0] if self._unwraps and len(self._saved) == 1 else self._saved

    @property
    def saved_tensors(self) -> Any:
        """The saved values."""
        return self.saved_values


class TensorBackend:
    """Functions of tensors by MiniTorch's names, element by element."""

    cuda = is_cuda = False

    def __init__(self, *_ops: Any) -> None:
        for name in ("neg", "sigmoid", "relu", "log", "exp", "id", "inv"):
            setattr(self, f"{name}_map", _elementwise(getattr(operators, name), inputs=1))
        self.id_cmap = _elementwise(operators.id, inputs=1)
        for name in ("add", "mul", "lt", "eq", "is_close", "relu_back", "log_back", "inv_back"):
            setattr(self, f"{name}_zip", _elementwise(getattr(operators, name), inputs=2))
        self.add_reduce, self.mul_reduce = _folding(np.sum), _folding(np.prod)

    @staticmethod
    def matrix_multiply(a: Tensor, b: Tensor) -> Tensor:
        """Return the matrix product."""
        return _made(_array(a) @ _array(b))


def _array(x: Any) -> Any:
    return x._tensor.array if isinstance(x, Tensor) else np.asarray(x, dtype=float)


def _made(array: Any) -> Tensor:
    found = np.array(array, dtype=float, ndmin=1)
    return Tensor(TensorData(found.ravel(), found.shape))


def _elementwise(function: Callable[..., float], inputs: int) -> Callable[..., Tensor]:
    loop = np.vectorize(function, otypes=[float])

    def run(*tensors: Tensor) -> Tensor:
        values = loop(*map(_array, tensors[:inputs]))
        if len(tensors) == inputs:
            return _made(values)
        out = tensors[inputs]  # a tensor to write into
        out._tensor.array[...] = values
        return out

    return run


def _folding(fold: Callable[..., Any]) -> Callable[[Tensor, int], Tensor]:
    return lambda a, dim: _made(fold(_array(a), axis=int(dim), keepdims=True))


class Tensor:
    """A tensor without a history, with MiniTorch's members.

    Args:
        v: The elements; their storage is shared.
        back: A history, which is only kept.
        name: A name.
        backend: MiniTorch's backend; every backend computes the same here.
    """

    def __init__(
        self, v: tensor_data.TensorData, back: Any = None, name: str | None = None, backend: Any = None
    ) -> None:
        self._tensor = v if isinstance(v, TensorData) else TensorData.like(v)
        self.history = back
        self.grad: Any = None
        self.backend = self.f = _backend if backend is None else backend
        self.unique_id = id(self)
        self.name = str(self.unique_id) if name is None else name

    shape = property(lambda self: self._tensor.shape)
    size = property(lambda self: self._tensor.size)
    dims = property(lambda self: self._tensor.dims)
    parents = property(lambda self: () if self.history is None else self.history.inputs)

    def _new(self, data: tensor_data.TensorData) -> Tensor:
        return Tensor(data, backend=self.backend)

    def _type_(self, backend: Any) -> None:
        self.backend = self.f = backend

    def _ensure_tensor(self, b: Any) -> Tensor:
        return b if isinstance(b, Tensor) else _made(b)

    @staticmethod
    def make(storage: Any, shape: Any, strides: Any = None, backend: Any = None) -> Tensor:
        """Return a tensor over a storage."""
        own = storage if isinstance(storage, np.ndarray) else np.array(storage, dtype=float)
        return Tensor(TensorData(own, tuple(shape), None if strides is None else tuple(strides)), backend=backend)

    def zeros(self, shape: Any = None) -> Tensor:
        """Return zeros of a shape, or of this one."""
        return zeros(self.shape if shape is None else shape)

    def tuple(self) -> Any:
        """Return storage, shape and strides."""
        return self._tensor.tuple()

    def item(self) -> float:
        """Return the only element."""
        return float(_array(self).item())

    def to_numpy(self) -> Any:
        """Return the elements as an array."""
        return _array(self).copy()

    def detach(self) -> Tensor:
        """Return a tensor of the same storage."""
        return self._new(self._tensor)

    get_data = detach  # its name until 2021

    def contiguous(self) -> Tensor:
        """Return a tensor whose elements lie row by row."""
        return _made(_array(self))

    def permute(self, *order: Any) -> Tensor:
        """Return the same elements with the axes in another order."""
        return self._new(self._tensor.permute(*order))

    def view(self, *shape: int) -> Tensor:
        """Return the same storage with another shape; as in MiniTorch, only of elements that lie row by row."""
        assert self._tensor.is_contiguous(), "Must be contiguous to view"
        return self._new(TensorData.like(self._tensor.view(*shape)))

    def expand(self, other: Any) -> Tensor:
        """Return a gradient in this shape: repeated, or summed over what was broadcast."""
        given = _array(self._ensure_tensor(other))
        out = np.broadcast_to(given, np.broadcast_shapes(self.shape, given.shape))
        extra = out.ndim - self._tensor.dims
        axes = [i for i, n in enumerate(out.shape) if i < extra or (self.shape[i - extra] == 1 and n != 1)]
        return _made(out.sum(axis=tuple(axes), keepdims=True).reshape(self.shape))

    def sum(self, dim: int | None = None) -> Tensor:
        """Return the sum of all elements, or along an axis, which stays with size 1."""
        return _made(_array(self).sum() if dim is None else _array(self).sum(axis=dim, keepdims=True))

    def mean(self, dim: int | None = None) -> Tensor:
        """Return the mean."""
        return _made(_array(self).mean() if dim is None else _array(self).mean(axis=dim, keepdims=True))

    def all(self, dim: int | None = None) -> Tensor:
        """Return the product, which is 1.0 if all elements are."""
        return _made(_array(self).prod() if dim is None else _array(self).prod(axis=dim, keepdims=True))

    def __getitem__(self, key: Any) -> Any:
        return self._tensor.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._tensor.set(key, value)

    def __repr__(self) -> str:
        return self._tensor.to_string()

    # The elements decide, as in MiniTorch; tensors are then no keys of a dictionary there either.
    __hash__ = None  # type: ignore[assignment]

    def requires_grad_(self, x: bool) -> None:
        """Do nothing: there is no history to begin."""

    def requires_grad(self) -> bool:
        """Return whether there is a history."""
        return self.history is not None

    def is_constant(self) -> bool:
        """Return whether there is none."""
        return self.history is None

    def is_leaf(self) -> bool:
        """Return whether the history has no function."""
        return self.history is not None and self.history.last_fn is None

    def accumulate_derivative(self, x: Any) -> None:
        """Add to the gradient."""
        self.grad = x if self.grad is None else self.grad + x

    def zero_grad_(self) -> None:
        """Forget the gradient."""
        self.grad = None

    zero_derivative_ = zero_grad_

    def chain_rule(self, d_output: Any = None) -> Any:
        """Refuse: forward and backward get tensors without a history."""
        raise MinigradError("this tensor stands for one of MiniTorch's, and has no history to go back through")

    backward = chain_rule


def _method(function: Callable[..., Any]) -> Callable[..., Tensor]:
    return lambda self, *others: _made(function(_array(self), *map(_array, others)))


for _name in ("sigmoid", "relu", "log", "exp", "is_close"):
    setattr(Tensor, _name, _method(np.vectorize(getattr(operators, _name), otypes=[float])))
for _name in ("add", "sub", "mul", "truediv", "matmul", "lt", "gt", "eq", "neg", "radd", "rmul", "rtruediv"):
    setattr(Tensor, f"__{_name}__", _method(getattr(np.ndarray, f"__{_name}__")))

_backend = TensorBackend()


def zeros(shape: Sequence[int], backend: Any = None) -> Tensor:
    """Return a tensor of zeros."""
    return Tensor.make(np.zeros(int(np.prod(tuple(shape)))), shape, backend=backend)


def rand(shape: Sequence[int], backend: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor of random numbers."""
    return Tensor.make([random.random() for _ in range(int(np.prod(tuple(shape))))], shape, backend=backend)


def tensor(ls: Any, backend: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor of nested lists."""
    return _made(ls)


def _tensor(ls: Any, shape: Sequence[int], backend: Any = None, requires_grad: bool = False) -> Tensor:
    return Tensor.make(ls, shape, backend=backend)


class Function:
    """The base of functions of tensors: it runs forward on tensors without a history."""

    @classmethod
    def _forward(cls, ctx: Any, *inputs: Any) -> Any:
        return cls.forward(ctx, *inputs)  # type: ignore[attr-defined]

    @classmethod
    def _backward(cls, ctx: Any, d_output: Any) -> tuple[Any, ...]:
        found = cls.backward(ctx, d_output)  # type: ignore[attr-defined]
        return found if isinstance(found, tuple) else (found,)

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """Run forward."""
        return cls._forward(Context(), *inputs)


NAMES = {
    "Context": Context,
    "Function": Function,
    "FunctionBase": Function,
    "SimpleBackend": _backend,
    "Tensor": Tensor,
    "TensorBackend": TensorBackend,
    "TensorData": TensorData,
    "_tensor": _tensor,
    "rand": rand,
    "tensor": tensor,
    "zeros": zeros,
}
"""What MiniTorch's files of tensors define, by name."""
