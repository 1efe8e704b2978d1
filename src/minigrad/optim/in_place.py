"""Updates of parameters in place, by rules that are written once for arrays and tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from minigrad import autodiff
from minigrad.backends import guarded
from minigrad.backward.changes import note_change
from minigrad.tensors import Tensor

CHUNK = 1 << 14
"""Elements that a rule is given at a time: its temporaries stay in the processor's cache."""


def update(rule: Callable[..., None], tensors: tuple[Tensor, ...], *settings: object) -> None:
    """Run a rule that changes the first of some tensors in place.

    Args:
        rule: Takes arrays and settings, and changes arrays by ``+=`` and the like. It works element by element, since
            it is handed large arrays in pieces.
        tensors: Tensors of one shape. The first is changed, the others are read.
        settings: Handed to the rule after the arrays.
    """
    arrays = [tensor._array for tensor in tensors]
    if all(array.__class__ is np.ndarray for array in arrays):
        guarded.call(_on_arrays, rule, arrays, settings)
        for array in arrays[:1] + arrays[2:]:
            note_change(array)
    else:
        with autodiff.no_grad():
            rule(*[tensor.detach() for tensor in tensors], *settings)


def _on_arrays(rule: Callable[..., None], arrays: list[Any], settings: tuple[Any, ...]) -> None:
    size = arrays[0].size
    if size <= CHUNK or not all(array.flags.c_contiguous for array in arrays):
        rule(*arrays, *settings)
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, size, CHUNK):
        rule(*[array[start : start + CHUNK] for array in flat], *settings)


def descend(params: list[Tensor], lr: float) -> list[Tensor]:
    """Take lr times its gradient from every parameter that is a small array, and return the others.

    The result is that of `update`, with fewer calls: a small network has many small parameters.
    """
    return guarded.call(_descend, params, lr)


def _descend(params: list[Tensor], lr: float) -> list[Tensor]:
    others = []
    for p in params:
        array, grad = p._array, cast(Tensor, p._grad)._array
        if array.__class__ is np.ndarray and grad.__class__ is np.ndarray and array.size <= CHUNK:
            np.subtract(array, grad * lr, array)
            note_change(array)
        else:
            others.append(p)
    return others
