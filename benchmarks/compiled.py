"""The programs that are compiled: by minigrad and jax as a whole, by numexpr where it is one expression.

Each is written twice: with the names of PyTorch, for minigrad (compiled and not) and PyTorch, and with those of NumPy,
for NumPy and jax.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.tensors import numbers

__all__ = ["adam_step", "compiled", "xor_epoch"]

Run = Callable[[], object]
SHAPES = ((784, 256), (256,), (256, 10), (10,))


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
}


def _jax() -> Any:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


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
            jax = _jax()
            inputs = [jax.numpy.asarray(x) for x in arrays]
            forward = jax.jit(lambda x: by_arrays(jax.numpy, x))
            slopes = jax.jit(jax.grad(lambda x: by_arrays(jax.numpy, x).sum()))
            return lambda: jax.block_until_ready((slopes if backward else forward)(inputs))
        return _of_tensors(library, by_tensors, arrays, backward)

    return program


def _of_tensors(library: Any, compute: Callable[..., Any], arrays: Sequence[Any], backward: bool) -> Run:
    inputs = [library.from_numpy(x) for x in arrays]
    if library.__name__ == "minigrad":
        from minigrad.transforms import grad

        slopes = grad(lambda *x: compute(x).sum(), tuple(range(len(inputs))))
        fast = library.jit(slopes if backward else lambda *x: compute(x))
        return lambda: fast(*inputs)
    if not backward:
        return lambda: compute(inputs)
    for x in inputs:
        x.requires_grad_()

    def run() -> None:
        for x in inputs:
            x.grad = None
        compute(inputs).sum().backward()

    return run


def adam_step(library: Any) -> Run:
    """A step of Adam, written over lists of parameters; a compiled step overwrites the parameters that it was given."""
    p, m, v, g = ([numbers(*shape, seed=k) ** 2 for k, shape in enumerate(SHAPES, 10 * n)] for n in range(4))

    def step(xp: Any, p: Any, m: Any, v: Any, g: Any, t: Any) -> Any:
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g, strict=True)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g, strict=True)]
        first, second = 1.0 - 0.9**t, 1.0 - 0.999**t
        scaled = [(a / first) / (xp.sqrt(b / second) + 1e-8) for a, b in zip(m, v, strict=True)]
        return [a - 0.001 * b for a, b in zip(p, scaled, strict=True)], m, v

    if library.__name__ == "numpy":
        state, convert, fast = [p, m, v], np.asarray, lambda *x: step(np, *x)
    elif library.__name__ == "jax":
        jax = _jax()
        convert = jax.numpy.asarray
        fast = jax.jit(lambda *x: step(jax.numpy, *x), donate_argnums=(0, 1, 2))
    else:
        convert = library.from_numpy
        fast = lambda *x: step(library, *x)  # noqa: E731
        if library.__name__ == "minigrad":
            fast = library.jit(fast, donate_argnums=(0, 1, 2))
    state = [[convert(x.copy()) for x in each] for each in (p, m, v)]
    slopes, count = [convert(x) for x in g], convert(np.array(3.0))

    def run() -> None:
        state[:] = fast(*state, slopes, count)
        if library.__name__ == "jax":
            jax.block_until_ready(state)

    return run


def xor_epoch(library: Any) -> Run:
    """The epoch of `networks.mlp_epoch` as five calls of one compiled step: loss, gradients and update."""
    shapes = ((2, 100), (100,), (100, 100), (100,), (100, 1), (1,))
    weights = [numbers(*shape, seed=k) * 0.3 for k, shape in enumerate(shapes)]
    points = numbers(50, 2) / 2.0 + 0.5
    labels = ((points[:, :1] < 0.5) != (points[:, 1:] < 0.5)).astype("float64")
    if library.__name__ == "jax":
        jax = _jax()
        xp, convert = jax.numpy, jax.numpy.asarray
        relu, value_and_grad, softplus = jax.nn.relu, jax.value_and_grad, jax.nn.softplus
    else:
        from minigrad.transforms import value_and_grad

        xp, convert = library, library.from_numpy
        relu = library.relu

    def loss(w: Any, x: Any, y: Any) -> Any:
        x = relu(x @ w[0] + w[1])
        x = relu(x @ w[2] + w[3]) @ w[4] + w[5]
        if library.__name__ == "jax":
            return (softplus(x) - y * x).mean()
        return xp.nn.functional.binary_cross_entropy_with_logits(x, y)

    def step(w: Any, x: Any, y: Any) -> Any:
        value, slopes = value_and_grad(loss)(w, x, y)
        return value, [a - 0.05 * b for a, b in zip(w, slopes, strict=True)]

    fast = jax.jit(step) if library.__name__ == "jax" else library.jit(step)
    batches = [(convert(points[k : k + 10]), convert(labels[k : k + 10])) for k in range(0, 50, 10)]
    state = [convert(x) for x in weights]

    def epoch() -> None:
        nonlocal state
        for x, y in batches:
            _, state = fast(state, x, y)
        if library.__name__ == "jax":
            jax.block_until_ready(state)

    return epoch
