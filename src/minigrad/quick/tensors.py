"""Quick forms of the most frequent methods of `Tensor`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import backends, functions
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded, numpy_forms
from minigrad.backward.changes import ticks
from minigrad.elementwise.entry import OPS
from minigrad.functions import Elementwise
from minigrad.machine import overrides
from minigrad.tensors import ARITHMETIC, NUMBERS, Tensor, abstract_mode, recorded

abstract_depth = abstract_mode.depth
_float32, _float64 = arrays.FLOATS
_new = Tensor.__new__
_silence = guarded.silence
_speak = guarded.speak


def _arithmetic(specified: Callable[[Tensor, Any], Tensor], function: type[Elementwise], reverse: bool) -> Any:
    """Return the quick form of an operator, for arrays of one floating type, or one and a number.

    This is what `Tensor` does for any operands, written out for the most frequent case: three times as quick.
    """
    form = numpy_forms.FORMS[function.kernel]
    expression = (function.kernel, ("in", 1), ("in", 0)) if reverse else (function.kernel, ("in", 0), ("in", 1))

    def quick(self: Tensor, other: Any) -> Tensor:
        if abstract_depth:
            return specified(self, other)
        x, wants = self._array, self._requires_grad
        dtype, size = x.dtype, x.size
        if isinstance(other, Tensor):
            y = other._array
            if y.dtype is not dtype:
                return specified(self, other)
            if x.shape != y.shape:  # two small ones may broadcast to a large one
                size *= y.size
            wants = wants or other._requires_grad
        elif other.__class__ in NUMBERS:
            y = other
        else:
            return specified(self, other)
        if not (dtype is _float32 or dtype is _float64):
            return specified(self, other)
        if size >= arrays.LARGE:
            if x.__class__ is not np.ndarray or not (y.__class__ is np.ndarray or y.__class__ is float):
                return specified(self, other)
            if x.shape != getattr(y, "shape", x.shape):
                return specified(self, other)
            array = backends.quickest().elementwise(expression, (x, y), dtype)
        else:
            token = _silence()
            try:
                array = form(y, x) if reverse else form(x, y)
            except (TypeError, ValueError, OverflowError):  # on a device, shapes that do not broadcast, 10**400
                return specified(self, other)
            finally:
                _speak(token)
        result = _new(Tensor)
        result._array = array if array.__class__ is np.ndarray else np.asarray(array)
        result._grad = result._ctx = result._extra = None
        result._tick = next(ticks)
        if wants and grad_mode.enabled:
            result._requires_grad = True
            result._fn = function
            result._inputs = (other, self) if reverse else (self, other)
        else:
            result._requires_grad = False
            result._fn = None
            result._inputs = ()
        return result

    return quick


def _unary(specified: Callable[[Tensor], Tensor], function: type[Elementwise]) -> Any:
    """Return the quick form of a method without operands, for arrays of a floating type."""
    form, expression = numpy_forms.FORMS[function.kernel], (function.kernel, ("in", 0))

    @functools.wraps(specified)
    def quick(self: Tensor) -> Tensor:
        x = self._array
        if abstract_depth or x.__class__ is not np.ndarray or x.dtype.kind != "f":
            return specified(self)
        if x.size >= arrays.large_for(function.kernel):
            return recorded(function, (self,), None, backends.quickest().elementwise(expression, (x,), x.dtype))
        token = _silence()
        try:
            array = form(x)
        finally:
            _speak(token)
        return recorded(function, (self,), None, array)

    return quick


def _declare(name: str, form: Callable[..., Any]) -> None:
    overrides.twin(Tensor, name, form, unless=(), when=backends.is_quick_in_all_threads)


for _name, _function in ARITHMETIC.items():
    _declare(f"__{_name}__", _arithmetic(getattr(Tensor, f"__{_name}__"), _function, False))
    _declare(f"__r{_name}__", _arithmetic(getattr(Tensor, f"__r{_name}__"), _function, True))
for _op in OPS.values():
    if _op.frequent:
        _declare(_op.method, _unary(getattr(Tensor, _op.method), getattr(functions, _op.function)))
