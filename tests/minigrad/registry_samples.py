"""What every differentiable function is tried with, and what PyTorch calls it. A new function needs an entry here."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from pytorch import torch

import minigrad
from minigrad import functions, tensor_functions
from minigrad.elementwise.entry import OPS
from minigrad.functions import Function
from minigrad.nn.convolution import PLAIN, Windows

__all__ = [
    "COMPARED",
    "ELEMENTWISE",
    "LAYOUTS",
    "SPECIAL",
    "Sample",
    "functions_of_tensors",
    "in_pytorch",
    "reference",
    "samples_of",
    "title",
]


LAYOUTS = ("contiguous", "permuted", "sliced", "repeated")


@dataclass(frozen=True)
class Sample:
    """One way of calling a function.

    Attributes:
        shapes: The shapes of its tensors.
        options: Its further arguments.
        positive: Whether its inputs are above 0.
        within: For each input the interval of its numbers, where the function has jumps elsewhere.
        mask: Whether the first input is a condition, which has no derivative.
        repeat: The axis along which equal elements do no harm, where there is one.
        layouts: How its inputs may lie in memory.
    """

    shapes: tuple[tuple[int, ...], ...]
    options: dict[str, Any] = field(default_factory=dict)
    positive: bool = False
    within: tuple[tuple[float, float], ...] = ()
    mask: bool = False
    repeat: int | None = 0
    layouts: tuple[str, ...] = LAYOUTS

    def numbers(self, rng: np.random.Generator, shapes: Sequence[tuple[int, ...]] | None = None) -> list[np.ndarray]:
        """Return float64 inputs: no two elements equal, and none close to 0, so that there are no ties and kinks."""
        shapes = self.shapes if shapes is None else shapes
        sizes = [int(np.prod(shape)) for shape in shapes]
        grid = (np.arange(sum(sizes)) + 0.37 - sum(sizes) // 2) * (4.0 / sum(sizes))
        if self.positive:
            grid = 0.4 + (grid - grid.min()) / 3.0
        parts = np.split(rng.permutation(grid), np.cumsum(sizes)[:-1])
        if self.within:
            even = [(part - grid.min()) / max(np.ptp(grid), 1.0) for part in parts]
            parts = [low + (high - low) * part for part, (low, high) in zip(even, self.within, strict=True)]
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def integers(self, rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
        """Return inputs of integers from 1 to 9: divisors are not 0, and powers fit into int32."""
        return [rng.integers(1, 10, shape).astype(dtype) for shape in self.shapes]


def _one(**more: Any) -> list[Sample]:
    return [Sample(((2, 3),), **more), Sample(((),), **more)]


def _two(**more: Any) -> list[Sample]:
    """Of one shape, and of shapes that broadcast in both directions and in rank."""
    return [Sample(((2, 3), (2, 3)), **more), Sample(((2, 1), (3,)), **more)]


def _along(shape: tuple[int, ...], *options: dict[str, Any]) -> list[Sample]:
    return [Sample((shape,), each) for each in options]


def _extremes(shape: tuple[int, ...], *options: dict[str, Any]) -> list[Sample]:
    """Equal elements would share a maximum: they are repeated along another axis, if there is one."""
    samples = []
    for each in options:
        dims = each["dim"] if isinstance(each["dim"], tuple) else (each["dim"],)
        free = [axis for axis in range(len(shape)) if axis not in dims]
        samples.append(Sample((shape,), each, repeat=free[0] if free else None))
    return samples


_SUMS = ({"dim": (0, 1, 2)}, {"dim": (1,)}, {"dim": (0, 2), "keepdim": True})
_ROWS = np.array([[0, 1], [1, 1]])
_SPREAD = Windows(stride=(2, 1), padding=(1, 1), dilation=(1, 2), groups=2)
_TILES = {"kernel": (2, 2), "windows": Windows(stride=(2, 2))}
_OVERLAPPING = {"kernel": (3, 2), "windows": Windows(stride=(1, 2), padding=(1, 0))}
_DILATED = {"kernel": (2, 2), "windows": Windows(stride=(1, 1), padding=(1, 0), dilation=(2, 3))}
_DIVISORS = np.array([[1.0, 2.0], [3.0, 4.0]])
_PLACES = np.array([[[[0, 3], [1, 2]]], [[[2, 2], [0, 1]]]], dtype=np.uint8)
_CLASSES = np.array([3, -1, 0, 3])
_FACTORS = np.array([1.0, 0.0, 0.5, 2.0])

ELEMENTWISE: dict[str, list[Sample]] = {
    **{op.function: _one(positive=op.positive) for op in OPS.values() if len(op.inputs) == 1},
    **{name: _two() for name in ("Add", "Div", "EQ", "GE", "GT", "LE", "LT", "Max", "Min", "Mul", "NE", "Sub")},
    **{name: _two(within=((-2.6, -2.4), (0.95, 1.05))) for name in ("FloorDivide", "Remainder")},
    "Pow": _two(positive=True),
    "Clip": [Sample(((2, 3), (2, 3), (2, 3))), Sample(((2, 3), (3,), (2, 1)))],
    "Where": [Sample(((2, 3), (2, 3), (2, 3)), mask=True), Sample(((3,), (2, 1), (3,)), mask=True)],
}

OF_TENSORS: dict[str, list[Sample]] = {
    # elements that move
    "Permute": _along((2, 3, 2), {"order": (2, 0, 1)}, {"order": (0, 2, 1)}),
    "View": [Sample(((2, 3, 2),), {"shape": shape}, layouts=("contiguous",)) for shape in ((4, 3), (12, 1))],
    "Expand": [Sample(((2, 1),), {"shape": (3, 2, 2)}), Sample(((),), {"shape": (2, 1)})],
    "Index": _along(
        (3, 2, 2),
        {"key": (slice(None, None, 2), None, 1)},
        {"key": (_ROWS,)},
        {"key": (slice(1, None), np.array([1, 0, 1]))},
        {"key": (np.array([True, False, True]),)},
    ),
    "IndexAdd": [
        Sample(((2, 2),), {"shape": (3, 2), "key": (slice(1, None),)}),
        Sample(((2, 2, 2),), {"shape": (3, 2), "key": (_ROWS,)}),
        Sample(((),), {"shape": (3,), "key": (np.array(1),)}),
    ],
    "Embed": [Sample(((3, 2),), {"tokens": minigrad.tensor([[0, 2], [2, 2]])})],
    "Flip": _along((2, 3), {"dims": (0,)}, {"dims": (0, 1)}),
    "Cat": [Sample(((2, 1), (2, 3)), {"dim": 1}), Sample(((1, 2), (1, 2), (2, 2)), {"dim": 0})],
    "Clone": _one(),
    "IndexPut": [
        Sample(((3, 2), (2,)), {"key": (1,)}),
        Sample(((3, 2, 2), (2, 1)), {"key": (np.array([2, 0]),)}),
    ],
    "ToDevice": _along((2, 3), {"device": "cpu"}, {"device": "cuda"}),
    "Cast": [Sample(((2, 3),), {"dtype": np.dtype(np.float64)})],
    # reductions
    **{name: _along((2, 3, 2), *_SUMS) for name in ("Sum", "Prod", "LogSumExp")},
    **{name: _extremes((2, 3, 2), *_SUMS) for name in ("Amax", "Amin")},
    "Max": _extremes((2, 3, 2), {"dim": 2}, {"dim": 1}),
    "CumSum": _along((2, 3, 2), {"dim": 2}, {"dim": 1}),
    **{name: _along((2, 3, 2), {"dim": 2}, {"dim": 1}) for name in ("Softmax", "LogSoftmax")},
    # products
    "MatMul": [Sample(((2, 3), (3, 2))), Sample(((2, 1, 2, 3), (2, 3, 2))), Sample(((2, 2, 3), (3, 1)))],
    "Linear": [Sample(((4, 3), (2, 3), (2,))), Sample(((2, 2, 3), (2, 3)))],
    # windows
    "Conv2d": [
        Sample(((2, 2, 4, 3), (2, 2, 2, 2)), {"windows": Windows()}),
        Sample(((2, 2, 4, 3), (4, 1, 2, 2)), {"windows": _SPREAD}),
        Sample(((1, 2, 1, 5), (2, 2, 1, 3)), {"windows": PLAIN}),
    ],
    "ConvInput": [
        Sample(((2, 2, 3, 2), (2, 2, 2, 2)), {"windows": Windows(), "size": (4, 3)}),
        Sample(((2, 4, 3, 3), (4, 1, 2, 2)), {"windows": _SPREAD, "size": (4, 3)}),
        Sample(((1, 2, 1, 3), (2, 2, 1, 3)), {"windows": PLAIN, "size": (1, 5)}),
    ],
    "ConvWeight": [
        Sample(((2, 2, 3, 2), (2, 2, 4, 3)), {"windows": Windows(), "size": (2, 2)}),
        Sample(((2, 4, 3, 3), (2, 2, 4, 3)), {"windows": _SPREAD, "size": (2, 2)}),
        Sample(((1, 2, 1, 3), (1, 2, 1, 5)), {"windows": PLAIN, "size": (1, 3)}),
    ],
    "AvgPool2d": _along((2, 1, 4, 4), _TILES, _OVERLAPPING, _TILES | {"divisor": _DIVISORS}),
    "MaxPool2d": _along((2, 1, 4, 4), _TILES, _OVERLAPPING, _DILATED),
    "AvgSpread": [
        Sample(((2, 1, 2, 2),), _TILES | {"size": (4, 4)}),
        Sample(((2, 1, 2, 2),), _TILES | {"size": (4, 4), "divisor": _DIVISORS}),
        Sample(((2, 1, 4, 2),), _OVERLAPPING | {"size": (4, 4)}),
    ],
    "WindowTake": _along((2, 1, 4, 4), _TILES | {"places": _PLACES}),
    "WindowScatter": _along((2, 1, 2, 2), _TILES | {"places": _PLACES, "size": (4, 4)}),
    # losses
    **{
        name: [Sample(((3, 2), (3, 2)), {"reduction": reduction}) for reduction in ("mean", "sum", "none")]
        for name in ("SquaredError", "BCEWithLogits")
    },
    "CrossEntropy": [
        Sample(((4, 4),), {"target": _CLASSES, "factors": _FACTORS, "reduction": reduction})
        for reduction in ("mean", "sum", "none")
    ],
}

# What is no function of tensors, or none of its own.
LEFT_OUT = {
    functions.Function,  # what all others are made of
    functions.Elementwise,
    tensor_functions.LinearFunction,
    tensor_functions.AlongAxes,
    functions.Dot,  # of 2n + 1 Scalars: test_functions.py has it
}

SPECIAL = (-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 3.0, np.inf, np.nan)

TORCH: dict[str, str | Callable[..., Any]] = {
    **{op.function: op.torch for op in OPS.values()},
    "Add": "add",
    "Div": "div",
    "Mul": "mul",
    "Where": lambda condition, a, b: torch.where(condition != 0.0, a, b),
}
COMPARED = frozenset(TORCH)
"""The names of the elementwise functions that PyTorch has too."""


def in_pytorch(function: type[Function]) -> Callable[..., Any]:
    """Return PyTorch's function for an elementwise one of minigrad."""
    return _in_pytorch(function.__name__)


def _in_pytorch(name: str) -> Callable[..., Any]:
    theirs = TORCH[name]
    return attrgetter(theirs)(torch) if isinstance(theirs, str) else theirs


def reference(name: str) -> Callable[..., float]:
    """Return PyTorch's counterpart of an elementwise function, of numbers in float64."""
    return lambda *numbers: float(_in_pytorch(name)(*[torch.tensor(x, dtype=torch.float64) for x in numbers]))


def functions_of_tensors() -> list[type[Function]]:
    """Return every differentiable function that minigrad defines anywhere, but what is named in LEFT_OUT."""
    for module in pkgutil.walk_packages(minigrad.__path__, "minigrad."):
        if module.name.split(".")[1] in ("tensor_functions", "nn"):
            importlib.import_module(module.name)
    found, new = set(), {Function}
    while new:
        found |= new
        new = {sub for function in new for sub in function.__subclasses__()} - found
    # Those of graphs and quick forms stand for other functions, and those of checks are there once a check has run.
    others = ("minigrad.graph.", "minigrad.quick.", "minigrad.checks.")
    rooms = {each: f"{each.__module__}." for each in found}
    mine = {each for each, room in rooms.items() if room.startswith("minigrad.") and not room.startswith(others)}
    public = {function for function in mine if "_" not in (function.__qualname__[0], function.__name__[0])}
    registered = {*functions.all_functions(), *tensor_functions.all_functions()}
    return sorted((public | registered) - LEFT_OUT, key=title)


def samples_of(function: type[Function]) -> list[Sample]:
    """Return what a function is tried with; nothing for one that this file does not know."""
    table = ELEMENTWISE if issubclass(function, functions.Elementwise) else OF_TENSORS
    return table.get(function.__name__, [])


def title(function: type[Function]) -> str:
    """Return a name that no other function has."""
    return f"{function.__module__.split('.')[-1]}.{function.__name__}"
