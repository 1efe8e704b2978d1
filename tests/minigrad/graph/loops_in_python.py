"""Generated loops run by Python: no compiler, no threads, so that thousands of programs can be tried."""

import ctypes
import math
import struct

import numpy as np

from minigrad import operators
from minigrad.backends import guarded
from minigrad.backends.guarded import HEADER
from minigrad.backends.numba import pool

KINDS = {np.int64: ctypes.c_int64, np.float32: ctypes.c_float, np.float64: ctypes.c_double, np.uint8: ctypes.c_uint8}


class Pointer:
    """Memory from an address on."""

    def __init__(self, address, dtype):
        self.address, self.dtype, self.kind = address, dtype, KINDS[dtype]
        self.size = ctypes.sizeof(self.kind)

    def __getitem__(self, i):
        value = self.kind.from_address(self.address + i * self.size).value
        return value if self.dtype in (np.int64, np.uint8) else self.dtype(value)

    def __setitem__(self, i, value):
        self.kind.from_address(self.address + i * self.size).value = value


def _array_at(parameters, handle, offset, dtype):
    start = parameters[handle] if HEADER is None else Pointer(parameters[handle] + HEADER, np.int64)[0]
    return Pointer(start + parameters[offset] * ctypes.sizeof(KINDS[dtype]), dtype)


def _store_line(target, i, source, k):
    for n in range(64 // target.size):
        target[i + n] = source[k + n]


def _scope(formula):
    number = formula.dtype.type
    names = {"number": number, "zero": number(0), "one": number(1), "half": number(0.5)}
    names |= {"root_half": number(math.sqrt(0.5)), "exp": np.exp, "log": np.log, "log1p": np.log1p, "tanh": np.tanh}
    names |= {"sigmoid": lambda x: number(operators.sigmoid(float(x))), "maximum": np.maximum, "minimum": np.minimum}
    names |= {"select": lambda c, x, y: x if c else y, "add_any_order": np.add, "mul_any_order": np.multiply}
    names |= {f"math_{n}": lambda *a, n=n: number(getattr(operators, n)(*map(float, a))) for n in ("sin", "cos", "pow")}
    names |= {"erf": lambda x: number(math.erf(x)), "erfc": lambda x: number(math.erfc(x))}
    names |= {"math_sqrt": np.sqrt, "pointer": Pointer, "load": lambda p, i: p[i], "uint8": np.uint8}
    names |= {"store_line": _store_line, "array_at": _array_at, "opaque": lambda x: x}
    names |= {"store": lambda p, i, x: p.__setitem__(i, x), "store_fence": lambda: None}
    names |= {"local_buffer": lambda dtype, size: np.empty(size, dtype), "int64": np.int64}
    names |= {name: lambda *a, f=f: f(*map(float, a)) for name, f in formula.functions.items()}
    return names | {"float32": np.float32, "float64": np.float64} | formula.constants


def run(program, *arrays):
    """Run a `Program` without compiling it."""
    loops, known = program._writer.calls.loops, {"select": lambda c, x, y: x if c else y}
    for n, (text, formula) in enumerate(zip(loops.functions, loops.formulas.values(), strict=True)):
        exec(text, scope := _scope(formula))
        known[f"loop_{n}"] = scope[f"loop_{n}"]
    exec(loops.entry, known)

    def kernel(numbers, spans=((0, 0),)):
        parameters = struct.unpack(f"{len(numbers) // 8}q", numbers)
        for ordinal, span in enumerate(spans):
            known["kernel"]([[*span, ordinal]], None, None, parameters)

    def shared(_, numbers, total, multiple, worth):
        middle = total // 2 // multiple * multiple
        kernel(numbers, [(a, b) for a, b in ((0, middle), (middle, total)) if a < b])

    scope = program._writer.scope | program._writer.calls.names | {"of_threads": None, "shared": shared}
    scope["kernel"] = lambda item, _, __, numbers: kernel(numbers)
    scope["scratch"] = lambda size, worth, dtype: pool.empty((2 * size,), dtype)
    exec(program.text, scope)
    return guarded.call(scope["run"], *arrays)
