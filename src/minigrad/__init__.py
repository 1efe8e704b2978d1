"""minigrad: the heart of PyTorch, rebuilt from scratch, to be read and to be rewritten.

Only what a first expression needs is imported here; everything else is imported when it is first used.
"""

from __future__ import annotations

import importlib
import math
import sys
from typing import TYPE_CHECKING, Any

from minigrad import autodiff, errors, functions, operators, scalar
from minigrad.autodiff import enable_grad, no_grad
from minigrad.elementwise import entry as _entry
from minigrad.functions import Function
from minigrad.machine import pictures
from minigrad.machine.missing import missing
from minigrad.machine.overrides import load_quick
from minigrad.scalar import Scalar

if TYPE_CHECKING:
    from minigrad.checks import check as check
    from minigrad.exercises import use as use
    from minigrad.tutor.hints import hint as hint
    from minigrad.tutor.milestones import milestone as milestone
    from minigrad.tutor.predicting import predict as predict
    from minigrad.tutor.progressing import progress as progress

__all__ = [
    "Function",
    "Scalar",
    "autodiff",
    "check",
    "enable_grad",
    "errors",
    "functions",
    "hint",
    "milestone",
    "no_grad",
    "operators",
    "predict",
    "progress",
    "scalar",
    "use",
]

__version__ = "0.1.0"

_lazy_modules = (
    "attention",
    "autograd",
    "backends",
    "batching",
    "checks",
    "compiling",
    "cuda_ops",
    "data",
    "datasets",
    "debug",
    "derivatives",
    "draw",
    "dual",
    "engine",
    "exercises",
    "fast_ops",
    "flags",
    "func",
    "functional",
    "graph",
    "language",
    "loops",
    "mlp",
    "module",
    "nn",
    "optim",
    "precision",
    "program",
    "symbols",
    "tensor_data",
    "tensor_functions",
    "tensor_ops",
    "training",
    "transforms",
    "trees",
    "widgets",
    "workers",
)
# Where modules stand that are `minigrad.NAME`: PyTorch's `cuda`, and those that notebooks of earlier releases import.
_moved_modules = {
    "arrays": "backends.arrays",
    "creation": "tensors.creation",
    "cuda": "tensors.on_cuda",
    "doctor": "commands.doctor",
    "hints": "tutor.hints",
    "tour": "draw.tour",
}
_lazy_names = {
    "Generator": "tensors.creation",
    "Tensor": "tensors",
    "TensorData": "tensor_data",
    "arange": "tensors.creation",
    "as_tensor": "tensors.creation",
    "backend": "backends",
    "bernoulli": "tensors.several",
    "broadcast_shapes": "tensors.several",
    "broadcast_tensors": "tensors.several",
    "cat": "tensors.creation",
    "check": "checks",
    "concat": "tensors.creation",
    "concatenate": "tensors.creation",
    "dstack": "tensors.several",
    "einsum": "tensors.einsum",
    "empty": "tensors.creation",
    "eye": "tensors.creation",
    "from_dlpack": "tensors.creation",
    "from_numpy": "tensors.creation",
    "full": "tensors.creation",
    "full_like": "tensors.creation",
    "get_default_dtype": "backends",
    "gradcheck": "gradient_check",
    "gradgradcheck": "gradient_check",
    "hint": "tutor.hints",
    "hstack": "tensors.several",
    "inference_mode": "autograd",
    "is_grad_enabled": "autodiff",
    "is_tensor": "tensors.several",
    "jit": "graph",
    "linear": "tensors.creation",
    "linspace": "tensors.creation",
    "load": "nn.saving",
    "manual_seed": "tensors.creation",
    "meshgrid": "tensors.several",
    "milestone": "tutor.milestones",
    "multinomial": "tensors.several",
    "normal": "tensors.several",
    "ones": "tensors.creation",
    "ones_like": "tensors.creation",
    "predict": "tutor.predicting",
    "progress": "tutor.progressing",
    "promote_types": "tensors.several",
    "rand": "tensors.creation",
    "rand_like": "tensors.creation",
    "randint": "tensors.creation",
    "randn": "tensors.creation",
    "randn_like": "tensors.creation",
    "randperm": "tensors.creation",
    "save": "nn.saving",
    "searchsorted": "tensors.several",
    "set_default_dtype": "backends",
    "set_grad_enabled": "autograd",
    "stack": "tensors.creation",
    "tensor": "tensors.creation",
    "use": "exercises",
    "vmap": "func",
    "vstack": "tensors.several",
    "where": "tensors.creation",
    "zeros": "tensors.creation",
    "zeros_like": "tensors.creation",
}
_dtypes = {
    "bool": "bool",
    "double": "float64",
    "float": "float32",
    "float32": "float32",
    "float64": "float64",
    "int": "int32",
    "int32": "int32",
    "int64": "int64",
    "long": "int64",
}
_constants = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}
# Methods of tensors that are functions too: ``minigrad.exp(x)`` is ``x.exp()``.
_methods = {op.method for op in _entry.OPS.values() if op.method} | frozenset(
    """
    add addcdiv addcmul addmm all allclose amax amin any argmax argmin argsort bincount bmm broadcast_to ceil chunk
    clamp clip clone count_nonzero cross cumprod cumsum diag div dot eq equal flatten flip floor floor_divide fmod
    gather ge gt index_add index_fill index_select is_floating_point isclose isfinite isinf isnan kthvalue le lerp
    log10 log1p log2 log_softmax logical_and logical_not logical_or logical_xor logsumexp lt masked_fill
    masked_select matmul max maximum mean median min minimum mm moveaxis movedim mul mv narrow ne nonzero norm numel
    outer permute pow prod ravel remainder repeat_interleave reshape roll round rsqrt scatter scatter_add select
    sign softmax sort split squeeze std sub sum swapaxes swapdims t take_along_dim tan tile topk trace transpose
    tril triu trunc unbind unflatten unique unsqueeze var
    """.split()  # noqa: SIM905 (a list of 120 strings would fill the page)
)


def __getattr__(name: str) -> Any:
    if name in _lazy_names:
        found = getattr(importlib.import_module(f"minigrad.{_lazy_names[name]}"), name)
    elif name in _dtypes:
        found = importlib.import_module("numpy").dtype(_dtypes[name])
    elif name == "device":
        found = importlib.import_module("minigrad.tensors.devices").Device
    elif name in _constants:
        found = _constants[name]
    elif name in _methods:
        found = importlib.import_module("minigrad.tensors").function_of(name)
    elif name in _lazy_modules:
        return importlib.import_module(f"minigrad.{name}")
    elif name in _moved_modules:
        found = importlib.import_module(f"minigrad.{_moved_modules[name]}")
    else:
        raise missing(__name__, name, sys.modules[__name__])
    globals()[name] = found  # found once
    return found


def __dir__() -> list[str]:
    return sorted(
        {*__all__, "__version__", *_lazy_modules, *_lazy_names, *_dtypes, *_methods, *_constants, "cuda", "device"}
    )


def load_ipython_extension(shell: Any) -> None:
    """Register the ``%minigrad`` magic (``%load_ext minigrad``)."""
    from minigrad.commands.magics import register

    register(shell)


pictures.draw_by(
    "minigrad.graph.program.Graph", lambda graph: importlib.import_module("minigrad.draw.programs").html(graph)
)
load_quick("scalar")
