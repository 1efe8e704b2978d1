"""The expressions that are compiled: by minigrad, jax and PyTorch as a whole, by numexpr where it is one expression.

Each is written twice: with the names of PyTorch, for minigrad (compiled and not) and PyTorch, and with those of NumPy,
for NumPy and jax.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.steps import jax_in_float64
from benchmarks.tensors import numbers

__all__ = ["compiled"]

Run = Callable[[], object]


def sigmoid(x: Any) -> Any:
    """The sigmoid of a * b + c, by PyTorch's names."""
    return (x[0] * x[1] + x[2]).sigmoid()


def sigmoid_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's."""
    return 1.0 / (1.0 + xp.exp(-(x[0] * x[1] + x[2])))


def softmax(x: Any) -> Any:
    """The softmax of rows."""
    return x[0].softmax(1)


def softmax_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's names."""
    powers = xp.exp(x[0] - x[0].max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def layer_norm(x: Any) -> Any:
    """A layer norm of rows with weights."""
    centred = x[0] - x[0].mean(1, keepdim=True)
    return centred / ((centred * centred).mean(1, keepdim=True) + 1e-5).sqrt() * x[1] + x[2]


def layer_norm_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's names."""
    centred = x[0] - x[0].mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5) * x[1] + x[2]


def gelu(x: Any) -> Any:
    """A gelu by its approximation with tanh, as eight lines of NumPy have it."""
    return 0.5 * x[0] * (1.0 + (0.7978845608 * (x[0] + 0.044715 * x[0] * x[0] * x[0])).tanh())


def gelu_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's names."""
    return 0.5 * x[0] * (1.0 + xp.tanh(0.7978845608 * (x[0] + 0.044715 * x[0] * x[0] * x[0])))


def triad(x: Any) -> Any:
    """The program by which a memory's bandwidth is measured."""
    return x[0] + 2.0 * x[1]


def triad_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's names."""
    return x[0] + 2.0 * x[1]


def product(x: Any) -> Any:
    """A product that broadcasts."""
    return x[0] * x[1]


def product_of_arrays(xp: Any, x: Any) -> Any:
    """The same by NumPy's names."""
    return x[0] * x[1]


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "gelu": (gelu, gelu_of_arrays, "0.5 * x0 * (1.0 + tanh(0.7978845608 * (x0 + 0.044715 * x0 * x0 * x0)))"),
    "layer norm": (layer_norm, layer_norm_of_arrays, ""),
    "product": (product, product_of_arrays, "x0 * x1"),
    "sigmoid": (sigmoid, sigmoid_of_arrays, "1.0 / (1.0 + exp(-(x0 * x1 + x2)))"),
    "softmax": (softmax, softmax_of_arrays, ""),
    "triad": (triad, triad_of_arrays, "x0 + 2.0 * x1"),
}


def compiled(name: str, shapes: Sequence[tuple[int, ...]], backward: bool = False) -> Callable[[Any], Run]:
    """A program of `PROGRAMS` on arrays of some shapes; with backward the gradients of its sum in all of them."""
    by_tensors, by_arrays, expression = PROGRAMS[name]

    def program(library: Any) -> Run:
        arrays = [numbers(*shape, seed=k) for k, shape in enumerate(shapes)]
        if library.__name__ == "numpy":
            return lambda: by_arrays(np, arrays)
        if library.__name__ == "numexpr":
            given = {f"x{k}": x for k, x in enumerate(arrays)}
            return lambda: library.evaluate(expression, given)
        if library.__name__ == "jax":
            jax = jax_in_float64()
            inputs = [jax.numpy.asarray(x) for x in arrays]
            forward = jax.jit(lambda x: by_arrays(jax.numpy, x))
            slopes = jax.jit(jax.grad(lambda x: by_arrays(jax.numpy, x).sum()))
            return lambda: jax.block_until_ready((slopes if backward else forward)(inputs))
        return _of_tensors(library, by_tensors, arrays, backward)

    return program


def _of_tensors(library: Any, compute: Callable[..., Any], arrays: Sequence[Any], backward: bool) -> Run:
    inputs = [library.from_numpy(x) for x in arrays]
    jit = (lambda fun: fun) if library.__name__ == "torch" else library.jit
    if not backward:
        forward = jit(lambda *x: compute(x))
        return lambda: forward(*inputs)
    if library.__name__ == "minigrad":
        slopes = jit(importlib.import_module("minigrad.transforms").grad(lambda x: compute(x).sum()))
        return lambda: slopes(inputs)
    for x in inputs:
        x.requires_grad_()
    total = jit(lambda *x: compute(x).sum())

    def run() -> None:
        for x in inputs:
            x.grad = None
        total(*inputs).backward()

    return run
