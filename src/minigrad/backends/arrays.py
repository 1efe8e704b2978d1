"""Operations on plain arrays: what tensors compute with, once nothing is left to record.

An array is a NumPy array on the CPU, or a `DeviceArray` on a GPU. Every function here picks the quickest correct way:
NumPy's own loops for small arrays, a compiled kernel for large ones, and the specification in plain Python where that
backend was asked for. Shapes are checked before; nothing here knows of gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import backends, operators
from minigrad.backends import numpy_forms

if TYPE_CHECKING:
    from minigrad.operators import Expression

Array = Any
"""A NumPy array or a DeviceArray; scalars of NumPy and Python numbers are accepted where arrays are."""

_NUMBERS = frozenset((float, int, bool))
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_COMPARISONS = frozenset(name for name, form in operators.FORMS.items() if form.compares)
_KEEP_INTEGERS = frozenset(name for name, form in operators.FORMS.items() if form.keeps_integers)
_DEAR = frozenset(name for name, form in operators.FORMS.items() if form.is_dear)
# Elements from which a compiled loop is quicker than NumPy's, for cheap and for dear operations.
LARGE, LARGE_AND_DEAR = 32_768, 4_096


def on_host(*arrays: Array) -> bool:
    """Return whether all arrays are NumPy's (or numbers).

    >>> from minigrad.backends import arrays
    >>> arrays.on_host(np.zeros(2), 1.0)
    True
    """
    for x in arrays:  # noqa: SIM110 (a generator takes three times as long, and this is asked for every operation)
        if x.__class__ is not np.ndarray and hasattr(x, "to_host"):
            return False
    return True


def to_host(x: Array) -> Any:
    """Return a NumPy array with the same values, or the same array if it is on the CPU."""
    return x.to_host() if hasattr(x, "to_host") else x


def to_device(x: Array, device: str) -> Array:
    """Return the array on "cpu" or "cuda", or the same array if it is there."""
    if device == "cpu":
        return to_host(x)
    return x if not on_host(x) else backends.cuda().from_host(x)


def add_rows(out: Array, places: Array, rows: Array) -> None:
    """Add each row to the one of out that its place names, as ``numpy.add.at`` does.

    Args:
        out: Any shape with at least one axis, in row-major order; on the CPU.
        places: Which row, integers of any shape; negative ones count from the end.
        rows: Shape of places, then out's without its first axis.

    >>> from minigrad.backends import arrays
    >>> out = np.zeros((3, 2))
    >>> arrays.add_rows(out, np.array([2, 0, 2]), np.ones((3, 2)))
    >>> out.tolist()
    [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    """
    count = len(out)
    form = getattr(backends.current(out), "add_rows", None)
    suits = rows.size >= LARGE_AND_DEAR and rows.dtype == out.dtype and out.dtype in FLOATS
    suits = suits and rows.shape == places.shape + out.shape[1:]
    if form is not None and suits and -count <= places.min() and places.max() < count:
        form(out, np.ascontiguousarray(places, np.int64) % count, np.ascontiguousarray(rows))
    else:
        np.add.at(out, places, rows)


def is_small(shape: Sequence[int], kernel: str = "") -> bool:
    """Return whether NumPy serves a result of that shape.

    >>> from minigrad.backends import arrays
    >>> arrays.is_small((2, 3)), arrays.is_small((10_000, 10_000))
    (True, False)
    """
    return math.prod(shape) < large_for(kernel)


def large_for(kernel: str) -> int:
    """Return how many elements a result has from which on a compiled loop serves an operator.

    >>> from minigrad.backends import arrays
    >>> arrays.large_for("mul") > arrays.large_for("exp")
    True
    """
    return LARGE_AND_DEAR if kernel in _DEAR else LARGE


def promote(inputs: Sequence[Any]) -> Any:
    """Return the dtype that a computation on these arrays and numbers has, by PyTorch's rule.

    Floats win over integers, integers over booleans. Among floats the wider wins; but arrays without dimensions and
    Python numbers only count where nothing else is of their kind.

    >>> from minigrad.backends import arrays
    >>> arrays.promote([np.zeros(2, np.float32), np.zeros(2, np.int64)])
    dtype('float32')
    """
    dtypes = {x.dtype for x in inputs if hasattr(x, "dtype")}
    if len(dtypes) == 1 and (only := dtypes.pop()).kind == "f":
        return only
    ranked = [_rank(x) for x in inputs]
    kind = max(kind for kind, _, _ in ranked)
    strong = [dtype for k, with_axes, dtype in ranked if k == kind and with_axes == 2]
    weak = [dtype for k, with_axes, dtype in ranked if k == kind and with_axes == 1]
    return (
        np.result_type(*(strong or weak))
        if strong or weak
        else (np.dtype(bool), np.dtype(np.int64), backends.default_float())[kind]
    )


def _rank(x: Any) -> tuple[int, int, Any]:
    """Return kind (0 bool, 1 integer, 2 float), weight (2 axes, 1 none, 0 a Python number) and dtype."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return (0 if isinstance(x, bool) else 1 if isinstance(x, int) else 2), 0, None
    return {"b": 0, "i": 1, "u": 1, "f": 2}[dtype.kind], (2 if x.ndim else 1), dtype


def cast_to(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array with another dtype, or the same array if it has it already.

    >>> from minigrad.backends import arrays
    >>> arrays.cast_to(np.array([1.7, -1.7]), np.int64)
    array([ 1, -1])
    """
    if getattr(x, "dtype", None) == dtype:
        return x
    return x.astype(dtype) if hasattr(x, "astype") else np.asarray(x, dtype)


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return a NumPy array with arbitrary values. A large one comes from the pool of buffers.

    >>> minigrad.backends.arrays.empty((2, 3), np.float32).shape
    (2, 3)
    """
    if is_small(shape):
        return np.empty(shape, dtype)
    return backends.quickest().empty(tuple(shape), dtype)


def full(shape: Sequence[int], value: float, dtype: np.dtype[Any], like: Array | None = None) -> Array:
    """Return a new array with one value everywhere, on the device of another.

    >>> from minigrad.backends import arrays
    >>> arrays.full((2,), 7.0, np.float64)
    array([7., 7.])
    """
    if like is not None and like.__class__ is not np.ndarray and not on_host(like):
        return backends.cuda().full(shape, value, dtype)
    out = empty(shape, dtype)
    out.fill(value)
    return out


# --- elementwise --------------------------------------------------------------------------------------------


def elementwise(kernel: str, *inputs: Array | float) -> Array:
    """Apply an operator of `minigrad.operators` to every element, with broadcasting.

    >>> from minigrad.backends import arrays
    >>> arrays.elementwise("mul", np.array([[1.0], [2.0]]), np.array([3.0, 4.0]))
    array([[3., 4.],
           [6., 8.]])
    """
    form = numpy_forms.FORMS.get(kernel)
    if form is not None and backends.here.choice.quick and _are_small_floats(kernel, inputs):
        out = form(*inputs)
        return out if out.__class__ is np.ndarray else np.asarray(out)
    dtypes = {x.dtype for x in inputs if hasattr(x, "dtype")}
    common = dtypes.pop() if len(dtypes) == 1 else None
    if common is None or common.kind != "f":
        common = promote(inputs[1:] if kernel == "where" else inputs)
        if kernel in ("pow", "square") and common.kind != "f":
            common = common if common.kind == "i" else np.dtype(np.int64)  # of booleans, as in PyTorch
            if kernel == "pow":
                _refuse_negative(inputs[1])
        elif common.kind != "f" and kernel in ("floor_divide", "remainder"):
            _refuse_zero(kernel, inputs[1])
        elif common.kind != "f" and kernel not in _KEEP_INTEGERS:
            common = backends.default_float()
        first = inputs[:1] if kernel == "where" else ()
        if first and not any(hasattr(x, "dtype") for x in inputs[1:]):
            inputs = (*first, full((), inputs[1], common, inputs[0]), *inputs[2:])  # NumPy would take float64
        inputs = (*first, *[cast_to(x, common) if hasattr(x, "dtype") else x for x in inputs[len(first) :]])
    expression = (kernel, *zip(("in",) * len(inputs), range(len(inputs)), strict=True))
    return evaluate(expression, inputs, None if kernel in _COMPARISONS else common)


def _are_small_floats(kernel: str, inputs: Sequence[Array | float]) -> bool:
    """Return whether NumPy computes all without a question: few elements of arrays of one floating type, and numbers.

    A condition of ``where`` may be an array of booleans.
    """
    dtype, shape, size = None, (), 1
    for x in inputs[1:] if kernel == "where" else inputs:
        if x.__class__ in _NUMBERS:
            continue
        if x.__class__ is not np.ndarray or (dtype is not None and x.dtype is not dtype):
            return False
        if x.shape != shape:
            shape, size = x.shape, size * x.size
        dtype = x.dtype
    if dtype is None or dtype.kind != "f":
        return False
    if kernel == "where":
        condition = inputs[0]
        if condition.__class__ is not np.ndarray or condition.dtype.kind != "b":
            return False
        if condition.shape != shape:
            size *= condition.size
    return bool(size < large_for(kernel))


def _refuse_negative(exponent: Any) -> None:
    """Refuse a power of integers that would be a fraction."""
    lowest = exponent if not hasattr(exponent, "dtype") else int(to_host(exponent).min(initial=0))
    if lowest < 0:
        raise ValueError(
            f"pow: an integer to the power {lowest} is no integer in general; convert the base first, with .float() or "
            ".double()"
        )


def _refuse_zero(kernel: str, divisor: Any) -> None:
    """Refuse to divide integers by 0, where NumPy returns 0."""
    values = to_host(divisor) if hasattr(divisor, "dtype") else np.asarray(divisor)
    if values.size and not values.all():
        raise ZeroDivisionError(f"{kernel}: integers cannot be divided by 0; convert one of them with .float()")


def evaluate(expression: Expression, inputs: Sequence[Array | float], dtype: np.dtype[Any] | None = None) -> Array:
    """Compute an expression of operators, in one loop where a backend can fuse it.

    Args:
        expression: ``("in", i)``, ``("const", number)``, or ``(kernel, *expressions)``.
        inputs: Arrays of one dtype (conditions of ``where`` apart) and Python numbers; they broadcast.
        dtype: The result's type. By default the operator derives it from the inputs' types.
    """
    kernel = expression[0]
    by_numpy = backends.is_quick() and on_host(*inputs)
    shapes = {x.shape for x in inputs if hasattr(x, "shape")}
    if by_numpy and is_small(shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes), kernel):
        return numpy_forms.evaluate(expression, inputs)
    values = [*map(inputs.__getitem__, _values_of(expression))]
    if by_numpy and any(hasattr(x, "dtype") and x.dtype.kind != "f" for x in values):
        return numpy_forms.evaluate(expression, inputs)
    # A kernel would read 64 bits of a whole number, which may have more.
    if int in map(type, inputs) and promote(values).kind == "f":
        inputs = [float(x) if isinstance(x, int) else x for x in inputs]
    if dtype is None:
        dtype = np.dtype(bool) if kernel in _COMPARISONS else promote(values)
    return backends.current(*inputs).elementwise(expression, inputs, dtype)


@lru_cache(maxsize=1024)
def _values_of(expression: Expression) -> frozenset[int]:
    """Return the inputs that are more than a condition of ``where``."""
    if expression[0] in ("in", "const"):
        return frozenset(expression[1:] if expression[0] == "in" else ())
    parts = expression[2:] if expression[0] == "where" and expression[1][0] == "in" else expression[1:]
    return frozenset().union(*map(_values_of, parts))


# --- reductions and products --------------------------------------------------------------------------------


def reduce(kernel: str, x: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    """Fold axes away with "add", "mul", "max" or "min".

    Args:
        kernel: The operator.
        x: Any array.
        axes: Sorted, from 0. Without any, the result is a copy. Sums and products of booleans and integers are int64.
        keepdims: Whether the axes stay, with size 1.

    >>> from minigrad.backends import arrays
    >>> arrays.reduce("add", np.array([[1.0, 2.0], [3.0, 4.0]]), (1,))
    array([3., 7.])
    """
    if not axes:
        wider = kernel in ("add", "mul") and x.dtype.kind in "bi"
        return cast_to(contiguous(x), np.dtype(np.int64) if wider else x.dtype)
    is_float, is_array = x.dtype.kind == "f", x.__class__ is np.ndarray
    if kernel == "add" and is_array and is_float and x.size < LARGE and backends.here.choice.quick:
        # The most frequent case, without detours; who calls it has switched warnings off.
        out = _add_up(x, None if len(axes) == x.ndim else axes, None, None, keepdims)
        return out if out.__class__ is np.ndarray else np.asarray(out)
    dtype = x.dtype if is_float or kernel in ("max", "min") else np.dtype(np.int64)
    if backends.here.choice.quick and on_host(x) and (x.size < LARGE or dtype.kind != "f"):
        return numpy_forms.reduce(kernel, x, axes, keepdims, dtype)
    out = backends.current(x).reduce(kernel, x, axes, dtype)
    if not keepdims:
        return out
    return reshape(out, tuple(1 if axis in axes else n for axis, n in enumerate(x.shape)))


_add_up: Any = np.add.reduce


def matmul(a: Array, b: Array) -> Array:
    """Multiply matrices: (..., n, k) by (..., k, m), leading axes broadcast.

    >>> from minigrad.backends import arrays
    >>> arrays.matmul(np.ones((5, 2, 3)), np.ones((3, 4))).shape
    (5, 2, 4)
    """
    if backends.here.choice.quick and on_host(a, b) and (a.size < LARGE and b.size < LARGE):
        return numpy_forms.matmul(a, b)
    if not backends.here.choice.compiles and on_host(a, b):  # only the shape is asked for
        a, b = a[..., :0], b[..., :0, :]
    return backends.current(a, b).matmul(a, b)


# --- views --------------------------------------------------------------------------------------------------


def expand(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a view in which axes of size 1, and missing ones in front, repeat with stride 0.

    >>> from minigrad.backends import arrays
    >>> arrays.expand(np.zeros((1, 3)), (2, 3)).shape
    (2, 3)
    """
    if x.__class__ is not np.ndarray:
        return x.expand(*shape) if hasattr(x, "to_host") else np.broadcast_to(x, shape)
    if x.shape == shape:
        return x
    missing = len(shape) - x.ndim
    strides = (*(0,) * missing, *[0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True)])
    if math.prod(shape) == 0:
        return np.broadcast_to(x, shape).copy()  # broadcast_to alone makes it read-only
    if x.flags.c_contiguous:  # the constructor is several times quicker
        return np.ndarray(shape, x.dtype, x, 0, strides)
    wide = np.broadcast_to(x, shape)  # its base is an array, which as_strided would hide in a box
    wide.flags.writeable = x.flags.writeable
    return wide


def permute(x: Array, order: tuple[int, ...]) -> Array:
    """Return a view with the axes in another order.

    >>> from minigrad.backends import arrays
    >>> arrays.permute(np.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(*order)


def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    """Return the elements in row-major order with another shape: a view where the strides allow it, else a copy.

    >>> from minigrad.backends import arrays
    >>> arrays.reshape(np.zeros((2, 3)), (6,)).shape
    (6,)
    """
    return x.reshape(shape)


def contiguous(x: Array) -> Array:
    """Return a fresh row-major copy.

    >>> from minigrad.backends import arrays
    >>> arrays.contiguous(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    if x.__class__ is np.ndarray and (x.size < LARGE or not backends.is_quick()):
        return x.copy()
    return backends.current(x).contiguous(x)


def add_in_place(x: Array, y: Array) -> Array:
    """Add y, which broadcasts, into a fresh x, and return x, or a new array where that is not possible."""
    if backends.is_quick() and on_host(x, y) and x.dtype == y.dtype:
        return np.add(x, y, x)
    return elementwise("add", x, y)


def fused(form: str, x: Any, dim: int) -> Callable[..., Array] | None:
    """Return a backend's own form of a function along the last axis, where it has one and x is a large array."""
    if x.__class__ is not np.ndarray or not backends.is_quick() or x.size < LARGE_AND_DEAR or dim != x.ndim - 1:
        return None
    return getattr(backends.current(x), form, None)
