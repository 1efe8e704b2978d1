"""Instructions that kernels give to LLVM directly: addresses, loads, stores, and arithmetic with exact rules.

A kernel gets raw addresses, since one driver calls all kernels (see `threads`). Numba has no words for some of what a
fast loop needs, so each function here emits one or two LLVM instructions. They are used in kernels only; Python
cannot call them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from minigrad.backends.numba.geometry import HEADER
from minigrad.machine._numba import numba

__all__ = [
    "add_any_order",
    "array_at",
    "bits_to_float",
    "float_to_bits",
    "load",
    "local_buffer",
    "maximum",
    "minimum",
    "mul_any_order",
    "multiply_add",
    "multiply_add_any_order",
    "pointer",
    "select",
    "store",
    "store_fence",
    "store_line",
]

types: Any = numba.types


def intrinsic(function: Callable[..., Any]) -> Any:
    """Let kernels call the code that a function generates. Literal arguments are passed on as such."""
    return numba.extending.intrinsic(prefer_literal=True)(function)


LINE = 64
"""Bytes in a cache line, and in the widest vector register."""


def _scopes(module: Any) -> dict[str, Any]:
    """Return metadata for LLVM: a value written by `store` is not read by `load` at another index.

    A kernel's output is either a fresh buffer or exactly one of its inputs, element for element. LLVM cannot know, and
    would compare all addresses before each loop, or give up on vectors where there are many inputs.
    """
    domain = module.add_metadata(["minigrad"])
    inputs = module.add_metadata([module.add_metadata(["minigrad inputs", domain])])
    outputs = module.add_metadata([module.add_metadata(["minigrad outputs", domain])])
    return {"inputs": inputs, "outputs": outputs}


@intrinsic
def pointer(typing_context: Any, address: Any, dtype: Any) -> Any:
    """Return an address, given as an integer, as a pointer to elements of a dtype."""
    result = types.CPointer(dtype.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(result))

    return result(types.int64, dtype), generate


@intrinsic
def array_at(typing_context: Any, parameters: Any, handle: Any, offset: Any, dtype: Any) -> Any:
    """Return a pointer to elements of a dtype: where an array begins, and an offset in elements behind it.

    Args:
        typing_context: Numba's own; a call does not give it.
        parameters: The words that a kernel is given.
        handle: The place of the array's handle among them.
        offset: The place of the offset.
        dtype: The type of the elements.
    """
    result = types.CPointer(dtype.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start, shift = (builder.load(builder.gep(args[0], [place])) for place in args[1:3])
        if HEADER is not None:
            start = builder.load(builder.inttoptr(builder.add(start, start.type(HEADER)), start.type.as_pointer()))
        size = context.get_abi_sizeof(context.get_data_type(dtype.dtype))
        address = builder.add(start, builder.mul(shift, shift.type(size)))
        return builder.inttoptr(address, context.get_value_type(result))

    return result(parameters, types.int64, types.int64, dtype), generate


@intrinsic
def load(typing_context: Any, source: Any, index: Any) -> Any:
    """Return an element that no `store` of this kernel changes at another index."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(builder.gep(args[0], [args[1]]))
        scopes = _scopes(builder.module)
        value.set_metadata("alias.scope", scopes["inputs"])
        value.set_metadata("noalias", scopes["outputs"])
        return context.data_model_manager[source.dtype].from_data(builder, value)

    return source.dtype(source, types.int64), generate


@intrinsic
def store(typing_context: Any, target: Any, index: Any, value: Any) -> Any:
    """Write an element that no `load` of this kernel reads at another index."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = context.cast(builder, args[2], signature.args[2], target.dtype)
        value = context.data_model_manager[target.dtype].as_data(builder, value)
        written = builder.store(value, builder.gep(args[0], [args[1]]))
        scopes = _scopes(builder.module)
        written.set_metadata("alias.scope", scopes["outputs"])
        written.set_metadata("noalias", scopes["inputs"])
        return context.get_dummy_value()

    return types.void(target, types.int64, value), generate


@intrinsic
def local_buffer(typing_context: Any, dtype: Any, size: Any) -> Any:
    """Return a pointer to a buffer on the stack, aligned to cache lines. Its size is a literal."""
    result = types.CPointer(dtype.dtype)
    count = size.literal_value

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(dtype.dtype)
        with builder.goto_entry_block():
            buffer = builder.alloca(ir.ArrayType(element, count))
            buffer.align = LINE
        return builder.bitcast(buffer, context.get_value_type(result))

    return result(dtype, size), generate


@intrinsic
def store_line(typing_context: Any, target: Any, index: Any, source: Any, offset: Any) -> Any:
    """Copy one cache line past the caches, from a buffer to an address aligned to lines.

    An ordinary store first reads the line that it overwrites. Where an output is larger than the caches that
    reading is a quarter to a third of all traffic.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(target.dtype)
        count = LINE // context.get_abi_sizeof(element)
        line = ir.VectorType(element, count).as_pointer()
        value = builder.load(builder.bitcast(builder.gep(args[2], [args[3]]), line))
        value.align = LINE // count
        written = builder.store(value, builder.bitcast(builder.gep(args[0], [args[1]]), line), align=LINE)
        one = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        written.set_metadata("nontemporal", one)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), generate


@intrinsic
def store_fence(typing_context: Any) -> Any:
    """Make lines that were written past the caches visible to the other threads."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


def _reinterpret(source: Any, result: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(result))

    return result(source), generate


@intrinsic
def float_to_bits(typing_context: Any, value: Any) -> Any:
    """Return a float's bits as an integer of the same width."""
    return _reinterpret(value, types.int64 if value.bitwidth == 64 else types.int32)


@intrinsic
def bits_to_float(typing_context: Any, value: Any) -> Any:
    """Return the float that has these bits."""
    return _reinterpret(value, types.float64 if value.bitwidth == 64 else types.float32)


def _call_llvm(name: str, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(x)
        function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(function, args)

    return x(x, x), generate


def _choose_integer(comparison: str, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed(comparison, *args), *args)

    return x(x, x), generate


@intrinsic
def maximum(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the larger of two numbers of one type, or nan if either is nan. LLVM knows it as a reduction."""
    return _call_llvm("llvm.maximum", x) if isinstance(x, types.Float) else _choose_integer(">", x)


@intrinsic
def minimum(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the smaller of two numbers of one type, or nan if either is nan. LLVM knows it as a reduction."""
    return _call_llvm("llvm.minimum", x) if isinstance(x, types.Float) else _choose_integer("<", x)


def _fold(for_floats: str, for_integers: str, x: Any) -> Any:
    """One addition or multiplication that LLVM may put in another order, so that it keeps many partial results.

    The permission belongs to this one instruction: in the whole kernel it would let LLVM simplify away the rounding
    that `vector.exp` depends on.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(x, types.Float):
            return getattr(builder, for_floats)(*args, flags=("reassoc", "contract"))
        return getattr(builder, for_integers)(*args)

    return x(x, x), generate


@intrinsic
def add_any_order(typing_context: Any, total: Any, x: Any) -> Any:
    """Return total + x, as one step of a sum whose order does not matter."""
    return _fold("fadd", "add", total)


@intrinsic
def mul_any_order(typing_context: Any, total: Any, x: Any) -> Any:
    """Return total * x, as one step of a product whose order does not matter."""
    return _fold("fmul", "mul", total)


@intrinsic
def select(typing_context: Any, condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds, else y, without a branch. Both are computed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return x(types.boolean, x, x), generate


def _multiply_add(flags: tuple[str, ...], total: Any, x: Any, y: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.fmul(args[1], args[2], flags=("contract",))
        return builder.fadd(args[0], product, flags=flags)

    return total(total, total, total), generate


@intrinsic
def multiply_add(typing_context: Any, total: Any, x: Any, y: Any) -> Any:
    """Return total + x * y, rounded once where the processor can."""
    return _multiply_add(("contract",), total, x, y)


@intrinsic
def multiply_add_any_order(typing_context: Any, total: Any, x: Any, y: Any) -> Any:
    """Return total + x * y, as one step of a sum whose order does not matter."""
    return _multiply_add(("contract", "reassoc"), total, x, y)
