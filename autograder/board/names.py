"""What the names of a kernel's text stand for: `cuda`, `numba`, `math` and a few of Python's functions.

Nothing else is reachable from a text: each of these is an entry of a dictionary here, and no object of Python's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.board.memory import WARP, Lanes, Memory, Refused
from autograder.board.values import numeric

_DTYPES = {"float32": np.float32, "float64": np.float64, "int32": np.int32, "int64": np.int64}


@dataclass(frozen=True)
class Space:
    """A module, or a part of one: what its names stand for."""

    names: Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """A function that a kernel may call: its name, and what it does with the values of its arguments."""

    name: str
    call: Callable[..., Any]


@dataclass(frozen=True)
class Type(Known):
    """A type of numbers, which is called to convert."""

    dtype: Any = None


@dataclass(frozen=True)
class Maker:
    """``cuda.shared.array`` or ``cuda.local.array``."""

    scope: str


class Barrier:
    """``cuda.syncthreads``."""


def _cast(dtype: Any) -> Callable[[Any], Any]:
    wide = np.float64 if np.dtype(dtype).kind == "f" else np.int64
    return lambda value: numeric(value).astype(dtype).astype(wide)


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(*values: Any) -> Any:
        found = numeric(values[0])
        for each in values[1:]:
            found = function(found, numeric(each))
        return found

    return call


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*map(numeric, values))


def _length(value: Any) -> Any:
    if not isinstance(value, Memory | tuple):
        raise Refused("len is asked of an array")
    return np.int64(value.shape[0] if isinstance(value, Memory) else len(value))


_MATH = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "fabs": np.abs,
    "pow": np.power, "exp2": np.exp2, "log2": np.log2,
}  # fmt: skip


def spaces(
    thread: Mapping[str, Lanes], block: Mapping[str, Any], width: Sequence[int], grid: Sequence[int]
) -> dict[str, Any]:
    """What names stand for that a text does not define: `cuda`, `numba`, `math` and a few of Python's functions."""
    types = {name: Type(name, _cast(dtype), dtype) for name, dtype in _DTYPES.items()}
    sizes, blocks = (dict(zip("xyz", map(np.int64, each), strict=True)) for each in (width, grid))
    numbers = [block[axis] * sizes[axis] + thread[axis] for axis in "xyz"]
    totals = [blocks[axis] * sizes[axis] for axis in "xyz"]
    lane = thread["x"] + sizes["x"] * (thread["y"] + sizes["y"] * thread["z"])

    def along(found: Sequence[Any]) -> Callable[..., Any]:
        def call(axes: Any) -> Any:
            if not isinstance(axes, np.int64) or not 1 <= axes <= 3:
                raise Refused("a grid has one to three axes")
            return found[0] if axes == 1 else tuple(found[: int(axes)])

        return call

    cuda = Space(
        {
            "threadIdx": Space(thread), "blockIdx": Space(block), "blockDim": Space(sizes), "gridDim": Space(blocks),
            "grid": Known("grid", along(numbers)), "gridsize": Known("gridsize", along(totals)),
            "shared": Space({"array": Maker("shared")}), "local": Space({"array": Maker("local")}),
            "syncthreads": Barrier(), "warpsize": np.int64(WARP), "laneid": lane % WARP,
            "fma": Known("fma", lambda a, b, c: numeric(a) * numeric(b) + numeric(c)),
        }
    )  # fmt: skip
    functions = {name: Known(name, _of_numbers(function)) for name, function in _MATH.items()}
    return {
        "cuda": cuda, "numba": Space({**types, "cuda": cuda}), **types,
        "math": Space({**functions, "pi": np.float64(np.pi), "inf": np.float64(np.inf)}),
        "min": Known("min", _folded(np.minimum)), "max": Known("max", _folded(np.maximum)),
        "abs": Known("abs", _of_numbers(np.abs)), "int": Known("int", _cast(np.int64)),
        "float": Known("float", _cast(np.float64)), "len": Known("len", _length),
    }  # fmt: skip
