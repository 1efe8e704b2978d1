"""minigrad: the heart of PyTorch, rebuilt from scratch, to be read and to be rewritten.

Only what a first expression needs is imported here; everything else is imported when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from minigrad import autodiff, errors, functions, operators, scalar
from minigrad.autodiff import enable_grad, no_grad
from minigrad.functions import Function
from minigrad.machine import cuda_choice
from minigrad.machine.missing import missing
from minigrad.scalar import Scalar

if TYPE_CHECKING:
    from minigrad.checks import check as check
    from minigrad.exercises import use as use
    from minigrad.tutor.hints import hint as hint
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
    "no_grad",
    "operators",
    "progress",
    "scalar",
    "use",
]

__version__ = "0.1.0"

cuda_choice.choose()

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
    "functional",
    "graph",
    "loops",
    "mlp",
    "module",
    "nn",
    "optim",
    "program",
    "symbols",
    "tensor_data",
    "tensor_functions",
    "tensor_ops",
    "training",
    "transforms",
    "trees",
    "widgets",
)
# Where modules stand now that notebooks of earlier releases import as `minigrad.NAME`.
_moved_modules = {
    "arrays": "backends.arrays",
    "creation": "tensors.creation",
    "doctor": "commands.doctor",
    "hints": "tutor.hints",
}
_lazy_names = {
    "Generator": "tensors.creation",
    "Tensor": "tensors",
    "TensorData": "tensor_data",
    "arange": "tensors.creation",
    "as_tensor": "tensors.creation",
    "backend": "backends",
    "cat": "tensors.creation",
    "check": "checks",
    "concat": "tensors.creation",
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
    "is_grad_enabled": "autodiff",
    "jit": "graph",
    "linear": "tensors.creation",
    "linspace": "tensors.creation",
    "load": "tensors.saving",
    "manual_seed": "tensors.creation",
    "ones": "tensors.creation",
    "ones_like": "tensors.creation",
    "progress": "tutor.progressing",
    "rand": "tensors.creation",
    "rand_like": "tensors.creation",
    "randint": "tensors.creation",
    "randn": "tensors.creation",
    "randn_like": "tensors.creation",
    "randperm": "tensors.creation",
    "save": "tensors.saving",
    "set_default_dtype": "backends",
    "stack": "tensors.creation",
    "tensor": "tensors.creation",
    "use": "exercises",
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
    "int64": "int64",
    "long": "int64",
}
# Methods of tensors that are functions too: ``minigrad.exp(x)`` is ``x.exp()``.
_methods = frozenset(
    """
    abs add all allclose amax amin any argmax argmin argsort bmm ceil chunk clamp clip clone cos cumsum diag div dot
    equal erf exp flatten flip floor floor_divide gather gelu index_add index_select isfinite isinf isnan log log1p
    log_softmax logsumexp masked_fill matmul max maximum mean min minimum mm mul neg norm numel outer permute pow prod
    reciprocal relu remainder reshape roll round scatter scatter_add sigmoid sign sin softmax sort split sqrt square
    squeeze std sub sum tanh topk transpose tril triu unbind unsqueeze var
    """.split()  # noqa: SIM905 (a list of 77 strings would fill the page)
)


def __getattr__(name: str) -> Any:
    if name in _lazy_names:
        found = getattr(importlib.import_module(f"minigrad.{_lazy_names[name]}"), name)
    elif name in _dtypes:
        found = importlib.import_module("numpy").dtype(_dtypes[name])
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
    return sorted({*globals(), *_lazy_modules, *_lazy_names, *_dtypes, *_methods})


def load_ipython_extension(shell: Any) -> None:
    """Register the ``%minigrad`` magic (``%load_ext minigrad``)."""
    from minigrad.commands.magics import register

    register(shell)


with suppress(ImportError):  # an edition for students leaves out the twins, which give answers away
    importlib.import_module("minigrad.fast")  # not `from minigrad import fast`, which asks __getattr__ first
