"""Every program with tensors that is timed, and how long it may take beside which peer.

A program is written once, for a library with PyTorch's names; NumPy's, where there is one, stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import compiled, networks, steps, tensors

__all__ = ["COMPILED", "GROWING", "LINES", "Line"]

Program = Callable[[Any], Callable[[], object]]


@dataclass(frozen=True)
class Line:
    """One program.

    Attributes:
        name: What it computes.
        program: Makes the inputs with a library, and returns what is timed.
        limits: For each peer, the largest share of its time that minigrad may take.
        beside: Peers that are shown without a limit.
        work: Floating-point operations of one run, where the rate is of interest.
        moved: Bytes that one run has to read and write at least, where the memory's bandwidth is of interest.
        divide: How many operations one run consists of, where the time of one is of interest.
    """

    name: str
    program: Program
    limits: dict[str, float]
    beside: tuple[str, ...] = ()
    work: float = 0.0
    moved: float = 0.0
    divide: int = 1
    peers: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "peers", (*self.limits, *self.beside))


def _elementwise() -> list[Line]:
    large = ("torch", "torch, malloc tuned")

    def line(size: int, limits: tuple[dict[str, float], dict[str, float]], dtype: str = "float64") -> list[Line]:
        name = f"sigmoid(a * b + c), 1e{len(str(size)) - 1}" + (", float32" if dtype == "float32" else "")
        return [
            Line(f"{name}, forward", tensors.sigmoid(size, dtype, False), limits[0], ("numpy",)),
            Line(f"{name}, forward and backward", tensors.sigmoid(size, dtype, True), limits[1]),
        ]

    return [
        *line(1_000, ({"torch": 1.0}, {"torch": 0.5})),
        *line(100_000, ({"torch": 1.0}, {"torch": 0.5})),
        *line(10_000_000, (dict(zip(large, (0.2, 0.77), strict=True)),) * 2),
        *line(10_000_000, (dict(zip(large, (0.2, 0.77), strict=True)),) * 2, "float32"),
        Line("(1000, 1) * (1, 1000), forward", tensors.broadcast(False), {"torch": 0.9}, ("numpy",)),
        Line("(1000, 1) * (1, 1000), forward and backward", tensors.broadcast(True), {"torch": 0.35}),
    ]


def _reductions() -> list[Line]:
    def softmax(size: int, limit: float, dtype: str = "float64") -> list[Line]:
        name = f"softmax {size} x {size}" + (", float32" if dtype == "float32" else "")
        return [
            Line(f"{name}, forward", tensors.softmax(size, dtype, False), {"torch": limit}),
            Line(f"{name}, forward and backward", tensors.softmax(size, dtype, True), {"torch": limit}),
        ]

    return [
        Line("sum of 4096 x 4096 over axis 0", tensors.sum_over(0), {"torch": 0.55}, ("numpy",)),
        Line("sum of 4096 x 4096 over axis 1", tensors.sum_over(1), {"torch": 1.15}, ("numpy",)),
        *softmax(1024, 1.0),
        *softmax(4096, 0.5),
        *softmax(1024, 1.0, "float32"),
    ]


def _products() -> list[Line]:
    blas = {"numpy": 1 / 0.95}

    def product(size: int) -> Line:
        program = tensors.matmul((size, size), (size, size))
        return Line(f"matmul {size} x {size}", program, blas, ("torch",), 2.0 * size**3)

    def kernel(size: int, tiled: bool = False) -> Line:
        name = "minigrad.tiling's kernel" if tiled else "the kernel of exercise 3.2"
        program = tensors.teaching_matmul(size, tiled)
        return Line(f"matmul {size} x {size}, {name}", program, {"numpy": 1 / 0.35}, (), 2.0 * size**3)

    batched = tensors.matmul((64, 128, 128), (64, 128, 128))
    return [
        *map(product, (128, 512, 2048)),
        Line("matmul 64 x 128 x 128, batched", batched, blas, ("torch",), 64 * 2.0 * 128**3),
        kernel(512),
        kernel(512, tiled=True),
        kernel(2048, tiled=True),
    ]


def _networks() -> list[Line]:
    def convolution(dtype: str, limit: float) -> list[Line]:
        name = "conv2d (16, 8, 28, 28) with (16, 8, 3, 3)" + (", float32" if dtype == "float32" else "")
        return [
            Line(f"{name}, forward", tensors.conv2d(dtype, False), {"torch": limit}),
            Line(f"{name}, forward and backward", tensors.conv2d(dtype, True), {"torch": limit}),
        ]

    return [
        *convolution("float64", 0.9),
        *convolution("float32", 1.6),
        Line(
            "an epoch of a network 2-100-100-1 on Xor, 50 points, batches of 10", networks.mlp_epoch, {"torch": 1 / 3}
        ),
        Line("a step of LeNet, 16 images of 28 x 28", networks.lenet_step("float64"), {"torch": 0.85}),
        Line("a step of LeNet, 16 images of 28 x 28, float32", networks.lenet_step("float32"), {"torch": 0.85}),
        Line("an epoch of LeNet on 1,437 digits, batches of 32, float32", networks.digits_epoch, {"torch": 1.0}),
    ]


def _small() -> list[Line]:
    return [
        Line("a * b of shape (4,)", tensors.small_product, {"torch": 0.75}, ("numpy",)),
        Line("(a * b).sum() of shape (4,), forward and backward", tensors.small_backward, {"torch": 0.4}),
        Line("a product of 100 tensors of shape (4,), one of them", tensors.chain(100), {"torch": 0.5}, divide=100),
    ]


def _compiled() -> list[Line]:
    beside = ("minigrad, eager", "numpy", "numexpr")
    compilers = {"jax": 1.0, "torch, compiled": 1.0}

    def pair(
        name: str,
        program: str,
        shapes: list[tuple[int, ...]],
        limits: tuple[float, float],
        peers: tuple[str, ...] = beside,
    ) -> list[Line]:
        forward, both = ({"torch": limit} | compilers for limit in limits)
        read, written = sum(map(math.prod, shapes)), math.prod(np.broadcast_shapes(*shapes))
        return [
            Line(
                f"jit: {name}, forward",
                compiled.compiled(program, shapes),
                forward,
                peers,
                moved=8.0 * (read + written),
            ),
            Line(
                f"jit: {name}, with gradients",
                compiled.compiled(program, shapes, True),
                both,
                beside[:1],
                moved=8.0 * 2 * read,
            ),
        ]

    def sigmoid(size: int, limits: tuple[float, float]) -> list[Line]:
        return pair(f"sigmoid(a * b + c), 1e{len(str(size)) - 1}", "sigmoid", [(size,)] * 3, limits)

    square = (1024, 1024)
    large = [(10_000_000,)] * 2
    near = {"jax": 1.1, "torch, compiled": 1.1}  # where BLAS decides
    return [
        pair("a + 2 * b, 1e7: the memory's bandwidth", "triad", large, (1.0, 1.0))[0],
        *sigmoid(1_000, (0.6, 0.25)),
        *sigmoid(100_000, (0.6, 0.3)),
        *sigmoid(10_000_000, (1 / 8, 1 / 6)),
        *pair("gelu with tanh, 1e5", "gelu", [(100_000,)], (0.6, 0.3)),
        *pair("(1000, 1) * (1, 1000)", "product", [(1000, 1), (1, 1000)], (0.5, 0.12)),
        *pair("softmax 1024 x 1024", "softmax", [square], (1.0, 1.0), beside[:2]),
        *pair("layer norm 1024 x 1024", "layer norm", [square, (1024,), (1024,)], (1.0, 1.0), beside[:2]),
        Line("jit: a step of Adam, 204,000 numbers", steps.adam, {"torch": 1.0} | compilers, beside[:2]),
        Line(
            "jit: an epoch on Xor, 50 points, batches of 10", steps.xor_epoch, {"torch": 1 / 3} | compilers, beside[:1]
        ),
        Line(
            "jit: a step of LeNet, 16 images of 28 x 28",
            steps.lenet("float64"),
            {"torch": 0.85} | compilers,
            beside[:1],
        ),
        Line(
            "jit: a step of LeNet, 16 images of 28 x 28, float32",
            steps.lenet("float32"),
            {"torch": 0.85} | compilers,
            beside[:1],
        ),
        Line(
            "jit: a step of a transformer's block, 8 texts of 64 tokens, width 64, float32",
            steps.transformer_block,
            {"torch": 1.0} | near,
            beside[:1],
        ),
    ]


LINES = {
    line.name: line for lines in (_small(), _elementwise(), _reductions(), _products(), _networks()) for line in lines
}
COMPILED = {line.name: line for line in _compiled()}


def _square(size: int) -> list[tuple[int, ...]]:
    side = math.isqrt(size)
    return [(side, side)]


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _growing() -> dict[str, Callable[[int, bool], Program]]:
    def on(
        shapes: Callable[[int], list[tuple[int, ...]]],
        compute: Callable[..., Any],
        of_numpy: Callable[..., Any] | None = None,
    ) -> Callable[[int, bool], Program]:
        return lambda size, backward: tensors.operation(shapes(size), compute, backward, of_numpy)

    return {
        "a * b": on(lambda size: [(size,)] * 2, lambda a, b: a * b),
        "exp(a)": on(lambda size: [(size,)], lambda a: a.exp(), np.exp),
        "sigmoid(a * b + c)": lambda size, backward: tensors.sigmoid(size, "float32", backward),
        "sum over each row of a square": on(_square, lambda x: x.sum(1)),
        "softmax of each row of a square": on(_square, lambda x: x.softmax(1), _softmax),
        "product of two n x n matrices": on(lambda n: [(n, n)] * 2, lambda a, b: a @ b),
        "training step of a network 2-h-h-1": lambda hidden, backward: networks.mlp_step(hidden),
    }


GROWING = _growing()
"""Programs that run at sizes from small to large, in float32: each returns that of a size, forward or also backward."""
