"""The three places where the library relies on something that NumPy and CPython do not promise, each with a fallback.

NumPy's own switch for floating-point warnings costs a fifth of the public one. CPython's count of references tells
whether an array has another owner, so that a fresh gradient need not be copied. An array's address is read where NumPy
keeps it: `ctypes.data` takes a microsecond, a quarter of what a call of a kernel costs.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


def ieee() -> AbstractContextManager[Any]:
    """Let NumPy follow IEEE 754 without a warning, in a ``with`` block."""
    return np.errstate(all="ignore")


try:
    from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]
        _extobj_contextvar,
        _make_extobj,
    )
except ImportError:  # another NumPy
    silence: Callable[[], Any] = functools.partial(np.seterr, all="ignore")

    def speak(before: dict[str, Any]) -> None:
        """Let NumPy warn again as it did before `silence`."""
        np.seterr(**before)
else:
    # Switches floating-point warnings off; its result is for `speak`. No function of Python's, to be quick.
    silence = functools.partial(_extobj_contextvar.set, _make_extobj(all="ignore"))
    speak = _extobj_contextvar.reset


def call(form: Callable[..., Result], *inputs: Any, **options: Any) -> Result:
    """Apply a function without NumPy's floating-point warnings."""
    token = silence()
    try:
        return form(*inputs, **options)
    finally:
        speak(token)


_count: Callable[[Any], int] = getattr(sys, "getrefcount", lambda x: sys.maxsize)


def _references(x: Any) -> int:
    return _count(x)


def _of_one_name() -> int:
    x = np.empty(0)
    return _references(x)


_ALONE = _of_one_name()  # where Python does not count, no array seems to be alone
if sys.maxsize == _ALONE:
    _ALONE = 0


def is_held_once(array: Any) -> bool:
    """Return whether the caller's variable is the only owner of an array; False where that cannot be known."""
    return _count(array) <= _ALONE


def has_own_memory(array: Any) -> bool:
    """Return whether an array's memory is NumPy's or a block of the pool, and no other object's.

    >>> from minigrad.backends.guarded import has_own_memory
    >>> x = np.zeros(4)
    >>> has_own_memory(x), has_own_memory(x[1:]), has_own_memory(np.frombuffer(b"1234"[:4], np.uint8))
    (True, False, False)
    """
    return bool(array.flags.owndata) or hasattr(array.base, "block")


def has_other_views(array: Any, known: int = 0) -> bool:
    """Return whether another array may have an array's memory too, besides a known number of views."""
    base = getattr(array, "base", None)
    return isinstance(base, np.ndarray) and _references(base) > _ALONE + 1 + known  # the view holds its base


_DATA = object.__basicsize__


def _address_in_header(array: np.ndarray[Any, Any]) -> int:
    """Read the address where numpy keeps it, as C extensions do: behind the head of the object."""
    return ctypes.c_int64.from_address(id(array) + _DATA).value


def _address_asked(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


_probe = np.zeros(3)[1:]
_readable = _address_in_header(_probe) == _probe.ctypes.data
address = _address_in_header if _readable else _address_asked

handle: Any = id if _readable else address
"""What a generated program hands to a kernel for an array: where the array's header is, which costs least."""

HEADER: int | None = _DATA if _readable else None
"""How far behind a handle the array's address stands; None if the handle is the address."""
