"""Instructions that kernels give to LLVM directly: addresses, loads, stores, and arithmetic with exact rules.

A kernel gets raw addresses, since one driver calls all kernels (see `threads`). Numba has no words for some of what a
fast loop needs, so each function here emits one or two LLVM instructions. They are used in kernels only; Python
cannot call them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from minigrad.backends.guarded import HEADER
from minigrad.machine._numba import numba

__all__ = [
    "add_any_order",
    "array_at",
    "bits_to_float",
    "float_to_bits",
    "gemm",
    "load",
    "local_buffer",
    "maximum",
    "minimum",
    "mul_any_order",
    "multiply_add",
    "multiply_add_any_order",
    "opaque",
    "operand",
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
def operand(typing_context: Any, item: Any, place: Any, dtype: Any) -> Any:
    """Return the pointer at a place of a list of pointers, as one to elements of a dtype."""
    result = types.CPointer(dtype.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.load(builder.gep(args[0], [args[1]])), context.get_value_type(result))

    return result(item, types.int64, dtype), generate


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


@intrinsic
def opaque(typing_context: Any, x: Any) -> Any:
    """Return a float, of which LLVM does not know any more that it is a constant."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(x)
        function = builder.module.declare_intrinsic("llvm.arithmetic.fence", [kind], ir.FunctionType(kind, [kind]))
        return builder.call(function, args)

    return x(x), generate


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


@intrinsic
def gemm(
    typing_context: Any,
    routine: Any,
    turned_a: Any,
    turned_b: Any,
    n: Any,
    m: Any,
    k: Any,
    a: Any,
    lead_a: Any,
    b: Any,
    lead_b: Any,
    out: Any,
    lead_out: Any,
    dtype: Any,
) -> Any:
    """Call BLAS's product of two matrices, ``out = a @ b``, in row-major order.

    Args:
        typing_context: Numba's own; a call does not give it.
        routine: The address of ``cblas_sgemm`` or ``cblas_dgemm``, with 64-bit integers.
        turned_a: 1 if a is given by columns, else 0.
        turned_b: 1 if b is.
        n: Rows of a.
        m: Columns of b.
        k: Columns of a.
        a: The address of its first element.
        lead_a: Elements from one row, or column, to the next.
        b: As a.
        lead_b: As lead_a.
        out: The address of the result.
        lead_out: Elements from one of its rows to the next.
        dtype: The type of the elements.
    """
    by_rows, as_it_is = 101, 111  # the enumerations of cblas.h; what is turned is one more

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        routine, turned_a, turned_b, n, m, k, a, lead_a, b, lead_b, out, lead_out = args[:12]
        word, number = ir.IntType(32), context.get_value_type(dtype.dtype)
        size = ir.IntType(64)
        kinds = [word] * 3 + [size] * 3 + [number, size, size, size, size, number, size, size]
        function = builder.inttoptr(routine, ir.FunctionType(ir.VoidType(), kinds).as_pointer())
        ways = [builder.add(builder.trunc(each, word), word(as_it_is)) for each in (turned_a, turned_b)]
        one, nothing = number(1.0), number(0.0)
        given = [word(by_rows), *ways, n, m, k, one, a, lead_a, b, lead_b, nothing, out, lead_out]
        builder.call(function, given)
        return context.get_dummy_value()

    return types.none(*[types.int64] * 12, dtype), generate
