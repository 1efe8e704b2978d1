"""A folder of answers to MiniTorch's tasks, in the shape of its files: made of the known-right variants."""

import re
from textwrap import indent

from places import ROOT

VARIANTS = ROOT / "course" / "variants"

HEADS = {
    "operators.py": '''"""Operators."""

import math
from typing import Callable, Iterable

EPS = 1e-6
''',
    "module.py": '''"""Modules."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple


class Parameter:
    def __init__(self, x: Any, name: Optional[str] = None) -> None:
        self.value = x
''',
    "autodiff.py": '''"""Derivatives."""

from dataclasses import dataclass
from typing import Any, Iterable, List, Tuple

from typing_extensions import Protocol


class Variable(Protocol):
    def accumulate_derivative(self, x: Any) -> None: ...


@dataclass
class Context:
    no_grad: bool = False
    saved_values: Tuple[Any, ...] = ()
''',
    "scalar_functions.py": '''"""Functions of scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import minitorch

from . import operators
from .autodiff import Context

if TYPE_CHECKING:
    from .scalar import Scalar, ScalarLike


class ScalarFunction:
    """The machinery, which is not to come along."""

    @classmethod
    def _backward(cls, ctx: Context, d_out: float):
        raise RuntimeError("MiniTorch's own machinery")

    @classmethod
    def apply(cls, *vals: "ScalarLike") -> Scalar:
        raise RuntimeError("MiniTorch's own machinery")
''',
    "scalar.py": '''"""Scalars."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Optional, Sequence, Tuple, Type, Union

import numpy as np

from .autodiff import Context, Variable, backpropagate, central_difference
from .scalar_functions import EQ, LT, Add, Exp, Inv, Log, Mul, Neg, ReLU, ScalarFunction, Sigmoid


@dataclass
class Scalar:
    data: float
''',
    "tensor_data.py": '''"""Storage and strides."""

from __future__ import annotations

import random
from typing import Iterable, Optional, Sequence, Tuple, Union

import numba
import numba.cuda
import numpy as np
import numpy.typing as npt
from numpy import array, float64
from typing_extensions import TypeAlias

from .operators import prod

MAX_DIMS = 32


class IndexingError(RuntimeError):
    pass


Storage: TypeAlias = npt.NDArray[np.float64]
OutIndex: TypeAlias = npt.NDArray[np.int32]
''',
    "tensor_ops.py": '''"""Loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional, Type

import numpy as np
from typing_extensions import Protocol

from . import operators
from .tensor_data import broadcast_index, index_to_position, shape_broadcast, to_index

if TYPE_CHECKING:
    from .tensor_data import Shape, Storage, Strides


class MapProto(Protocol):
    def __call__(self, x: Tensor, out: Optional[Tensor] = ..., /) -> Tensor: ...
''',
    "fast_ops.py": '''"""Loops for all cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit as _njit
from numba import prange

from .tensor_data import broadcast_index, index_to_position, shape_broadcast, to_index
from .tensor_ops import MapProto, TensorOps

to_index = _njit(inline="always")(to_index)
index_to_position = _njit(inline="always")(index_to_position)
broadcast_index = _njit(inline="always")(broadcast_index)
''',
    "cuda_ops.py": '''"""Kernels for a GPU."""

from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar

import numba
from numba import cuda
from numba.cuda import jit as _jit

from .tensor_data import MAX_DIMS, Shape, Storage, Strides, broadcast_index, index_to_position, to_index
from .tensor_ops import MapProto, TensorOps

FakeCUDAKernel = Any
Fn = TypeVar("Fn")


def device_jit(fn: Fn, **kwargs: Any) -> Fn:
    return _jit(device=True, **kwargs)(fn)


def jit(fn, **kwargs) -> FakeCUDAKernel:
    return _jit(**kwargs)(fn)


to_index = device_jit(to_index)
THREADS_PER_BLOCK = 32
''',
    "tensor_functions.py": '''"""Functions of tensors."""

from __future__ import annotations

import minitorch

from . import operators
from .autodiff import Context
from .tensor_ops import SimpleBackend, TensorBackend


class Function:
    @classmethod
    def apply(cls, *vals):
        raise RuntimeError("MiniTorch's own machinery")


class Permute(Function):
    @staticmethod
    def forward(ctx: Context, a: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return a._new(a._tensor.permute(*[int(order[i]) for i in range(order.size)]))

    @staticmethod
    def backward(ctx: Context, grad_output: Tensor) -> Tuple[Tensor, float]:
        order: Tensor = ctx.saved_values[0]
        order2 = [a[0] for a in sorted(enumerate([order[i] for i in range(order.size)]), key=lambda a: a[1])]
        return grad_output._new(grad_output._tensor.permute(*order2)), 0.0
''',
}

PARTS = {
    "operators.py": ["operators.arithmetic", "operators.comparison", "operators.elementary", "operators.higher_order"],
    "module.py": ["module.Module"],
    "autodiff.py": ["derivatives.central_difference", "autodiff.backpropagate"],
    "scalar_functions.py": ["functions.arithmetic", "functions.elementary"],
    "tensor_data.py": [
        "tensor_data.strides_from_shape",
        "tensor_data.index_to_position",
        "tensor_data.to_index",
        "tensor_data.shape_broadcast",
        "tensor_data.broadcast_index",
    ],
    "tensor_ops.py": ["tensor_ops.tensor_map", "tensor_ops.tensor_zip", "tensor_ops.tensor_reduce"],
    "fast_ops.py": [
        "fast_ops.tensor_map",
        "fast_ops.tensor_reduce",
        "fast_ops._tensor_matrix_multiply",
    ],
    "cuda_ops.py": [
        "cuda_ops.tensor_map",
        "cuda_ops._sum_practice",
        "cuda_ops.tensor_reduce",
        "cuda_ops._tensor_matrix_multiply",
    ],
}

TAILS = {
    "operators.py": """

def negList(ls):
    return map(neg)(ls)


def addLists(ls1, ls2):
    return zipWith(add)(ls1, ls2)


def sum(ls):
    return reduce(add, 0.0)(ls)


def prod(ls):
    return reduce(mul, 1.0)(ls)


def log_back(x: float, d: float) -> float:
    return d / x


def inv_back(x: float, d: float) -> float:
    return -1.0 / (x**2) * d


def relu_back(x: float, d: float) -> float:
    return 0.0 if x <= 0 else d
""",
    "autodiff.py": """

def topological_sort(variable: Variable) -> Iterable[Variable]:
    order: List[Variable] = []
    seen = set()
    stack = [(variable, False)]
    while stack:
        var, finished = stack.pop()
        if finished:
            order.insert(0, var)
        elif var.unique_id not in seen and not var.is_constant():
            seen.add(var.unique_id)
            stack.append((var, True))
            stack.extend((m, False) for m in var.parents)
    return order
""",
    "fast_ops.py": "\n\ntensor_matrix_multiply = _njit(_tensor_matrix_multiply, parallel=True)\n",
}


def text_of(id):
    """Return the text of the known-right answer in MiniTorch's manner."""
    (path,) = sorted((VARIANTS / id).glob("minitorch*.py"))
    return path.read_text()


def folder(root, changes=()):
    """Write a package `minitorch`, with some texts replaced: (file, old, new)."""
    package = root / "minitorch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('this package is not to be imported')\n")
    for name, head in HEADS.items():
        text = head + "".join(f"\n\n{text_of(id)}" for id in PARTS.get(name, ())) + TAILS.get(name, "")
        if name == "scalar_functions.py":  # MiniTorch's classes have a base of its own, and no kernel
            text = re.sub(r" {4}kernel = .*\n\n", "", text.replace("(Elementwise)", "(ScalarFunction)"))
        if name == "scalar.py":
            text += "\n" + indent(
                text_of("autodiff.chain_rule").partition("\n\n")[2].replace("variable", "self"), "    "
            )
        if name == "tensor_data.py":
            method = text_of("tensor_data.permute").partition("\n\n")[2]
            text += "\n\nclass TensorData:\n    _storage: Storage\n\n" + indent(method, "    ")
        for file, old, new in changes:
            if file == name:
                assert text.count(old) == 1, (file, old, text.count(old))
                text = text.replace(old, new)
        (package / name).write_text(text)
    return package
