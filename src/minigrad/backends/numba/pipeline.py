"""Numba's compiler up to LLVM's text, which is all that `compiler` takes of it.

Numba makes machine code of each function, and an entry for Python. A kernel is one object file, made of the text of its
entry, into which the functions that it calls are linked. So those need neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from minigrad.backends.numba.processor import with_widest_vectors
from minigrad.machine._numba import numba

_core: Any = numba.core
_types: Any = numba.types
_WORDS = _types.CPointer(_types.int64)

KERNEL = _types.void(_types.CPointer(_WORDS), _WORDS, _WORDS, _WORDS)
"""The signature of a kernel: `compiler` says what its arguments are."""


class _Codegen(_core.codegen.AOTCPUCodegen):  # type: ignore[misc]  # Numba ships no types
    """Numba's generator of code for another process, but for the very processor of this one."""

    def _customize_tm_features(self) -> str:
        return with_widest_vectors(str(self._get_host_cpu_features()))


@cache
def _context() -> Any:
    """Return Numba's knowledge of this processor, with a generator that makes no machine code."""
    context = _core.registry.cpu_target.target_context
    return context.subtarget(_internal_codegen=_Codegen("minigrad", "host"), get_executable=_entry)


def _entry(library: Any, *_: object) -> Callable[[Any], None]:
    """Return what Numba takes for the function's entry: something built in, another one for each, never called."""
    library.finalize()
    return [library].append


class _Pipeline(_core.compiler.CompilerBase):  # type: ignore[misc]  # Numba ships no types
    """Numba's passes."""

    def __init__(self, typing_context: Any, target_context: Any, *rest: Any) -> None:
        super().__init__(typing_context, _context(), *rest)

    def define_pipelines(self) -> list[Any]:
        """Return the usual passes."""
        return [_core.compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)]


def inner(**options: Any) -> Any:
    """Return the decorator for functions that only kernels call: they have no entry from Python.

    Numba compiles one anew for each literal argument.
    """
    njit: Any = numba.njit
    own = {"pipeline_class": _Pipeline, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(error_model="numpy", **own, **options)


def text_of(function: Callable[..., None]) -> tuple[str, str]:
    """Return LLVM's text of a kernel and of all that it calls, and the name of the kernel in it."""
    result = inner()(function).get_compile_result(KERNEL)
    return result.library.get_llvm_str(), result.fndesc.llvm_func_name
