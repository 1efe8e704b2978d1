"""One call at least of every function of `minigrad.draw`, and pictures of feedback: what is measured as it is shown."""

import math

import numpy as np

from autograder.results import pictures
from minigrad import Scalar, datasets, debug, draw, ones, program, tensor, zeros
from minigrad.checks.standins import leaf, result
from minigrad.debug import cuda_races
from minigrad.draw import tour
from minigrad.dual import Dual
from minigrad.graph import optimize, trace
from minigrad.loops import Lifetime
from minigrad.machine._numba import cuda, numba
from minigrad.module import Module, Parameter
from minigrad.tensor_data import TensorData
from minigrad.transforms import grad

prange = numba.prange
TABLE = np.arange(12).reshape(3, 4)
POINTS = datasets.split(40, seed=1)


def _chain():
    x = Scalar(5.0, name="x")
    a = x * 2.0
    b = a * 3.0
    return draw.expression_graph(a * b, a=a, b=b)


def _wide_graph():
    """A graph of thirty operations, wider than a page."""
    a, b = Scalar(-4.0, name="a"), Scalar(2.0, name="b")
    c, d = a + b, a * b + b * b * b
    c += c + 1.0
    c += 1.0 + c + (-a)
    d += d * 2.0 + (b + a).relu()
    d += 3.0 * d + (b - a).relu()
    e = c - d
    f = e * e
    return draw.expression_graph(f / 2.0 + 10.0 / f)


def _crossing():
    """Two edges cross at their middles, where their labels would stand."""
    a, b = Scalar(2.0, name="a"), Scalar(3.0, name="b")
    return draw.expression_graph((a + b) * (a * b))


def _tensors():
    x, w = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tensor([1.0, 2.0, 3.0])
    b = tensor([[10.0], [20.0]])
    for each in (x, w, b):
        each.requires_grad_(True)
    y = x * w + b
    loss = y.sum()
    return draw.expression_graph(loss, x=x, w=w, b=b, y=y, loss=loss)


def _both_lanes():
    """A value that two paths reach, with tangents and gradients."""
    x = leaf("x = 2")
    square, wave = result("u = x^2 = 4", (x, 4.0)), result("v = sin x = 0.909", (x, -0.4161))
    return draw.expression_graph(result("y = u v = 3.637", (square, 0.9093), (wave, 4.0)), moving=x)


def _simplified():
    """A program of which a pass has struck out much."""
    given = program.trace(lambda x: x * 1.0 + (x * 1.0) * np.ones(3), np.zeros(3))
    return draw.program(given, kept=program.simplify(given))


def _differentiated():
    """A program and its backward pass."""
    given = program.trace(lambda x, w: (x * w + x).sum(), np.zeros((2, 3)), np.zeros(3))
    return draw.program(program.backward(given, [0, 1]), forward=given)


def _shifted(out, a):
    for i in prange(1, len(a)):
        out[i] = out[i - 1] + a[i]


def _doubled(out, a):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < len(a):
        out[i] = 2.0 * a[i]


def _plane(out, a):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = a[i, j]


def _turned(out, a):
    cache = cuda.shared.array(4, numba.float64)
    i = cuda.threadIdx.x
    cache[i] = a[i]
    cuda.syncthreads()
    out[i] = cache[3 - i]


def _collided(out, a):
    out[cuda.threadIdx.x // 2] = a[cuda.threadIdx.x]


def _counted(out, a):
    cuda.atomic.add(out, 0, a[cuda.threadIdx.x])


def _recorded(kernel, shape, grid, block):
    return cuda_races(kernel, grid, block, np.zeros(shape), np.arange(math.prod(shape), dtype=float).reshape(shape))


def _backward_pass():
    """The graph of a gradient: inputs, a constant, crossing lines, a long way past others."""

    def loss(w, x, y):
        return ((x @ w).tanh() - y * ones(4)).square().mean()

    return trace(grad(loss), zeros(3), zeros(4, 3), zeros(4))


def _model():
    model, part = Module(), Module()
    model.scale = Parameter(2.0)
    part.weight, part.bias = Parameter(0.5), Parameter(0.0)
    model.encoder, model.head = Module(), part
    model.encoder.layer1, model.encoder.layer2 = part, part
    return model


SVG = {
    "bits": lambda: draw.bits({"float32": (8, 23), "float16": (5, 10), "bfloat16": (8, 7)}),
    "expression_graph, a chain": _chain,
    "expression_graph, wider than a page": _wide_graph,
    "expression_graph, crossing edges": _crossing,
    "expression_graph, tensors": _tensors,
    "expression_graph, both lanes": _both_lanes,
    "dual": lambda: draw.dual(Dual(Dual(16.0, 32.0, 1), Dual(32.0, 48.0, 1), 2)),
    "passes": lambda: draw.passes({(m, n): (n, m) for m in (1, 2, 100) for n in (1, 2, 100)}),
    "flattened": lambda: draw.flattened([{"w": "w0 (1, 8)", "b": None}, ({"w": 1.0, "b": 2.0},)]),
    "batched": lambda: draw.batched((3,), examples=5),
    "batched, two axes": lambda: draw.batched((2, 3), examples=4),
    "strides": lambda: draw.strides(TABLE[1:, 1::2], highlight=(1, 0)),
    "strides, used several times": lambda: draw.strides(
        TensorData(np.array([12.5, -11.25, 10.0, 7.0, 8.0]), (3, 3), (1, 1)), highlight=[(0, 1), (1, 0)]
    ),
    "strides, three axes": lambda: draw.strides(np.arange(60).reshape(3, 4, 5), highlight=(2, 0, 3)),
    "permute": lambda: draw.permute(np.arange(24).reshape(2, 3, 4), (2, 0, 1)),
    "broadcast": lambda: draw.broadcast((4, 1, 2), (4, 2)),
    "program": lambda: draw.program(_backward_pass()),
    "program, simplified": _simplified,
    "program, differentiated": _differentiated,
    "running_softmax": lambda: draw.running_softmax([1.0, 3.0, -2.0, 5.0, 1e-5], block=2),
    "rewrite": lambda: draw.rewrite(_backward_pass(), optimize(_backward_pass())),
    "memory_plan": lambda: draw.memory_plan(
        {"a": Lifetime(256, 0, 1), "b": Lifetime(192, 0, 3), "c": Lifetime(128, 3, 5), "d": Lifetime(64, 3, 4)},
        {"a": 0, "b": 256, "c": 0, "d": 128},
    ),
    "timeline": lambda: draw.timeline(
        {"NumPy": [("matmul", 2e-3), ("tanh", 1e-3), ("mul", 1e-4)], "compiled": [("matmul", 2e-3), ("loop", 4e-4)]}
    ),
    "schedule": lambda: draw.schedule(
        {
            "backward": [("w3", 0.0, 2e-3), ("w2", 2e-3, 3e-3), ("w1", 3e-3, 6e-3)],
            "all-reduce": [("w3 w2", 3e-3, 5e-3), ("w1", 6e-3, 8e-3)],
            "without buckets": [],
        }
    ),
    "broadcast, a clash": lambda: draw.broadcast((2, 3), (2,)),
    "broadcast, large sizes": lambda: draw.broadcast((1000, 1, 28), (3, 128, 1)),
    "reduction": lambda: draw.reduction((2, 3, 4), 1),
    "permuted_gradient": lambda: draw.permuted_gradient((2, 2, 3), (2, 0, 1)),
    "permuted_gradient, a wrong way": lambda: draw.permuted_gradient((2, 2, 2), (1, 2, 0), back=(1, 2, 0)),
    "jacobians": lambda: draw.jacobians(
        {"x * x": lambda x: x * x, "x.T": lambda x: x.T, "x / 7": lambda x: x / 7}, TABLE[:2, :3] + 1.0, column=2
    ),
    "jacobians, a row": lambda: draw.jacobians(
        {"x x": lambda x: np.outer(x, x)[:2].ravel()}, TABLE[0, 1:], column=1, row=2
    ),
    "kinds_of_tensors": draw.kinds_of_tensors,
    "library": lambda: draw.library(
        {"00 fundamentals": [(name, name != "prod") for name in ("add", "mul", "prod")], "12 poems": [("Cache", True)]},
        {"12 poems": "FlashAttention, paged caches, quantized weights, serving"},
    ),
    "matmul_shapes": lambda: draw.matmul_shapes(2, 3, 4),
    "iterations": lambda: draw.iterations(10, 4),
    "iterations, at most": lambda: draw.iterations(24, 12),
    "races": lambda: draw.races(debug.races(_shifted, np.zeros(8), np.arange(8.0))),
    "walk": lambda: draw.walk(4, 8, "rows"),
    "blocks": lambda: draw.blocks(10, 4),
    "blocks, two axes": lambda: draw.blocks((5, 11), (4, 4)),
    "accesses": lambda: draw.accesses(_recorded(_doubled, (10,), 3, 4), block=2),
    "accesses, two axes": lambda: draw.accesses(_recorded(_plane, (5, 7), (2, 2), (4, 4)), block=(1, 1)),
    "accesses, many threads": lambda: draw.accesses(_recorded(_plane, (11, 11), (1, 1), (12, 12)), thread=(3, 4)),
    "accesses, collisions": lambda: draw.accesses(_recorded(_collided, (4,), 1, 4)),
    "accesses, atomic": lambda: draw.accesses(_recorded(_counted, (4,), 1, 4)),
    "shared_memory": lambda: draw.shared_memory(_recorded(_turned, (4,), 1, 4)),
    "reads": lambda: draw.reads({"_plane": _recorded(_plane, (5, 7), (2, 2), (4, 4))}),
    "tiles": lambda: draw.tiles((10, 10, 9), tile=4, block=(1, 2)),
    "convolution, a line": lambda: draw.convolution([1, 2, 0, 3, 1, 2], [2, -1, 1], at=1),
    "convolution, an image": lambda: draw.convolution(
        np.arange(16).reshape(4, 4) % 5, np.array([[1, 0, -1]] * 3), at=(0, 0), padding=1
    ),
    "convolution, channels": lambda: draw.convolution([[[1, 2, 0, 3]], [[5, 0, 1, 1]]], [[[2, -1]], [[0, 1]]], (0, 1)),
    "tiled": lambda: draw.tiled(np.arange(24).reshape(4, 6), (2, 3)),
}
"""Pictures by hand, by the function and what is shown."""


DIAMOND = {"y": [("x", 2.0)], "a": [("y", 3.0)], "b": [("y", 5.0)], "z": [("a", 7.0), ("b", 11.0)]}

FEEDBACK = {
    "graph": pictures.graph(DIAMOND, {"x": 110.0, "y": 76.0}, {"x": 152.0, "y": 76.0}),
    "order": pictures.order({"a": ["x", "two"], "b": ["a"], "z": ["a", "b"]}, ["z", "a", "b", "x"], ["two"]),
    "view": pictures.view(6, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[0, 3], [1, 4], [2, 5]]),
    "together": pictures.together(
        pictures.array("a", [[1, 2, 3], [4, 5, 6]]),
        pictures.array(
            "came", [[1, 2, 3], [4, 5, -1.234567]], [[1, 2, 3], [4, 5, 6]], came=True, note="strides (3, 1)"
        ),
    ),
    "aligned": pictures.aligned({"shape1": [2, 3], "shape2": [3]}, "came", [2, 2], [2, 3]),
    "steps": pictures.steps([2, 3], [1, 40], [3, 1]),
}
"""Pictures of counter-examples, as a report describes them."""

MATPLOTLIB = {
    "magnitudes": lambda: draw.magnitudes({"gradients": [1e-9, 1e-6, 0.5, 1.0]}, 2.0**-24, 65504.0),
    "curves": lambda: draw.curves({"-log p": lambda p: -math.log(p)}, 0.01, 1.0, "p"),
    "elementary": draw.elementary,
    "secants": lambda: draw.secants(lambda x: x * x, 0.5, [1.5, 0.7, 0.1], -1.0, 2.3),
    "sides": lambda: draw.sides(lambda x: x**3, 0.8, 0.8, -0.4, 1.9),
    "partials": lambda: draw.partials(lambda x, y: x * x + x * y + 0.5 * y * y, 1.0, -0.5),
    "difference_errors": lambda: draw.difference_errors(
        {"forward": [1e-3, 1e-5, 1e-2], "central": [1e-3, 1e-8, 1e-1]}, [1e-12, 1e-6, 1.0]
    ),
    "decision": lambda: draw.decision(lambda places: [x for x, _ in places], POINTS, "from left to right"),
    "film": lambda: draw.film(list(tour.train(POINTS, steps=3, frames=3)), POINTS),
    "folding": lambda: draw.folding(POINTS, (-1.0, 0.0, 0.38), (1.0, 0.0, -0.62), (10.0, 10.0, -1.8)),
    "loss_curve": lambda: draw.loss_curve([0.7, 0.4, 0.35], "three epochs"),
    "fold": lambda: draw.fold("fn", "start", ["x1", "x2", "x3"]),
    "tree": lambda: draw.tree(_model()),
    "timings": lambda: draw.timings(
        [100, 10_000, 1_000_000],
        {"NumPy": [1e-7, 1e-6, 1e-3], "yours": [1e-5, [1e-5, 2e-5, 3e-5], 2e-3]},
        bytes_per_element=24,
        bandwidth=2e10,
    ),
    "roofline": lambda: draw.roofline(
        1e11, 1e10, {"addition": (1 / 24, 3e8), "a product by tiles": (53.0, 2e10), "a longer product": (85.0, None)}
    ),
    "memory_over_time": lambda: draw.memory_over_time({"all kept": [1, 2, 3, 2, 1], "pieces": [1, 1, 2, 1]}, "tensors"),
    "bytes_and_seconds": lambda: draw.bytes_and_seconds(
        {"gelu": [(168e6, 0.02), (16e6, 0.004)], "softmax": [(6e7, 0.018), (4e7, 0.01)]}, bandwidth=10e9
    ),
    "signals": lambda: draw.signals({"small": [0.1, 0.01, 0.0], "large": [10.0, 1e5, math.inf]}, "two layers"),
    "descents": lambda: draw.descents(
        lambda x, y: x * x + 9.0 * y * y, {"SGD": [(-1.5, 1.0), (-1.0, -0.5)], "Adam": [(-1.5, 1.0)]}
    ),
    "learning_curves": lambda: draw.learning_curves(
        {letter: ([2.3, 1.0, 0.2], [2.4, 5.0, math.nan]) for letter in "ABCDE"}
    ),
    "runs": lambda: draw.runs({"cold": [0.05, 2e-6, 1.4e-6, 1.5e-6], "warm": [1.4e-6, 1.5e-6, 1.4e-6, 1.6e-6]}),
    "digits": lambda: draw.digits(np.arange(192).reshape(3, 8, 8) % 17, [1, 2, 3], [1, 7, 3]),
    "kernels": lambda: draw.kernels(np.linspace(-1.9, 1.3, 36).reshape(4, 1, 3, 3), "the first layer's windows"),
    "attention": lambda: draw.attention(np.tri(24) / np.arange(1.0, 25.0)[:, None], "Shall I compare thee to ", "past"),
    "activations": lambda: draw.activations({"image": TABLE[None], "edges": np.stack([TABLE, 11 - TABLE])}),
}
"""Pictures by matplotlib, by the function."""
