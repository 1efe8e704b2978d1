"""Numbers of a kernel that is being written: what Python does with a `Value` becomes an instruction of LLVM.

    x * y + one     ->     %3 = fmul float %1, %2
                           %4 = fadd float %3, 0x3FF0000000000000

A kernel gets raw addresses, since one driver calls all kernels (see `threads`). A value's kind is LLVM's name of its
type; a pointer's is that of the elements with a star. Numbers of two kinds never meet by themselves: NumPy's rules
would make a loop of float32 one of float64 without a word.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from minigrad.backends.guarded import HEADER

KINDS = {"float32": "float", "float64": "double", "int32": "i32", "int64": "i64", "uint8": "i8", "bool": "i1"}
SIZES = {"float": 4, "double": 8, "i32": 4, "i64": 8, "i8": 1}

LINE = 64
"""Bytes in a cache line, and in the widest vector register."""

METADATA = """
!0 = !{!"minigrad"}
!1 = !{!"minigrad inputs", !0}
!2 = !{!"minigrad outputs", !0}
!3 = !{!1}
!4 = !{!2}
!5 = !{i32 1}
"""
"""What LLVM is told of addresses: a value written by `store` is not read by `load` at another index.

A kernel's output is either a fresh buffer or exactly one of its inputs, element for element. LLVM cannot know, and
would compare all addresses before each loop, or give up on vectors where there are many inputs.
"""


class Page:
    """The function that is being written.

    Attributes:
        lines: Its instructions.
        first: Those before all others: memory on the stack.
        declared: The functions that its module takes from elsewhere.
        linked: Texts of modules with some of these, by the functions' names.
        flags: The freedom that arithmetic on floats has.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first: list[str] = []
        self.declared: dict[str, None] = {}
        self.linked: dict[str, str] = {}
        self.flags = ""
        self.count = 0

    def name(self, prefix: str = "%") -> str:
        """Return a name that nothing has yet."""
        self.count += 1
        return f"{prefix}{'x' if prefix == '%' else ''}{self.count}"

    def put(self, kind: str, text: str) -> Any:
        """Write an instruction, and return its result."""
        result = Value(kind, self.name())
        self.lines.append(f"{result.name} = {text}")
        return result

    def call(self, kind: str, name: str, *given: Any, flags: str = "") -> Any:
        """Call a function from elsewhere."""
        args = [constant(each) for each in given]
        self.declared[f"declare {kind} @{name}({', '.join(llvm_kind(a.kind) for a in args)})"] = None
        return self.put(kind, f"call {flags}{kind} @{name}({listed(args)})")

    def branch(self, condition: Value, then: str, other: str) -> None:
        """Go on at the first label if the condition holds, else at the second, which the caller writes."""
        self.lines += [f"br i1 {constant(condition).name}, label %{then}, label %{other}", f"{then}:"]

    def stack(self, text: str) -> str:
        """Return the name of memory on the stack."""
        name = self.name()
        self.first.append(f"{name} = alloca {text}")
        return name


page = Page()
"""Kernels are written one at a time."""


def llvm_kind(kind: str) -> str:
    """Return how LLVM calls a kind: it knows one kind of pointer."""
    return "ptr" if kind.endswith("*") else kind


def listed(args: Any) -> str:
    """Return the text of arguments."""
    return ", ".join(f"{llvm_kind(a.kind)} {a.name}" for a in args)


class Value:
    """A number or a pointer of the kernel. Its operators are those of `_OPERATORS`."""

    __slots__ = ("kind", "name")
    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to this class

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name

    def __neg__(self) -> Any:
        how = f"fneg {page.flags}{self.kind}" if is_float(self) else f"sub {self.kind} 0,"
        return page.put(self.kind, f"{how} {self.name}")

    def __abs__(self) -> Any:
        return _intrinsic("fabs", self) if is_float(self) else maximum(self, -self)

    def __pow__(self, exponent: Any) -> Any:
        """Of whole numbers, which wrap round as NumPy's do; the exponent is not negative."""
        base: Any = self
        result: Any = constant(1, self.kind)
        for bit in range(8 * SIZES[self.kind] - 1):
            result = select((exponent >> bit) & 1 == 1, result * base, result)
            base *= base
        return result

    def __bool__(self) -> bool:
        raise TypeError("what a kernel computes is not known while it is written: use select, & and |")

    def __getitem__(self, index: Any) -> Any:
        return _read(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _write(self, index, value)


def is_float(x: Value) -> bool:
    """Return whether a number, or each number of a vector, has a fraction."""
    return x.kind.rstrip(">").endswith(("float", "double"))


def _operation(floats: str, integers: str, *, turned: bool = False) -> Callable[..., Any]:
    """Return what writes an operation on two numbers of one kind; an empty word is for numbers that have none."""

    def write(x: Any, y: Any) -> Any:
        x, y = same(y, x) if turned else same(x, y)
        if not (how := floats if is_float(x) else integers):
            raise TypeError(f"a kernel has no such operation for {x.kind}")
        compares = "cmp" in how
        flags = page.flags if is_float(x) and not compares else ""
        return page.put("i1" if compares else x.kind, f"{how} {flags}{x.kind} {x.name}, {y.name}")

    return write


_OPERATORS = {
    **{"add": ("fadd", "add"), "sub": ("fsub", "sub"), "mul": ("fmul", "mul"), "truediv": ("fdiv", "")},
    **{"floordiv": ("", "sdiv"), "mod": ("", "srem")},  # of places and sizes, which are not negative
    **{"and": ("", "and"), "or": ("", "or"), "lshift": ("", "shl"), "rshift": ("", "ashr")},
    **{"lt": ("fcmp olt", "icmp slt"), "le": ("fcmp ole", "icmp sle"), "eq": ("fcmp oeq", "icmp eq")},
    **{"gt": ("fcmp ogt", "icmp sgt"), "ge": ("fcmp oge", "icmp sge"), "ne": ("fcmp une", "icmp ne")},
}
for _name, _words in _OPERATORS.items():
    setattr(Value, f"__{_name}__", _operation(*_words))
    setattr(Value, f"__r{_name}__", _operation(*_words, turned=True))


def constant(x: Any, kind: str = "") -> Value:
    """Return a number as a value: of the kind of its type, or for a plain integer of a given one."""
    if isinstance(x, Value):
        return x
    if type(x) is int and kind.startswith("i"):
        return Value(kind, str(x))
    kind = KINDS[np.dtype(type(x)).name]
    if kind in ("float", "double"):  # LLVM writes both by the bits of a double
        return Value(kind, f"0x{struct.pack('>d', float(x)).hex()}")
    return Value(kind, str(int(x)))


def same(x: Any, y: Any) -> tuple[Value, Value]:
    """Return two numbers as values of one kind."""
    first, second = constant(x, getattr(y, "kind", "")), constant(y, getattr(x, "kind", ""))
    if first.kind != second.kind:
        raise TypeError(f"a kernel computes with {first.kind} and {second.kind}")
    return first, second


class Cast:
    """A type of numbers, for constants and for values."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.kind = KINDS[self.dtype.name]

    def __call__(self, x: Any) -> Any:
        """Return a number in this type."""
        return converted(x, self.kind) if isinstance(x, Value) else self.dtype.type(x)


def converted(value: Value, kind: str) -> Any:
    """Return a number in another kind."""
    order, signed = ("i1", "i8", "i32", "i64", "float", "double"), value.kind not in ("i1", "i8")
    if value.kind == kind:
        return value
    if is_float(value) == (kind in ("float", "double")):
        names = ("fptrunc", "fpext") if is_float(value) else ("trunc", "sext" if signed else "zext")
        how = names[order.index(kind) > order.index(value.kind)]
    else:
        how = "fptosi" if is_float(value) else "sitofp" if signed else "uitofp"
    return page.put(kind, f"{how} {value.kind} {value.name} to {kind}")


def contracted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a * b + c be rounded once in a function that kernels call.

    No other freedom is given: reassociation would simplify (t + magic) - magic to t.
    """

    @wraps(function)
    def call(*args: Any) -> Any:
        before, page.flags = page.flags, "contract "
        try:
            return function(*map(constant, args))
        finally:
            page.flags = before

    return call


# --- memory ---------------------------------------------------------------------------------------------------


def element(source: Value, index: Any) -> Any:
    """Return the text of the address of an element."""
    place, kind = constant(index), llvm_kind(source.kind[:-1])
    return page.put("ptr", f"getelementptr {kind}, ptr {source.name}, i64 {place.name}").name


def _read(source: Value, index: Any, notes: str = "") -> Any:
    kind = source.kind[:-1]
    return page.put(kind, f"load {llvm_kind(kind)}, ptr {element(source, index)}{notes}")


def _write(target: Value, index: Any, value: Any, notes: str = "") -> None:
    value = converted(constant(value), target.kind[:-1])
    page.lines.append(f"store {value.kind} {value.name}, ptr {element(target, index)}{notes}")


def load(source: Value, index: Any) -> Any:
    """Return an element that no `store` of this kernel changes at another index."""
    return _read(source, index, ", !alias.scope !3, !noalias !4")


def store(target: Value, index: Any, value: Any) -> None:
    """Write an element that no `load` of this kernel reads at another index."""
    _write(target, index, value, ", !alias.scope !4, !noalias !3")


def pointer(address: Value, dtype: Cast) -> Value:
    """Return an address, given as an integer, as a pointer to elements of a dtype."""
    return Value(f"{dtype.kind}*", page.put("ptr", f"inttoptr i64 {address.name} to ptr").name)


def operand(item: Value, place: int, dtype: Cast) -> Value:
    """Return the pointer at a place of a list of pointers, as one to elements of a dtype."""
    return Value(f"{dtype.kind}*", item[place].name)


def array_at(parameters: Value, handle: Value, offset: Value, dtype: Cast) -> Value:
    """Return a pointer to elements of a dtype: where an array begins, and an offset in elements behind it.

    Args:
        parameters: The words that a kernel is given.
        handle: The place of the array's handle among them.
        offset: The place of the offset.
        dtype: The type of the elements.
    """
    start, shift = parameters[handle], parameters[offset]
    if HEADER is not None:
        start = pointer(start + HEADER, Cast(np.int64))[0]
    return pointer(start + shift * SIZES[dtype.kind], dtype)


def local_buffer(dtype: Cast, size: int) -> Value:
    """Return a pointer to a buffer on the stack, aligned to cache lines."""
    return Value(f"{dtype.kind}*", page.stack(f"[{size} x {dtype.kind}], align {LINE}"))


def store_line(target: Value, index: Value, source: Value, offset: Value) -> None:
    """Copy one cache line past the caches, from a buffer to an address aligned to lines.

    An ordinary store first reads the line that it overwrites. Where an output is larger than the caches that
    reading is a quarter to a third of all traffic.
    """
    size = SIZES[target.kind[:-1]]
    line = f"<{LINE // size} x {target.kind[:-1]}>"
    value = page.put(line, f"load {line}, ptr {element(source, offset)}, align {size}")
    page.lines.append(f"store {line} {value.name}, ptr {element(target, index)}, align {LINE}, !nontemporal !5")


def store_fence() -> None:
    """Make lines that were written past the caches visible to the other threads."""
    page.lines.append("fence seq_cst")


# --- arithmetic with exact rules ------------------------------------------------------------------------------


def float_to_bits(value: Value) -> Any:
    """Return a float's bits as an integer of the same width."""
    kind = "i64" if value.kind == "double" else "i32"
    return page.put(kind, f"bitcast {value.kind} {value.name} to {kind}")


def bits_to_float(value: Value) -> Any:
    """Return the float that has these bits."""
    kind = "double" if value.kind == "i64" else "float"
    return page.put(kind, f"bitcast {value.kind} {value.name} to {kind}")


def _intrinsic(name: str, *args: Any) -> Any:
    x = same(args[0], args[-1])
    return page.call(x[0].kind, f"llvm.{name}.f{8 * SIZES[x[0].kind]}", *x[: len(args)], flags=page.flags)


math_sqrt, math_sin, math_cos, math_pow = (partial(_intrinsic, name) for name in ("sqrt", "sin", "cos", "pow"))


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two numbers of one type, or nan if either is nan. LLVM knows it as a reduction."""
    x, y = same(x, y)
    return _intrinsic("maximum", x, y) if is_float(x) else select(x > y, x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two numbers of one type, or nan if either is nan. LLVM knows it as a reduction."""
    x, y = same(x, y)
    return _intrinsic("minimum", x, y) if is_float(x) else select(x < y, x, y)


def opaque(x: Any) -> Any:
    """Return a float, of which LLVM does not know any more that it is a constant."""
    return _intrinsic("arithmetic.fence", x)


add_any_order, mul_any_order = _operation("fadd reassoc contract", "add"), _operation("fmul reassoc contract", "mul")
"""One addition or multiplication that LLVM may put in another order, so that it keeps many partial results.

The permission belongs to this one instruction: in the whole kernel it would let LLVM simplify away the rounding that
`vector` depends on.
"""


def select(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds, else y, without a branch. Both are computed."""
    condition, (x, y) = constant(condition), same(x, y)
    return page.put(x.kind, f"select i1 {condition.name}, {x.kind} {x.name}, {y.kind} {y.name}")


multiply_add = contracted(lambda total, x, y: total + x * y)
"""Return total + x * y, rounded once where the processor can."""

multiply_add_any_order = contracted(lambda total, x, y: add_any_order(total, x * y))
"""Return total + x * y, as one step of a sum whose order does not matter."""


def gemm(routine: Value, turned_a: Any, turned_b: Any, *rest: Any) -> None:
    """Call BLAS's product of two matrices, ``out = a @ b``, in row-major order.

    Args:
        routine: The address of ``cblas_sgemm`` or ``cblas_dgemm``, with 64-bit integers.
        turned_a: 1 if a is given by columns, else 0.
        turned_b: 1 if b is.
        *rest: Rows of a, columns of b, columns of a; the address of a, and how many elements are from one row, or
            column, to the next; the same of b, and of the result; the type of the elements.
    """
    by_rows, as_it_is = 101, 111  # the enumerations of cblas.h; what is turned is one more
    n, m, k, a, lead_a, b, lead_b, out, lead_out, number = rest
    ways = [converted(turned + as_it_is, "i32") for turned in (turned_a, turned_b)]
    one, nothing = constant(number(1)), constant(number(0))
    given = listed([Value("i32", str(by_rows)), *ways, n, m, k, one, a, lead_a, b, lead_b, nothing, out, lead_out])
    page.lines.append(f"call void {page.put('ptr', f'inttoptr i64 {routine.name} to ptr').name}({given})")
