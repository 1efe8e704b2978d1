"""Quick forms of the most frequent methods of `Tensor`, on small arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import backends, functions
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded, numpy_forms
from minigrad.backward.changes import ticks
from minigrad.functions import Elementwise
from minigrad.machine import overrides
from minigrad.tensors import ARITHMETIC, NUMBERS, Tensor, abstract_mode, recorded

SMALL = arrays.LARGE_AND_DEAR
abstract_depth = abstract_mode.depth
_float32, _float64 = arrays.FLOATS
_new = Tensor.__new__
_silence = guarded.silence
_speak = guarded.speak


def _arithmetic(specified: Callable[[Tensor, Any], Tensor], function: type[Elementwise], reverse: bool) -> Any:
    """Return the quick form of an operator, for small arrays of one floating type.

    This is what `Tensor` does for any operands, written out for the most frequent case: three times as quick.
    """
    form = numpy_forms.FORMS[function.kernel]

    def quick(self: Tensor, other: Any) -> Tensor:
        if abstract_depth:
            return specified(self, other)
        x, wants = self._array, self._requires_grad
        dtype = x.dtype
        if isinstance(other, Tensor):
            y = other._array
            if y.dtype is not dtype or y.size >= SMALL:
                return specified(self, other)
            if x.size * y.size >= SMALL and x.shape != y.shape:  # two small ones may broadcast to a large one
                return specified(self, other)
            wants = wants or other._requires_grad
        elif other.__class__ in NUMBERS:
            y = other
        else:
            return specified(self, other)
        if x.size >= SMALL or not (dtype is _float32 or dtype is _float64):
            return specified(self, other)
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
    """Return the quick form of a method without operands, for small arrays of a floating type."""
    form = numpy_forms.FORMS[function.kernel]

    @functools.wraps(specified)
    def quick(self: Tensor) -> Tensor:
        x = self._array
        if abstract_depth or x.__class__ is not np.ndarray or x.size >= SMALL or x.dtype.kind != "f":
            return specified(self)
        token = _silence()
        try:
            array = form(x)
        finally:
            _speak(token)
        return recorded(function, (self,), None, array)

    return quick


_UNARY = {
    "exp": functions.Exp,
    "log": functions.Log,
    "relu": functions.ReLU,
    "sigmoid": functions.Sigmoid,
    "tanh": functions.Tanh,
    "sqrt": functions.Sqrt,
    "square": functions.Square,
}


def _declare(name: str, form: Callable[..., Any]) -> None:
    overrides.twin(Tensor, name, form, unless=(), when=backends.is_quick_in_all_threads)


for _name, _function in ARITHMETIC.items():
    _declare(f"__{_name}__", _arithmetic(getattr(Tensor, f"__{_name}__"), _function, False))
    _declare(f"__r{_name}__", _arithmetic(getattr(Tensor, f"__r{_name}__"), _function, True))
for _name, _function in _UNARY.items():
    _declare(_name, _unary(getattr(Tensor, _name), _function))
