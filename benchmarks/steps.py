"""Training steps that are compiled as a whole: the loss, its gradients and the update of the parameters.

A model is a function of the operations of a library, a list of parameters and the data, so that one text serves all
libraries. PyTorch, compiled or not, and minigrad without `jit` differentiate with `backward()` and update in place, as
their users do. minigrad's `jit` and jax compile one function from parameters to parameters; the old ones are donated.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tensors import numbers

__all__ = ["Step", "adam", "lenet", "transformer_block", "xor_epoch"]

RATE = 0.05
HEADS = 4


@dataclass(frozen=True)
class Operations:
    """Operations that the models need beside arithmetic, from one library."""

    relu: Callable[..., Any]
    gelu: Callable[..., Any]
    softmax: Callable[..., Any]
    swap: Callable[..., Any]
    conv2d: Callable[..., Any]
    avg_pool2d: Callable[..., Any]
    layer_norm: Callable[..., Any]
    cross_entropy: Callable[..., Any]
    binary_cross_entropy: Callable[..., Any]


def jax_in_float64() -> Any:
    """Import jax, which otherwise computes in float32."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def _operations(library: Any) -> Operations:
    if library.__name__ == "jax":
        return _of_jax(jax_in_float64())
    functional = library.nn.functional
    return Operations(
        relu=library.relu,
        gelu=functional.gelu,
        softmax=lambda x: x.softmax(-1),
        swap=lambda x, a, b: x.transpose(a, b),
        conv2d=lambda x, w, b: functional.conv2d(x, w, b, padding=1),
        avg_pool2d=lambda x, k: functional.avg_pool2d(x, (k, k)),
        layer_norm=lambda x, w, b: functional.layer_norm(x, (x.shape[-1],), w, b),
        cross_entropy=functional.cross_entropy,
        binary_cross_entropy=functional.binary_cross_entropy_with_logits,
    )


def _of_jax(jax: Any) -> Operations:
    xp = jax.numpy

    def conv2d(x: Any, w: Any, b: Any) -> Any:
        layout = ("NCHW", "OIHW", "NCHW")
        found = jax.lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)), dimension_numbers=layout)
        return found + b[:, None, None]

    def avg_pool2d(x: Any, k: int) -> Any:
        n, c, h, w = x.shape
        return x.reshape(n, c, h // k, k, w // k, k).mean((3, 5))

    def layer_norm(x: Any, w: Any, b: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / xp.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b

    return Operations(
        relu=jax.nn.relu,
        gelu=lambda x: jax.nn.gelu(x, approximate=False),
        softmax=jax.nn.softmax,
        swap=xp.swapaxes,
        conv2d=conv2d,
        avg_pool2d=avg_pool2d,
        layer_norm=layer_norm,
        cross_entropy=lambda x, y: -xp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean(),
        binary_cross_entropy=lambda x, y: (jax.nn.softplus(x) - y * x).mean(),
    )


class Step:
    """Steps of gradient descent, one for each batch; a call takes all of them.

    Args:
        library: minigrad, torch, jax, or one of the modules that stand for a way to use them
        loss: a function of operations, parameters and the arrays of a batch
        weights: the parameters at the beginning
        batches: the arrays of each batch

    Attributes:
        parameters: the parameters now
    """

    def __init__(
        self,
        library: Any,
        loss: Callable[..., Any],
        weights: Sequence[Any],
        batches: Sequence[Sequence[Any]],
    ) -> None:
        self.library = library
        operations = _operations(library)
        convert = library.from_numpy if library.__name__ != "jax" else library.numpy.asarray
        self._batches = [[convert(x) for x in batch] for batch in batches]
        self.parameters = [convert(w.copy()) for w in weights]
        self._loss = lambda p, *batch: loss(operations, p, *batch)
        self._is_one_function = library.__name__ in ("minigrad", "jax")
        if self._is_one_function:
            transforms = library if library.__name__ == "jax" else importlib.import_module("minigrad.transforms")
            slopes = transforms.value_and_grad(self._loss)

            def step(p: Any, *batch: Any) -> Any:
                value, found = slopes(p, *batch)
                return value, [w - RATE * g for w, g in zip(p, found, strict=True)]

            self._compiled = library.jit(step, donate_argnums=0)
        else:
            for w in self.parameters:
                w.requires_grad_()
            self._compiled = self._loss if library.__name__ == "torch" else library.jit(self._loss)

    def __call__(self) -> Any:
        """Take a step for each batch; return the last loss."""
        for batch in self._batches:
            if self._is_one_function:
                value, self.parameters = self._compiled(self.parameters, *batch)
            else:
                value = self._descend(batch)
        if self.library.__name__ == "jax":
            self.library.block_until_ready(self.parameters)
        return value

    def _descend(self, batch: Sequence[Any]) -> Any:
        for w in self.parameters:
            w.grad = None
        value = self._compiled(self.parameters, *batch)
        value.backward()
        with self.library.no_grad():
            for w in self.parameters:
                w -= RATE * w.grad  # in place
        return value

    def kernels(self) -> int | None:
        """How many loops or kernels were generated for the step; None where nothing is compiled."""
        if self.library.__name__ == "minigrad":
            return str(self._compiled.source(self.parameters, *self._batches[0])).count("def loop_")
        if self.library.__name__ == "jax":
            text = self._compiled.lower(self.parameters, *self._batches[0]).compile().as_text()
            return sum(" fusion(" in line for line in text.splitlines())
        if self.library.__name__ == "benchmarks.torch_compiled":
            return int(importlib.import_module("torch._inductor.metrics").generated_kernel_count)
        return None


def xor_epoch(library: Any) -> Step:
    """The epoch of `networks.mlp_epoch`: five steps of a network 2-100-100-1."""
    shapes = ((2, 100), (100,), (100, 100), (100,), (100, 1), (1,))
    weights = [numbers(*shape, seed=k) * 0.3 for k, shape in enumerate(shapes)]
    points = numbers(50, 2) / 2.0 + 0.5
    labels = ((points[:, :1] < 0.5) != (points[:, 1:] < 0.5)).astype("float64")

    def loss(o: Operations, p: Any, x: Any, y: Any) -> Any:
        x = o.relu(x @ p[0] + p[1])
        x = o.relu(x @ p[2] + p[3])
        return o.binary_cross_entropy(x @ p[4] + p[5], y)

    return Step(library, loss, weights, [(points[k : k + 10], labels[k : k + 10]) for k in range(0, 50, 10)])


def lenet(dtype: str) -> Callable[[Any], Step]:
    """The network of `networks.lenet_step` without its dropout, on 16 images of 28 x 28."""
    shapes = ((4, 1, 3, 3), (4,), (8, 4, 3, 3), (8,), (8 * 7 * 7, 64), (64,), (64, 10), (10,))

    def loss(o: Operations, p: Any, x: Any, y: Any) -> Any:
        x = o.relu(o.conv2d(x, p[0], p[1]))
        x = o.avg_pool2d(o.relu(o.conv2d(x, p[2], p[3])), 4)
        x = o.relu(x.reshape(x.shape[0], -1) @ p[4] + p[5])
        return o.cross_entropy(x @ p[6] + p[7], y)

    def program(library: Any) -> Step:
        weights = [numbers(*shape, dtype=dtype, seed=k) * 0.2 for k, shape in enumerate(shapes)]
        weights = [w.astype(dtype) for w in weights]
        return Step(library, loss, weights, [(numbers(16, 1, 28, 28, dtype=dtype), np.arange(16) % 10)])

    return program


def transformer_block(library: Any) -> Step:
    """A block of a transformer in float32: causal attention, then two layers; 8 texts of 64 tokens, width 64."""
    texts, tokens, width = 8, 64, 64
    shapes = (
        *((width,), (width,), (width, 3 * width), (3 * width,), (width, width), (width,)),
        *((width,), (width,), (width, 4 * width), (4 * width,), (4 * width, width), (width,)),
    )
    weights = [(numbers(*shape, seed=k) / math.sqrt(shape[0])).astype("float32") for k, shape in enumerate(shapes)]
    x, y = (numbers(texts, tokens, width, dtype="float32", seed=k) for k in (20, 21))
    later = np.triu(np.full((tokens, tokens), -1e9, dtype="float32"), 1)

    def loss(o: Operations, p: Any, x: Any, y: Any, later: Any) -> Any:
        joined = o.layer_norm(x, p[0], p[1]) @ p[2] + p[3]
        q, k, v = (
            o.swap(joined[..., n * width : (n + 1) * width].reshape(texts, tokens, HEADS, width // HEADS), 1, 2)
            for n in range(3)
        )
        shares = o.softmax(q @ o.swap(k, 2, 3) * (1.0 / math.sqrt(width // HEADS)) + later)
        x = x + o.swap(shares @ v, 1, 2).reshape(texts, tokens, width) @ p[4] + p[5]
        x = x + o.gelu(o.layer_norm(x, p[6], p[7]) @ p[8] + p[9]) @ p[10] + p[11]
        return ((x - y) * (x - y)).mean()

    return Step(library, loss, weights, [(x, y, later)])


ADAM = ((784, 256), (256,), (256, 10), (10,))


def adam(library: Any) -> Callable[[], object]:
    """A step of Adam, written over lists of parameters; a compiled step overwrites the parameters that it was given."""
    p, m, v, g = ([numbers(*shape, seed=k) ** 2 for k, shape in enumerate(ADAM, 10 * n)] for n in range(4))

    def step(xp: Any, p: Any, m: Any, v: Any, g: Any, t: Any) -> Any:
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g, strict=True)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g, strict=True)]
        first, second = 1.0 - 0.9**t, 1.0 - 0.999**t
        scaled = [(a / first) / (xp.sqrt(b / second) + 1e-8) for a, b in zip(m, v, strict=True)]
        return [a - 0.001 * b for a, b in zip(p, scaled, strict=True)], m, v

    name = library.__name__
    if name == "jax":
        library = jax_in_float64()
    xp = library.numpy if name == "jax" else library
    convert = library.from_numpy if name not in ("jax", "numpy") else xp.asarray
    fast = lambda *x: step(xp, *x)  # noqa: E731
    if name in ("jax", "minigrad"):
        fast = library.jit(fast, donate_argnums=(0, 1, 2))
    elif name == "benchmarks.torch_compiled":
        fast = library.jit(fast)
    state = [[convert(x.copy()) for x in each] for each in (p, m, v)]
    slopes, count = [convert(x) for x in g], convert(np.array(3.0))

    def run() -> list[Any]:
        state[:] = fast(*state, slopes, count)
        if name == "jax":
            library.block_until_ready(state)
        return [x for each in state for x in each]

    return run
