"""Running a student's kernels for a visible test: small storages in, plain lists out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation

Layout = tuple[Sequence[float], Sequence[int], Sequence[int]]
"""Storage, shape and strides of a tensor."""

_NO_KERNEL = "the function that you write makes a kernel inside and returns it: is the `return` missing?"
WHOLE = "an index is whole: np.zeros and np.empty make floats unless their dtype says np.int64, and `/` makes some"
_NOT_WHOLE = "an index is no whole number"
OUT_OF_BOUNDS = "a position lies beyond the storage: does it come from the right index, shape and strides?"


def tenfold(x: float) -> float:
    """Return 10 x + 1, which no input equals."""
    return 10.0 * x + 1.0


def difference(a: float, b: float) -> float:
    """Return a - 2 b, which tells a from b."""
    return a - 2.0 * b


def halve_and_add(result: float, element: float) -> float:
    """Return result / 2 + element, which depends on the order of the elements."""
    return result / 2.0 + element


def arguments(shape: Sequence[int], strides: Sequence[int], *inputs: Layout, start: float = -77.0) -> list[Any]:
    """Return the arguments of a kernel: out full of a number, its shape and strides, and those of the inputs."""
    found: list[Any] = [np.full(math.prod(shape), start), *_ints(shape, strides)]
    for storage, own_shape, own_strides in inputs:
        found += [np.array(storage, dtype=np.float64), *_ints(own_shape, own_strides)]
    return found


def _ints(*rows: Sequence[int]) -> list[Any]:
    return [np.array(row, dtype=np.int64) for row in rows]


def is_float_index(message: str) -> bool:
    """Return whether NumPy's message is about an index that is a float."""
    return message.startswith("only integers")


def run(kernel: Callable[..., Any], given: Sequence[Any]) -> list[float]:
    """Call a kernel, and return the elements of out afterwards.

    Raises:
        Expectation: If it is no kernel, or leaves a storage.
    """
    if not callable(kernel):
        raise Expectation(kernel, None, f"got {kernel!r} for a kernel", _NO_KERNEL, None)
    function: Callable[..., Any] = kernel
    try:
        function(*given)
    except IndexError as error:
        said, hint = (_NOT_WHOLE, WHOLE) if is_float_index(str(error)) else (str(error), OUT_OF_BOUNDS)
        raise Expectation(error, None, f"raised IndexError: {said}", hint, None) from error
    return [float(x) for x in given[0]]


def touches(kernel: Callable[..., Any], given: Sequence[Any], places: Sequence[int]) -> int:
    """Call a kernel, and return how often it reads or writes its arguments at these places.

    >>> from minigrad.checks.kernels import arguments, touches
    >>> def fill(out, shape, strides):
    ...     for i in range(len(out)):
    ...         out[i] = 1.0
    >>> touches(fill, arguments([2, 3], [3, 1]), [0]), touches(fill, arguments([2, 3], [3, 1]), [1, 2])
    (6, 0)
    """
    count = found = 0

    class Counted(np.ndarray):
        def __getitem__(self, key: Any) -> Any:
            nonlocal count
            count += 1
            return super().__getitem__(key)

        def __setitem__(self, key: Any, value: Any) -> None:
            nonlocal count
            count += 1
            super().__setitem__(key, value)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            return getattr(ufunc, method)(*map(np.asarray, inputs), **options)

    def counted(*args: Any) -> None:
        nonlocal found
        kernel(*args)
        found = count  # before `run` reads the result

    Counted.__name__ = "array"  # as a report shows it
    run(counted, [each.view(Counted) if at in places else each for at, each in enumerate(given)])
    return found
