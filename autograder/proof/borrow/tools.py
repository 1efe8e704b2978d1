"""Cell of the sandbox: names for the functions of an edition, and the conversions that a borrower would write.

`searching` puts this text above each program, in the search and when a leak is judged.
"""

import functools
import importlib
import math  # noqa: F401  # of patterns
from collections.abc import Callable
from typing import Any

import numpy as np


@functools.cache
def lib(name: str) -> Any:
    """Return what an edition has under a name such as ``functions:Elementwise/_from_kernel``: members are unwrapped."""
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(f"minigrad.{module}".rstrip("."))
    for part in path.split("/"):
        owner, found = found, found[part] if isinstance(found, dict) else member(found, part)
        if isinstance(found, classmethod):
            found = getattr(owner, part)
        found = getattr(found, "__func__", found) if isinstance(found, staticmethod) else found
        found = found.fget if isinstance(found, property) else found
    return found


def member(owner: Any, name: str) -> Any:
    """Return a member as it stands in its class or object."""
    return vars(owner)[name] if name in getattr(owner, "__dict__", {}) else getattr(owner, name)


def like(value: Any, *inputs: Any) -> Any:
    """Return a result in the form of the inputs: a number of numbers, a list of lists, a tensor of tensors."""
    first = inputs[-1] if inputs else None
    if isinstance(first, int | float) and not isinstance(value, int | float) and hasattr(value, "item"):
        return value.item()
    if isinstance(first, list | tuple) and hasattr(value, "tolist"):
        return value.tolist()
    if is_tensor(first) and isinstance(value, np.ndarray | np.generic):
        return minigrad_tensor(value)
    return value


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor of the library."""
    return hasattr(value, "requires_grad") and hasattr(value, "dtype")


def minigrad_tensor(value: Any) -> Any:
    """Return a tensor of a value."""
    return lib("tensors.creation:tensor")(value)


def tensors(x: Any) -> Any:
    """Return numbers, lists and arrays as a tensor, which asks for gradients."""
    if isinstance(x, int | float | list | np.ndarray):
        return lib("tensors.creation:tensor")(x, dtype=lib("backends:float64"), requires_grad=True)
    return x


def arrays(x: Any) -> Any:
    """Return numbers, lists and tensors as an array."""
    if isinstance(x, int | float | list):
        return np.asarray(x, float)
    return x.detach().numpy() if is_tensor(x) else x


def scalars(x: Any) -> Any:
    """Return a number as a Scalar."""
    return lib("scalar:Scalar")(x) if isinstance(x, int | float) else x


def by_scalars(function: Callable[..., Any], d: float, *xs: float) -> Any:
    """Return d times the slopes, by the engine of Scalars."""
    own = [lib("scalar:Scalar")(x) for x in xs]
    function(*own).backward(d)
    return one([x.grad or 0.0 for x in own])


def by_tensors(function: Callable[..., Any], d: Any, *xs: Any) -> Any:
    """Return d times the slopes, by the engine of tensors."""
    own = [tensors(x if not is_tensor(x) else x.detach().numpy()) for x in xs]
    function(*own).backward(tensors(d) if isinstance(d, int | float) else d)
    return one([like(x.grad, each) for x, each in zip(own, xs, strict=True)])


def by_jvp(function: Callable[..., Any], d: float, *xs: float) -> Any:
    """Return d times the slopes, by forward mode."""
    own = [tensors(x) for x in xs]
    slopes = []
    for index in range(len(own)):
        tangents = tuple(tensors(float(each == index)) for each in range(len(own)))
        slopes.append(d * lib("autograd:jvp")(function, tuple(own), tangents)[1].item())
    return one(slopes)


def by_grad(function: Callable[..., Any], d: float, *xs: float) -> Any:
    """Return d times the slopes, by `autograd.grad`."""
    own = [lib("scalar:Scalar")(x) for x in xs]
    return one([float(x) * d for x in lib("autograd:grad")(function(*own), own)])


def by_differences(function: Callable[..., Any], d: float, *xs: float) -> Any:
    """Return d times the slopes, by the library's differences."""
    return one([d * lib("derivatives:central_difference")(function, *xs, arg=each) for each in range(len(xs))])


def one(values: list[Any]) -> Any:
    """Return a single value bare, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)
