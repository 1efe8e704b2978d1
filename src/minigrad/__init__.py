"""minigrad: the heart of PyTorch, rebuilt from scratch, to be read and to be rewritten.

Only what a first expression needs is imported here; everything else is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from minigrad import autodiff, cuda_choice, errors, functions, operators, scalar
from minigrad.autodiff import enable_grad, no_grad
from minigrad.functions import Function
from minigrad.scalar import Scalar

if TYPE_CHECKING:
    from minigrad.checks import check as check
    from minigrad.exercises import use as use
    from minigrad.hints import hint as hint
    from minigrad.progressing import progress as progress

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
    "arrays",
    "autograd",
    "backends",
    "checks",
    "compiling",
    "creation",
    "cuda_ops",
    "data",
    "datasets",
    "debug",
    "derivatives",
    "draw",
    "engine",
    "exercises",
    "fast_ops",
    "mlp",
    "module",
    "nn",
    "optim",
    "tensor_data",
    "tensor_functions",
    "tensor_ops",
    "widgets",
)
_lazy_names = {
    "Generator": "creation",
    "Tensor": "tensors",
    "TensorData": "tensor_data",
    "arange": "creation",
    "as_tensor": "creation",
    "backend": "backends",
    "cat": "creation",
    "check": "checks",
    "concat": "creation",
    "empty": "creation",
    "eye": "creation",
    "from_dlpack": "creation",
    "from_numpy": "creation",
    "full": "creation",
    "full_like": "creation",
    "get_default_dtype": "backends",
    "gradcheck": "gradient_check",
    "gradgradcheck": "gradient_check",
    "hint": "hints",
    "is_grad_enabled": "autodiff",
    "linear": "creation",
    "linspace": "creation",
    "load": "saving",
    "manual_seed": "creation",
    "ones": "creation",
    "ones_like": "creation",
    "progress": "progressing",
    "rand": "creation",
    "rand_like": "creation",
    "randint": "creation",
    "randn": "creation",
    "randn_like": "creation",
    "randperm": "creation",
    "save": "saving",
    "set_default_dtype": "backends",
    "stack": "creation",
    "tensor": "creation",
    "use": "exercises",
    "where": "creation",
    "zeros": "creation",
    "zeros_like": "creation",
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
    abs add all allclose amax amin any argmax argmin bmm chunk clamp clip clone cos div dot equal erf exp
    flatten flip gather gelu index_select isfinite isinf isnan log log_softmax logsumexp masked_fill matmul
    max maximum mean min minimum mm mul neg numel permute pow prod reciprocal relu reshape sigmoid sign sin
    softmax split sqrt square squeeze std sub sum tanh transpose unbind unsqueeze var
    """.split()  # noqa: SIM905 (a list of 59 strings would fill the page)
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
    else:
        raise AttributeError(f"module 'minigrad' has no attribute {name!r}")
    globals()[name] = found  # found once
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_lazy_modules, *_lazy_names, *_dtypes, *_methods})


def load_ipython_extension(shell: Any) -> None:
    """Register the ``%minigrad`` magic (``%load_ext minigrad``)."""
    from minigrad.magics import register

    register(shell)


try:
    from minigrad import fast
except ImportError:  # an edition for students leaves out the twins, which give answers away
    pass
else:
    fast.enable()
