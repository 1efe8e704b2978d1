"""Batches by rules, to be read: a function of one example becomes a function of a whole batch.

A `Batched` holds the tensors of all examples, stacked along axis 0, and shows the function the axes of one example
only. Each operation has a rule that computes with all of them at once. `minigrad.transforms.vmap` does the same for
every operation and for trees, and may be nested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.elementwise.entry import OPS
from minigrad.tensors import Tensor, creation

__all__ = ["Batched", "aligned", "axis_to_front", "moved_axis", "unbatched", "vmap"]


class Batched:
    """A tensor of each example: inside a function under `vmap` it looks like the tensor of one.

    Args:
        value: All of them, stacked along axis 0.

    Attributes:
        shape: The shape of one example's tensor, without axis 0 of the value.

    >>> x = minigrad.batching.Batched(minigrad.zeros(5, 3))
    >>> x.shape, (x * 2.0).value.shape
    ((3,), (5, 3))
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that one example sees."""
        return tuple(self.value.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes that one example sees."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.value.dtype

    def __add__(self, other: Any) -> Batched:
        a, b = aligned(self, other)
        return Batched(a + b)

    def __mul__(self, other: Any) -> Batched:
        a, b = aligned(self, other)
        return Batched(a * b)

    def __truediv__(self, other: Any) -> Batched:
        a, b = aligned(self, other)
        return Batched(a / b)

    def __rtruediv__(self, other: Any) -> Batched:
        a, b = aligned(other, self)
        return Batched(a / b)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Batched:
        return self * -1.0

    def __sub__(self, other: Any) -> Batched:
        a, b = aligned(self, other)
        return Batched(a - b)

    def __rsub__(self, other: Any) -> Batched:
        a, b = aligned(other, self)
        return Batched(a - b)

    def __pow__(self, n: float) -> Batched:
        return Batched(self.value**n)

    def __matmul__(self, other: Any) -> Batched:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Batched:
        return _product(other, self)

    def __bool__(self) -> bool:
        raise TypeError("vmap: `if` asks one question for a whole batch, whose examples may differ; use minigrad.where")

    def __getattr__(self, name: str) -> Any:
        if any(name == op.method for op in OPS.values()):  # each element by itself: exp, sin and their kin
            return lambda: Batched(getattr(self.value, name)())
        raise AttributeError(
            f"vmap: there is no batching rule for {name!r} here; minigrad.transforms.vmap has them all"
        )

    def sum(self, dim: int | None = None) -> Batched:
        """Return the sum over an axis of one example, or over all of its axes.

        >>> minigrad.batching.Batched(minigrad.ones(5, 2, 3)).sum(dim=0).shape
        (3,)
        """
        axes = tuple(range(1, self.ndim + 1)) if dim is None else (moved_axis(dim, self.ndim),)
        return Batched(self.value.sum(dim=axes)) if axes else self

    def permute(self, *axes: int) -> Batched:
        """Return the tensor with the axes of one example in another order.

        >>> minigrad.batching.Batched(minigrad.ones(5, 2, 3)).permute(1, 0).shape
        (3, 2)
        """
        return Batched(self.value.permute(0, *[moved_axis(axis, self.ndim) for axis in axes]))

    def view(self, *shape: int) -> Batched:
        """Return the tensor with another shape for each example.

        >>> minigrad.batching.Batched(minigrad.ones(5, 2, 3)).view(6).value.shape
        (5, 6)
        """
        return Batched(self.value.view(self.value.shape[0], *shape))


def _product(x: Any, y: Any) -> Batched:
    """Return the matrix product of each example; a vector is a row on the left, and a column on the right."""
    row, column = len(x.shape) == 1, len(y.shape) == 1
    left, right = aligned(_matrix(x, -2) if row else x, _matrix(y, -1) if column else y)
    found = left @ right
    found = found.squeeze(-1) if column else found
    return Batched(found.squeeze(-1 if column else -2) if row else found)


def _matrix(vector: Any, dim: int) -> Any:
    """Return a vector, or one for each example, with an axis of size 1 more."""
    return Batched(vector.value.unsqueeze(dim)) if isinstance(vector, Batched) else vector.unsqueeze(dim)


def moved_axis(dim: int, ndim: int) -> int:
    """Return where an axis of one example is in the tensor of all examples.

    That has one more axis in front.

    Args:
        dim: The axis as one example sees it, from -ndim to ndim - 1; -1 is the last.
        ndim: The number of axes that one example sees.

    Returns:
        The axis, counted from the front: never 0, which counts the examples.
    """
    ### BEGIN SOLUTION
    return dim % ndim + 1
    ### END SOLUTION


def aligned(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two values so that they broadcast as those of one example do.

    Shapes are aligned at their last axes. So if y has more axes than x, as one example
    sees them, the missing axes of x, of size 1, belong *behind* axis 0, which counts
    the examples. `view` can put them there.

    Args:
        x: A Batched, a tensor that all examples share, or a number.
        y: Likewise; one of the two is a Batched.

    Returns:
        Two tensors or numbers. What all examples share is returned as it is; its axes
        are those of one example.
    """
    ### BEGIN SOLUTION
    ndim = max(len(getattr(z, "shape", ())) for z in (x, y))

    def stretched(z: Any) -> Any:
        if not isinstance(z, Batched):
            return z
        return z.value.view(z.value.shape[0], *[1] * (ndim - z.ndim), *z.shape)

    return stretched(x), stretched(y)
    ### END SOLUTION


def axis_to_front(x: Any, axis: int) -> Any:
    """Return a tensor with one of its axes moved to the front.

    >>> minigrad.batching.axis_to_front(minigrad.zeros(2, 3, 4), 1).shape
    (3, 2, 4)
    """
    axis = axis % x.ndim
    return x.permute(axis, *[other for other in range(x.ndim) if other != axis])


def unbatched(y: Any, size: int) -> Any:
    """Return the tensor of all examples, for each result of a function under `vmap`.

    >>> minigrad.batching.unbatched((minigrad.batching.Batched(minigrad.zeros(2, 3)), 7.0), 2)
    (tensor([[0., 0., 0.],
            [0., 0., 0.]]), tensor([7., 7.]))
    """
    if isinstance(y, tuple | list):
        return type(y)(unbatched(each, size) for each in y)
    if isinstance(y, Batched):
        return y.value
    y = y if isinstance(y, Tensor) else creation.tensor(y)
    return y.unsqueeze(0).expand(size, *y.shape)  # it is the same for all examples


def vmap(
    f: Callable[..., Any],
    in_axes: int | tuple[int | None, ...] = 0,
) -> Callable[..., Any]:
    """Return the function of a batch.

    It gives what a loop over the examples would give, stacked along axis 0.

    It calls f once, with a Batched for each argument. An argument that all examples
    share is repeated for each of them, by `expand`, which copies nothing: so that each
    example has a gradient of its own in it.

    Args:
        f: A function of the tensors of one example.
        in_axes: For each argument the axis that counts the examples, or None if all
            share the argument; one number serves for all arguments. `axis_to_front`
            moves an axis.

    Returns:
        A function of the same arguments; `unbatched` makes its results. It raises a
        ValueError if the arguments disagree about the number of examples, or if none of
        them counts any.
    """
    ### BEGIN SOLUTION

    def of_batch(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        sizes = {x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None}
        if len(sizes) != 1:
            raise ValueError(f"vmap: the arguments must have one number of examples, not {sorted(sizes)}; see in_axes")
        size = sizes.pop()
        batches = [
            x.expand(size, *x.shape) if axis is None else axis_to_front(x, axis)
            for x, axis in zip(args, axes, strict=True)
        ]
        return unbatched(f(*[Batched(x) for x in batches]), size)

    return of_batch
    ### END SOLUTION
