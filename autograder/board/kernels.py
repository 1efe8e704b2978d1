"""Reads the text of a CUDA kernel and runs it, all threads of a block from statement to statement together.

A student's kernel is a text here, and stays one: no function of Python is made of it. So nothing in it can reach the
counts, NumPy, the grader or the answer that is looked for. What a text can say is what this file knows: numbers,
loops over `range`, `while`, `if`, functions of its own, arrays by index, and `cuda`, `numba` and `math` as far as
`spaces` lists them. Everything else is refused in a sentence.

A value is a number, the same for all threads, or an array with a number for each thread. A statement is run under a
mask: the threads that take part in it. Both branches of an `if` are run, each under its own mask, as a warp does it.
So what a warp touches together is seen in one place, `memory.Memory`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.board.memory import SHARED_BYTES, Counts, Lanes, Memory, Refused
from autograder.board.names import Barrier, Known, Maker, Space, Type, spaces
from autograder.board.program import Program
from autograder.board.values import COMPARISONS, binary, constant, merged, numeric, unknown

MAX_STEPS = 2_000_000
"""Expressions that a launch may take, over all blocks. An access to an array, or a turn of a loop, is worth `MORE`."""

MORE = 10

REGISTERS = 255
"""Numbers that a thread keeps in variables and local arrays, as on a GPU."""

MAX_DEPTH = 8
"""Functions that call each other."""

MAX_TUPLE = 8


@dataclass
class _Frame:
    """A call of a function."""

    names: dict[str, Any]
    result: Any = None


@dataclass
class _Loop:
    """The threads that have left a loop, and those that go on with its next turn."""

    broken: Lanes
    continued: Lanes


def launch(
    program: Program, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], counts: Counts
) -> None:
    """Run a kernel; its arrays count.

    Args:
        program: The text.
        name: The kernel's name.
        grid: The number of blocks in x, y and z.
        block: The number of threads of a block, likewise.
        args: Arrays (`Memory`) and numbers.
        counts: Where its shared arrays are counted.

    Raises:
        Refused: If the text says what is not known here, or does what no GPU promises.
    """
    try:
        with np.errstate(all="ignore"):
            _Run(program, grid, block, counts).run(name, args)
    except Refused:
        raise
    except (RecursionError, MemoryError):
        raise Refused("it nests too deeply") from None
    except Exception as error:  # nobody knows all the ways in which numbers of a text can end an operation
        raise Refused(f"it cannot be run here ({type(error).__name__}: {str(error)[:80]})") from error


class _Run:
    """One launch of a kernel."""

    def __init__(self, program: Program, grid: Sequence[int], block: Sequence[int], counts: Counts) -> None:
        self.program, self.grid, self.block, self.counts = program, tuple(grid), tuple(block), counts
        self.steps = self.interval = self.kept = 0
        self.frames: list[_Frame] = []
        self.loops: list[_Loop] = []
        self.arrays: dict[int, Memory] = {}
        self.spaces: Mapping[str, Any] = {}
        self.looking_up: set[str] = set()

    def run(self, name: str, args: Sequence[Any]) -> None:
        """Run all blocks, one after another."""
        kernel = self.program.functions.get(name)
        if kernel is None:
            raise Refused(f"there is no function {name}")
        width, height, depth = self.block
        lanes = np.arange(width * height * depth)
        at = {"x": lanes % width, "y": lanes // width % height, "z": lanes // (width * height)}
        columns, rows, layers = self.grid
        for number in range(columns * rows * layers):
            place = {"x": number % columns, "y": number // columns % rows, "z": number // (columns * rows)}
            self.threads = number * len(lanes) + lanes
            self.arrays, self.kept = {}, 0
            self.interval += 1
            self.spaces = spaces(at, {key: np.int64(each) for key, each in place.items()}, self.block, self.grid)
            self.call(kernel, list(args), np.ones(len(lanes), bool))

    def call(self, function: ast.FunctionDef, args: list[Any], active: Lanes) -> Any:
        """Call one of the text's functions."""
        said = function.args
        parameters = [*said.posonlyargs, *said.args]
        if said.vararg or said.kwarg or said.kwonlyargs or len(args) != len(parameters):
            raise Refused(f"{function.name} takes {len(parameters)} arguments, by place, and gets {len(args)}")
        if len(self.frames) >= MAX_DEPTH:
            raise Refused(f"more than {MAX_DEPTH} functions that call each other")
        loops, self.loops = self.loops, []
        self.frames.append(_Frame({each.arg: value for each, value in zip(parameters, args, strict=True)}))
        self.keep(0)
        self.body(function.body, active)
        self.loops = loops
        return self.frames.pop().result

    # Statements -------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt], active: Lanes) -> Lanes:
        """Run statements, and return the threads that come to their end."""
        for each in statements:
            if not active.any():
                break
            try:
                active = self.statement(each, active)
            except Refused as error:
                if str(error).startswith("line "):
                    raise
                raise Refused(f"line {each.lineno}: {error}") from error
        return active

    def statement(self, node: ast.stmt, active: Lanes) -> Lanes:
        """Run one statement, and return the threads that go on behind it."""
        self.step()
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                pass
            case ast.Expr(value):
                self.value(value, active)
            case ast.Assign(targets, value):
                found = self.value(value, active)
                for target in targets:
                    self.assign(target, found, active)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    self.assign(target, self.value(value, active), active)
            case ast.AugAssign(target, operator, value):
                self.change(target, operator, value, active)
            case ast.If(test, chosen, other):
                holds = self.truth(test, active)
                return self.body(chosen, active & holds) | self.body(other, active & ~holds)
            case ast.For(target, ast.Call(ast.Name("range"), bounds, []), inner, []):
                return self.count_up(target, [self.whole(each, active) for each in bounds], inner, active)
            case ast.While(test, inner, []):
                return self.repeat(lambda live: live & self.truth(test, live), lambda: None, inner, active)
            case ast.Break() | ast.Continue() if self.loops:
                gone = self.loops[-1].broken if isinstance(node, ast.Break) else self.loops[-1].continued
                gone |= active
                return np.zeros_like(active)
            case ast.Return(value):
                if value is not None:
                    frame = self.frames[-1]
                    frame.result = merged(frame.result, self.value(value, active), active)
                return np.zeros_like(active)
            case _:
                unknown(node)
        return active

    def count_up(self, target: ast.expr, bounds: list[Any], inner: Sequence[ast.stmt], active: Lanes) -> Lanes:
        """Run a loop over `range`."""
        if not 1 <= len(bounds) <= 3:
            raise Refused("range takes one to three numbers")
        start, stop, step = (np.int64(0), bounds[0], np.int64(1)) if len(bounds) == 1 else (*bounds, np.int64(1))[:3]
        if np.any(step == 0):
            raise Refused("range has a step of 0")
        now = [start]

        def begins(live: Lanes) -> Lanes:
            going: Lanes = live & np.where(step > 0, now[0] < stop, now[0] > stop)
            if going.any():
                self.assign(target, now[0], going)
            return going

        def ends() -> None:
            now[0] = now[0] + step

        return self.repeat(begins, ends, inner, active)

    def repeat(
        self, begins: Callable[[Lanes], Lanes], ends: Callable[[], None], inner: Sequence[ast.stmt], active: Lanes
    ) -> Lanes:
        """Run a loop until no thread begins another turn, and return the threads that go on behind it."""
        loop = _Loop(np.zeros_like(active), np.zeros_like(active))
        self.loops.append(loop)
        left, live = np.zeros_like(active), active
        while live.any():
            self.step(MORE)
            going = begins(live)
            left |= live & ~going
            loop.continued[:] = False
            live = self.body(inner, going) | loop.continued
            ends()
        self.loops.pop()
        return left | loop.broken

    def change(self, target: ast.expr, operator: ast.operator, value: ast.expr, active: Lanes) -> None:
        """Run ``target += value`` and its like; an element of an array is read and written at one place."""
        if isinstance(target, ast.Subscript):
            array, index = self.array(target, active)
            old = self.load(array, index, active)
            self.store(array, index, binary(operator, old, self.value(value, active)), active)
        else:
            self.assign(target, binary(operator, self.value(target, active), self.value(value, active)), active)

    def assign(self, target: ast.expr, value: Any, active: Lanes) -> None:
        """Give a value to a name, an element or a tuple of such."""
        match target:
            case ast.Name(name):
                names = self.frames[-1].names
                names[name] = merged(names.get(name), value, active)
                self.keep(0)
            case ast.Subscript():
                array, index = self.array(target, active)
                self.store(array, index, value, active)
            case ast.Tuple(parts) if isinstance(value, tuple) and len(parts) == len(value):
                for part, each in zip(parts, value, strict=True):
                    self.assign(part, each, active)
            case _:
                raise Refused("an assignment gives a number to a name or to an element of an array")

    # Expressions ------------------------------------------------------------

    def value(self, node: ast.expr, active: Lanes) -> Any:
        """Return the value of an expression."""
        self.step()
        match node:
            case ast.Constant(bool() | int() | float() as number):
                return constant(number)
            case ast.Name(name):
                return self.named(name, active)
            case ast.Attribute(owner, name):
                return self.attribute(self.value(owner, active), name)
            case ast.Subscript():
                return self.element(node, active)
            case ast.BinOp(left, operator, right):
                return binary(operator, self.value(left, active), self.value(right, active))
            case ast.UnaryOp(ast.Not(), operand):
                return ~self.truth(operand, active)
            case ast.UnaryOp(ast.USub(), operand):
                return -numeric(self.value(operand, active))
            case ast.UnaryOp(ast.UAdd(), operand):
                return numeric(self.value(operand, active))
            case ast.BoolOp(operator, parts):
                return self.joined(isinstance(operator, ast.And), parts, active)
            case ast.Compare(left, operators, others):
                return self.compared(left, operators, others, active)
            case ast.IfExp(test, chosen, other):
                return self.chosen(self.truth(test, active), chosen, other, active)
            case ast.Tuple(parts) if len(parts) <= MAX_TUPLE:
                found = tuple(self.value(each, active) for each in parts)
                if any(isinstance(each, tuple) for each in found):
                    raise Refused("a tuple in a tuple is not known on the board")
                return found
            case ast.Call(function, args, []):
                return self.called(node, self.value(function, active), args, active)
            case _:
                return unknown(node)

    def truth(self, node: ast.expr, active: Lanes) -> Lanes:
        """Return for each thread whether an expression is true."""
        return np.broadcast_to(np.asarray(numeric(self.value(node, active)) != 0), active.shape)

    def whole(self, node: ast.expr, active: Lanes) -> Any:
        """Return the value of an expression that is a whole number."""
        found = numeric(self.value(node, active))
        if found.dtype.kind != "i":
            raise Refused("range takes whole numbers")
        return found

    def joined(self, is_and: bool, parts: Sequence[ast.expr], active: Lanes) -> Lanes:
        """Return ``a and b`` or ``a or b``; a thread looks at a part only where it has to."""
        found = np.full(active.shape, is_and)
        for each in parts:
            asking = active & (found == is_and)
            if not asking.any():
                break
            found = np.where(asking, self.truth(each, asking), found)
        return found

    def compared(
        self, left: ast.expr, operators: Sequence[ast.cmpop], others: Sequence[ast.expr], active: Lanes
    ) -> Lanes:
        """Return a chain of comparisons."""
        found, before = np.ones(active.shape, bool), numeric(self.value(left, active))
        for operator, each in zip(operators, others, strict=True):
            if type(operator) not in COMPARISONS:
                unknown(operator)
            asking = active & found
            if not asking.any():
                break
            after = numeric(self.value(each, asking))
            found = found & COMPARISONS[type(operator)](before, after)
            before = after
        return found

    def chosen(self, holds: Lanes, one: ast.expr, other: ast.expr, active: Lanes) -> Any:
        """Return ``one if holds else other``; a thread looks at one of the two."""
        yes, no = active & holds, active & ~holds
        if not no.any():
            return self.value(one, yes)
        if not yes.any():
            return self.value(other, no)
        return merged(self.value(other, no), self.value(one, yes), yes)

    def named(self, name: str, active: Lanes) -> Any:
        """Return what a name stands for."""
        if self.frames and name in self.frames[-1].names:
            return self.frames[-1].names[name]
        if name in self.program.functions:
            return self.program.functions[name]
        if name in self.program.constants:
            return self.constant(name, active)
        if name in self.spaces:
            return self.spaces[name]
        raise Refused(f"`{name}` is not known on the board")

    def constant(self, name: str, active: Lanes) -> Any:
        """Return a number, or what is not run, that stands at the top level of a cell."""
        given = self.program.constants[name]
        if not isinstance(given, ast.expr):
            return given
        if name in self.looking_up:
            raise Refused(f"`{name}` is made of itself")
        self.looking_up.add(name)
        outer, self.frames = self.frames, []
        found = self.value(given, active)
        self.frames = outer
        self.looking_up.discard(name)
        if not isinstance(found, np.generic | Space | Known | Maker | Barrier):
            raise Refused(f"`{name}` is not a number that is the same for all threads")
        return found

    def attribute(self, owner: Any, name: str) -> Any:
        """Return a part of a module, or the sizes of an array."""
        if isinstance(owner, Space) and name in owner.names:
            return owner.names[name]
        if isinstance(owner, Memory) and name in ("shape", "size", "ndim"):
            sizes = tuple(map(np.int64, owner.shape))
            return {"shape": sizes, "size": np.int64(owner.size), "ndim": np.int64(len(sizes))}[name]
        raise Refused(f"`.{name}` is not known on the board")

    def element(self, node: ast.Subscript, active: Lanes) -> Any:
        """Return an element of an array, or of a tuple."""
        owner = self.value(node.value, active)
        if isinstance(owner, tuple):
            place = self.value(node.slice, active)
            if not isinstance(place, np.int64) or not -len(owner) <= place < len(owner):
                raise Refused("an element of a tuple is named by a number that the tuple has")
            return owner[int(place)]
        return self.load(*self.array(node, active), active)

    def array(self, node: ast.Subscript, active: Lanes) -> tuple[Memory, tuple[Any, ...]]:
        """Return an array and the index of one of its elements."""
        owner, key = self.value(node.value, active), self.value(node.slice, active)
        if not isinstance(owner, Memory):
            raise Refused("only arrays have elements")
        return owner, tuple(map(numeric, key)) if isinstance(key, tuple) else (numeric(key),)

    def load(self, array: Memory, index: tuple[Any, ...], active: Lanes) -> Lanes:
        """Read an element in each active thread."""
        self.step(MORE)
        return array.load(index, self.threads, active, self.interval)

    def store(self, array: Memory, index: tuple[Any, ...], value: Any, active: Lanes) -> None:
        """Write an element in each active thread."""
        self.step(MORE)
        array.store(index, numeric(value), self.threads, active, self.interval)

    def called(self, node: ast.Call, function: Any, args: Sequence[ast.expr], active: Lanes) -> Any:
        """Return what a call gives."""
        values = [self.value(each, active) for each in args]
        if isinstance(function, ast.FunctionDef):
            return self.call(function, values, active)
        if isinstance(function, Maker):
            return self.made(node, function.scope, values, active)
        if isinstance(function, Barrier) and not values:
            if not active.all():
                raise Refused("not all threads of the block come to syncthreads")
            self.interval += 1
            return np.int64(0)
        if isinstance(function, Known):
            return function.call(*values)
        raise Refused("only functions that stand in the cell, and those of cuda, numba and math, are called")

    def made(self, node: ast.Call, scope: str, values: list[Any], active: Lanes) -> Memory:
        """Return the array of a call to ``cuda.shared.array`` or ``cuda.local.array``.

        A call in the text is one shared array, however often it is run.
        """
        if len(values) != 2 or not isinstance(values[1], Type):
            raise Refused(f"cuda.{scope}.array takes a shape, and numba's float32, float64, int32 or int64")
        shape = values[0] if isinstance(values[0], tuple) else (values[0],)
        if not shape or not all(isinstance(each, np.int64) and 1 <= each <= SHARED_BYTES for each in shape):
            raise Refused("the shape of an array is made of whole numbers that are the same for all threads")
        sizes, dtype = tuple(map(int, shape)), np.dtype(values[1].dtype)
        count = int(np.prod(sizes, dtype=np.float64))
        known = self.arrays.get(id(node))
        if known is not None and (known.shape, known.data.dtype) != (sizes, dtype):
            raise Refused("a call that makes an array makes one shape of one type")
        if known is not None and scope == "shared":
            return known
        if known is None:
            others = (each for each in self.arrays.values() if each.scope == scope)
            if scope == "shared" and count * dtype.itemsize + sum(e.data.nbytes for e in others) > SHARED_BYTES:
                raise Refused(f"a block has {SHARED_BYTES // 1024} KiB of shared memory")
            self.keep(count if scope == "local" else 0)
        self.step(count)  # they are filled
        unwritten = np.nan if dtype.kind == "f" else np.iinfo(dtype).max
        axes = sizes if scope == "shared" else (len(active), *sizes)
        found = self.arrays[id(node)] = Memory(np.full(axes, unwritten, dtype), scope, self.counts)
        return found

    def keep(self, numbers: int) -> None:
        """Bound what a thread keeps to itself."""
        self.kept += numbers
        values = (each for frame in self.frames for each in frame.names.values())
        if self.kept + sum(len(each) if isinstance(each, tuple) else 1 for each in values) > REGISTERS:
            raise Refused(f"a thread keeps more than {REGISTERS} numbers in variables and local arrays")

    def step(self, count: int = 1) -> None:
        """Count a step."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise Refused(f"it takes more than {MAX_STEPS:,} steps")
