"""What Numba compiles: functions that a user or a student wrote, which are any Python, and its own code's `vector`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from minigrad.backends.numba import compiler, vector
from minigrad.backends.numba.intrinsics import KINDS, Value, page
from minigrad.compiling import reaching
from minigrad.machine._numba import numba

_core: Any = numba.core
_types: Any = numba.types


def _compiled(function: Any) -> Any:
    """Let Numba compile a plain function of numbers with all helpers that it calls, without an entry from Python."""
    if hasattr(function, "py_func"):  # compiled already
        return function
    njit: Any = numba.njit
    own = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    make = njit(error_model="numpy", fastmath={"contract"}, **own)
    return reaching.rebuild(reaching.kernel_of(function), lambda _, copy: make(copy), reaching.kernel_of)


def called(function: Any, dtype: Any) -> Callable[..., Any]:
    """Return what writes the call of a function of numbers of a dtype into a kernel."""

    def call(*args: Value) -> Any:
        """Numba returns a result by its place, and beside it whether all went well; if not, the kernel ends."""
        signature = _core.typing.signature(None, *[getattr(_types, str(dtype))] * len(args))
        result = _compiled(function).get_compile_result(signature)
        name, kind = result.fndesc.llvm_func_name, KINDS[str(result.signature.return_type)].replace("i1", "i8")
        page.linked[name] = result.library.get_llvm_str()
        place, error = Value(f"{kind}*", page.stack(kind)), page.stack("ptr")
        pointers = Value("i8*", place.name), Value("i8*", error)
        page.branch(page.call("i32", name, *pointers, *args) == 0, page.name("L"), "leave")
        return place[0]

    return call


@cache
def offered(name: str, dtype: Any) -> Any:
    """Return a function of `vector` for code that Numba compiles."""
    kind, symbol = KINDS[str(dtype)], f"minigrad_{name}_{dtype}"
    text = compiler.translated(vector.functions(dtype)[name], kind, symbol)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        library = context.codegen().create_library(symbol)
        library.add_llvm_module(llvm.parse_assembly(text))
        library.finalize()
        context.active_code_library.add_linking_library(library)
        number = context.get_value_type(signature.return_type)
        declared = ir.FunctionType(number, [number])
        return builder.call(_core.cgutils.get_or_insert_function(builder.module, declared, symbol), args)

    # Numba wants an intrinsic's parameters without types.
    def typed(typing_context, x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return x(x), generate

    return numba.extending.intrinsic(typed)
