"""A program becomes loops, to be read: fusing, giving values their places in memory, writing source.

`fuse` makes groups of equations, each of which is one loop. `plan_memory` lays what the loops leave behind into one
block of memory. `emit` writes a loop as Python that Numba can compile, and `compile_program` does all of it.
`minigrad.graph` and `minigrad.backends.numba` do the same for every operation.

Source: Alfred Aho, Monica Lam, Ravi Sethi and Jeffrey Ullman, Compilers: principles, techniques, and tools, 2nd
edition, 2006, chapters 8 and 9; Yury Pisarchyk and Juhyun Lee, Efficient memory management for deep neural net
inference, 2020 (greedy by size)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from minigrad.program import simplify, trace
from minigrad.symbols import OPS, Equation, Program, Var, call, type_of_numbers

__all__ = [
    "Group",
    "Lifetime",
    "base_of",
    "by_python",
    "compile_program",
    "compiled",
    "emit",
    "fuse",
    "is_safe",
    "left_behind",
    "lifetimes",
    "peak",
    "plan_memory",
]


@dataclass(frozen=True, eq=False)
class Group:
    """Equations that are one step of a program: a loop, or a single equation that is none.

    Attributes:
        equations: In an order in which they can run.
    """

    equations: Sequence[Equation]

    def reads(self) -> list[Var]:
        """Return the variables that it needs from outside, each once, in the order of their first use."""
        own = {each.output for each in self.equations}
        return [x for x in dict.fromkeys(x for each in self.equations for x in each.reads()) if x not in own]


def left_behind(program: Program, groups: Sequence[Group], group: Group) -> list[Var]:
    """Return what a group has to write to memory: what other groups read of it, and outputs of the program.

    Args:
        program: The program.
        groups: All of its groups.
        group: One of them.

    >>> program = minigrad.program.trace(lambda x: (x * 2.0 + 1.0) @ x, np.zeros((2, 2)))
    >>> groups = minigrad.loops.fuse(program)
    >>> [len(minigrad.loops.left_behind(program, groups, each)) for each in groups]
    [1, 1]
    """
    wanted = {x for x in program.outputs if isinstance(x, Var)}
    wanted.update(x for each in groups if each is not group for x in each.reads())
    return [each.output for each in group.equations if each.output in wanted]


def fuse(program: Program) -> list[Group]:
    """Arrange the equations of a program in groups, each of which can be one loop.

    - Each equation stands in one group. One that is not elementwise has a group of its
      own: what a sum gives is known only when its loop has ended.
    - All results in a group have one shape. So nothing is computed more often than
      before: the exponential of a row would be computed again for each row of a table.
    - No group needs its own result through another group; and groups stand in an order
      in which they can run.

    Take the equations in order. An elementwise one joins the first group of its shape
    that it may join; if there is none, it begins a new group. There may be other ways,
    but no result has more groups than this one.

    >>> f = lambda x: minigrad.symbols.tanh(x * 2.0) / x.sum()
    >>> groups = minigrad.loops.fuse(minigrad.program.trace(f, np.ones(3)))
    >>> [[each.op for each in group.equations] for group in groups]
    [['sum'], ['mul', 'tanh', 'div']]
    """
    ### BEGIN SOLUTION
    members: list[list[Equation]] = []
    home: dict[Var, int] = {}

    def sources(equations: Sequence[Equation]) -> set[int]:
        return {home[x] for each in equations for x in each.reads() if x in home}

    def needs(groups: set[int]) -> set[int]:  # the groups, and all that they need
        found = groups.union(*(sources(members[group]) for group in groups))
        return found if found == groups else needs(found)

    for each in program.equations:
        chosen = len(members)
        if each.kind == "elementwise":
            for group, (first, *_) in enumerate(members):
                fits = first.kind == "elementwise" and first.output.shape == each.output.shape
                if fits and group not in needs(sources([each]) - {group}):
                    chosen = group
                    break
        if chosen == len(members):
            members.append([])
        members[chosen].append(each)
        home[each.output] = chosen

    order: list[int] = []
    while len(order) < len(members):
        left = set(range(len(members))).difference(order)
        order.append(min(group for group in left if not (sources(members[group]) - {group}) & left))
    return [Group(members[group]) for group in order]
    ### END SOLUTION


@dataclass(frozen=True)
class Lifetime:
    """From when to when a value is in memory.

    Attributes:
        size: How many bytes it takes.
        first: The number of the step that writes it.
        last: The number of the last step that reads it. Both steps belong to the lifetime.
    """

    size: int
    first: int
    last: int

    def meets(self, other: Lifetime) -> bool:
        """Tell whether there is a step at which both are in memory.

        >>> minigrad.loops.Lifetime(64, 0, 2).meets(minigrad.loops.Lifetime(64, 2, 3))
        True
        """
        return self.first <= other.last and other.first <= self.last


def base_of(program: Program) -> dict[Var, Var]:
    """Return, for each result of a view, the variable whose memory it shows, which is no view itself.

    >>> program = minigrad.program.trace(lambda x: (x * 2.0).T.reshape(6), np.zeros((2, 3)))
    >>> product, turned, flat = (each.output for each in program.equations)
    >>> minigrad.loops.base_of(program) == {turned: product, flat: product}
    True
    """
    found: dict[Var, Var] = {}
    for each in program.equations:
        if each.kind == "view":
            (x,) = each.reads()
            found[each.output] = found.get(x, x)
    return found


def lifetimes(program: Program, groups: Sequence[Group]) -> dict[Var, Lifetime]:
    """Say for each value that can lie in shared memory from when to when it is there.

    Step i is group i. These values have a lifetime: what a group leaves behind
    (`left_behind`). These have none:

    - results of views: they lie in the memory of their base (`base_of`), and who reads
      one reads the base;
    - outputs of the program, and a base of which an output is a view: they get memory
      of their own, which stays;
    - inputs and constants, which are there before.

    Args:
        program: The program.
        groups: Its groups, in order.

    Returns:
        The lifetimes by variable. A size is that of the array, rounded up to a multiple
        of 64 bytes: what is laid behind it begins at a multiple of 64, as processors
        like it.
    """
    ### BEGIN SOLUTION
    base = base_of(program)
    staying = [base.get(x, x) for x in program.outputs]
    found = {}
    for first, group in enumerate(groups):
        for x in left_behind(program, groups, group):
            if x not in base and x not in staying:
                readers = [i for i, each in enumerate(groups) if x in [base.get(y, y) for y in each.reads()]]
                found[x] = Lifetime(-(-x.nbytes // 64) * 64, first, max(readers))
    return found
    ### END SOLUTION


def plan_memory(values: dict[Var, Lifetime]) -> dict[Var, int]:
    """Choose for each value where it lies in one block of memory.

    Two values may lie in the same place if their lifetimes do not meet. The largest one
    is placed first, and of equal ones the one that begins first; each as low as it
    fits.

    Args:
        values: The lifetimes by variable (or by anything else).

    Returns:
        For each of them the number of its first byte. Values whose lifetimes meet do
        not overlap.

    >>> Lifetime = minigrad.loops.Lifetime
    >>> a, b, c = Lifetime(64, 0, 1), Lifetime(128, 1, 2), Lifetime(64, 2, 3)
    >>> minigrad.loops.plan_memory({"a": a, "b": b, "c": c})
    {'b': 0, 'a': 128, 'c': 128}
    """
    ### BEGIN SOLUTION
    placed: dict[Var, int] = {}
    for x in sorted(values, key=lambda x: (-values[x].size, values[x].first)):
        taken = [(placed[y], placed[y] + values[y].size) for y in placed if values[y].meets(values[x])]
        places = [0, *(end for _, end in taken)]
        fitting = [p for p in places if all(p + values[x].size <= start or end <= p for start, end in taken)]
        placed[x] = min(fitting)
    return placed
    ### END SOLUTION


def peak(values: dict[Var, Lifetime], places: dict[Var, int]) -> int:
    """Return how large the block of memory must be.

    >>> minigrad.loops.peak({"a": minigrad.loops.Lifetime(64, 0, 1)}, {"a": 128})
    192
    """
    return max((places[x] + values[x].size for x in values), default=0)


def is_safe(
    lifetimes: Callable[[Program, Sequence[Group]], dict[Var, Lifetime]],
    plan_memory: Callable[[dict[Var, Lifetime]], dict[Var, int]],
) -> bool:
    """Decide by trying whether a plan of memory ever loses a value.

    ``plan_memory(lifetimes(program, groups))`` is the plan: for each value with a
    place, the number of its first byte. It is all that counts. Lifetimes that the
    function under test made are no proof of anything: it plans by its own mistakes.

    Args:
        lifetimes: The first half, with the arguments of `lifetimes` here.
        plan_memory: The other half, with those of `plan_memory` here.

    Returns:
        True if in every program, however its equations are grouped,

        - no two values that are in memory at one step share a byte. A value takes
          `Var.nbytes` from its place on. It is in memory from the step that writes it
          to the last one that reads it or a view of it; both steps belong to that;
        - no output has a place, and no base of which an output is a view;
        - each place is a multiple of 64.

        A value without a place has memory of its own. That is safe, and so is a plan
        that takes more memory than it has to.
    """
    ### BEGIN SOLUTION
    chance = np.random.default_rng(0)
    ways = (lambda a, b: a * b, lambda a, _: a.T, lambda a, _: a.T @ a, lambda a, _: a.sum(axis=0, keepdims=True))

    def drawn(x: Any) -> Any:
        known = [x * 2.0]
        for choice in chance.integers(0, 4, 20):
            a, b = (known[i] for i in chance.integers(0, len(known), 2))
            known.append(ways[choice](a, b))
        return tuple(known[-2:])

    for _ in range(32):
        program = trace(drawn, np.zeros((9, 9)))
        groups = fuse(program)
        places = plan_memory(lifetimes(program, groups))
        base = base_of(program)
        first = {each.output: step for step, group in enumerate(groups) for each in group.equations}
        last = first | {base.get(x, x): step for step, group in enumerate(groups) for x in group.reads()}
        there = {x: Lifetime(x.nbytes, first[x], last[x]) for x in places}
        for x, y in itertools.combinations(places, 2):
            apart = places[x] + x.nbytes <= places[y] or places[y] + y.nbytes <= places[x]
            if there[x].meets(there[y]) and not apart:
                return False
        if any(base.get(x, x) in places for x in program.outputs) or any(place % 64 for place in places.values()):
            return False
    return True
    ### END SOLUTION


def emit(group: Group, outputs: Sequence[Var]) -> str:
    """Write a group of elementwise equations as source: one loop for each axis.

    Args:
        group: The group.
        outputs: Which of its results are written to memory; all others live for one
            element only.

    Returns:
        Python source that defines a function ``loop``. Its arguments are the arrays
        that the group reads, in the order of `Group.reads`, and then an array for each
        output, into which it writes. It returns nothing.

        The source knows ``np`` and the functions of Python, and computes one element at
        a time, by `Op.element`. It takes an element with one index for each axis, so
        that views can be read: ``x[i0, 0]``, for an array without axes ``x[()]``. An
        axis of size 1 that is broadcast has the index 0, and a missing axis in front
        none.

        A number of Python is written in the type that `type_of_numbers` says, as
        ``np.float32(0.1)``: Numba would compute with 64 bits otherwise.
        ``np.float32(inf)`` and ``np.float32(nan)`` have to be ``np.inf`` and ``np.nan``
        inside. Every name is used for one thing. (The names of a printed program would
        not do: the 45th is ``as``.)
    """
    ### BEGIN SOLUTION
    reads = group.reads()
    shape = group.equations[0].output.shape
    names = {x: f"x{i}" for i, x in enumerate(reads)}
    targets = {x: f"out{i}" for i, x in enumerate(outputs)}

    def index(x: Var) -> str:
        skipped = len(shape) - len(x.shape)
        axes = ["0" if size == 1 else f"i{axis + skipped}" for axis, size in enumerate(x.shape)]
        return ", ".join(axes) or "()"

    lines = [f"e{i} = {names[x]}[{index(x)}]" for i, x in enumerate(reads)]
    element = {x: f"e{i}" for i, x in enumerate(reads)}
    for each in group.equations:
        parts = []
        for x in each.operands:
            if isinstance(x, Var):
                parts.append(element[x])
            else:
                text = repr(x).replace("inf", "np.inf").replace("nan", "np.nan")
                parts.append(f"np.{type_of_numbers(each)}({text})")
        element[each.output] = f"e{len(lines)}"
        lines.append(f"e{len(lines)} = {OPS[each.op].element.format(*parts)}")
    for x, name in targets.items():
        lines.append(f"{name}[{index(x)}] = {element[x]}")
    source = f"def loop({', '.join([*names.values(), *targets.values()])}):\n"
    for axis, size in enumerate(shape):
        source += f"{'    ' * (axis + 1)}for i{axis} in range({size}):\n"
    indent = "    " * (len(shape) + 1)
    return source + "".join(f"{indent}{line}\n" for line in lines)
    ### END SOLUTION


def by_python(source: str) -> Callable[..., None]:
    """Return the function that a source defines, run by Python: slow, and always there.

    >>> minigrad.loops.by_python("def loop(x): x[()] = np.exp(x[()])").__name__
    'loop'
    """
    scope: dict[str, Any] = {"np": np}
    exec(source, scope)
    loop: Callable[..., None] = scope["loop"]
    return loop


@cache
def _functions() -> dict[str, Callable[..., Any]]:
    """Return exp and its kin for sources that Numba compiles: the library's own forms, which have no branches."""
    from minigrad.backends.numba import pipeline, vector
    from minigrad.machine._numba import numba

    # Numba wants the parameters of `chosen` to be written as those of what it returns: without types.
    def of_any_type(name: str) -> Callable[..., Any]:
        def stub(x: Any) -> Any:
            return getattr(np, name)(x)

        @numba.extending.overload(stub)
        def chosen(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            if not isinstance(x, numba.types.Float):
                computed = getattr(np, name)
                return lambda x: computed(x)
            quick = pipeline.offered(name, np.dtype(str(x)))
            return lambda x: quick(x)

        return stub

    return {f"np_{name}": of_any_type(name) for name in OPS if name in vector.NAMES}


def compiled(source: str) -> Callable[..., None]:
    """Return the function that a source defines, compiled by Numba when it is first called.

    For ``np.exp``, ``np.log`` and ``np.tanh`` it takes the library's own forms, which compute many elements at once.

    >>> x = np.zeros(())
    >>> minigrad.loops.compiled("def loop(x): x[()] = np.exp(x[()])")(x)
    >>> x
    array(1.)
    """
    from minigrad.machine._numba import numba

    functions = _functions()
    for name in functions:
        source = source.replace(name.replace("_", ".") + "(", name + "(")
    loop = by_python(source)
    loop.__globals__.update(functions)
    compiled: Callable[..., None] = numba.njit(error_model="numpy")(loop)
    return compiled


def compile_program(
    program: Program, build: Callable[[str], Callable[..., None]] = compiled
) -> Callable[..., tuple[Any, ...]]:
    """Compile a program: `simplify`, `fuse`, `lifetimes`, `plan_memory`, and `emit`.

    Args:
        program: The program, which is not changed.
        build: What makes a function of a source, asked once for each loop, before the
            compiled program is called.

    Returns:
        A function of arrays, as `Program.run` is: of the same shapes and types as the
        program's inputs, which it does not change. It returns the tuple of outputs.
        What an earlier call has returned stays as it is.

    In each call there is one block of memory for all values that have a lifetime. Such
    a value is a part of it, from its place on, seen as an array of its shape and type.
    Outputs have arrays of their own. Steps that are no loops are computed by `call`,
    and copied to their place; the result of a view needs none.

    >>> program = minigrad.program.trace(lambda x: x * 2.0 + 1.0, np.zeros(3))
    >>> minigrad.loops.compile_program(program)(np.array([1.0, 2.0, 3.0]))
    (array([3., 5., 7.]),)
    """
    ### BEGIN SOLUTION
    program = simplify(program)
    groups = fuse(program)
    values = lifetimes(program, groups)
    places = plan_memory(values)
    size = peak(values, places)
    steps = []
    for group in groups:
        written = left_behind(program, groups, group)
        loop = build(emit(group, written)) if group.equations[0].kind == "elementwise" else None
        steps.append((group, written, loop))

    def run(*arrays: Any) -> tuple[Any, ...]:
        block = np.empty(size, np.uint8)
        known = dict(zip(program.inputs, map(np.asarray, arrays), strict=True)) | dict(program.constants)

        def room(x: Var) -> Any:
            if x not in places:
                return np.empty(x.shape, x.dtype)
            return block[places[x] : places[x] + x.nbytes].view(x.dtype).reshape(x.shape)

        for group, written, loop in steps:
            first = group.equations[0]
            if loop is not None:
                known.update((x, room(x)) for x in written)
                loop(*[known[x] for x in [*group.reads(), *written]])
            else:
                y = known[first.output] = call(first.op, *[known[x] for x in first.operands], **first.options)
                if first.output in places:
                    known[first.output] = room(first.output)
                    known[first.output][...] = y
        return tuple(known[x] if isinstance(x, Var) else x for x in program.outputs)

    return run
    ### END SOLUTION
