"""Visible tests of programs that become loops: fusing, memory, source, and all together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import loops
from minigrad.checks.expectation import expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.checks.written import groups_of, written
from minigrad.loops import Group, Lifetime, by_python, peak
from minigrad.symbols import Program

LOOPS = "11b 'One loop for many lines'"
PLACES = "11b 'Where values lie'"
HUNT = "11b 'A hunt'"
SOURCE = "11b 'Writing source'"
TOGETHER = "11b 'All together'"


def words(groups: Any) -> list[list[str]]:
    """Return the names of the operations in each group."""
    return [[each.op for each in group.equations] for group in groups]


@visible("loops.fuse", section=LOOPS)
def one_loop(student: SimpleNamespace) -> None:
    """tanh(x * 2) - x is one loop."""
    seen = words(student.fuse(written("x:float64[3]", "a = mul x 2.0", "b = tanh a", "c = sub b x", "return c")))
    expect(seen, [["mul", "tanh", "sub"]], hint="look for a group that the equation may join")


@visible("loops.fuse", section=LOOPS)
def not_in_one_loop(student: SimpleNamespace) -> None:
    """A sum stands alone, and results of two shapes are in two loops."""
    lines = "a = sum x axis=1 keepdims=True", "b = mul a 2.0", "return b"
    seen = words(student.fuse(written("x:float64[2,2]", *lines)))
    expect(seen, [["sum"], ["mul"]], hint="elementwise equations join groups of elementwise equations")
    seen = words(student.fuse(written("r:float64[2] x:float64[2,2]", "a = exp r", "b = mul a x", "return b")))
    expect(seen, [["exp"], ["mul"]], hint="compare the shapes of the results")


@visible("loops.fuse", section=LOOPS)
def no_circle(student: SimpleNamespace) -> None:
    """The softmax's quotient is not in the loop that its sum needs, also if the sum's logarithm stands between."""
    total = "= sum e axis=None keepdims=False"
    lines = "e = exp x", f"s {total}", "a = div e s", f"t {total}", "b = log t", "c = sub e b", "return a c"
    groups = student.fuse(written("x:float64[3]", *lines))
    for place, group in enumerate(groups):
        made = {each.output for later in groups[place + 1 :] for each in later.equations}
        late = [each.op for each in group.equations if made.intersection(each.reads())]
        hint = "a group must stand behind all that it needs, and must not need itself through others"
        expect_that(not late, f"{' and '.join(late)} in group {place} read what a later group computes", hint)
    expect_that(len(groups) == 5, f"{len(groups)} groups, expected 5: {words(groups)}", "join wherever it is allowed")


@visible("loops.fuse", section=LOOPS)
def groups_in_order(student: SimpleNamespace) -> None:
    """x * 2 / sum(y) is one loop, behind the sum."""
    lines = "a = mul x 2.0", "s = sum y axis=None keepdims=False", "b = div a s", "return b"
    seen = words(student.fuse(written("x:float64[3] y:float64[4]", *lines)))
    expect(seen, [["sum"], ["mul", "div"]], hint="order the groups in the end, when all are complete")


@visible("loops.plan_memory", section=PLACES)
def a_chain(student: SimpleNamespace) -> None:
    """In ((x @ x) @ x) @ x the first product is there in steps 0 and 1, the second in 1 and 2, the last stays."""
    lines = "a = matmul x x", "b = matmul a x", "c = matmul b x", "return c"
    program = written("x:float64[2,2]", *lines)
    found = student.lifetimes(program, groups_of(program))
    made = [each.output for each in program.equations]
    seen = sorted([made.index(x), life.first, life.last, life.size] for x, life in found.items())
    expect(seen, [[0, 0, 1, 64], [1, 1, 2, 64]], hint="32 bytes are rounded up to 64; an output has no lifetime")


@visible("loops.plan_memory", section=PLACES)
def a_view(student: SimpleNamespace) -> None:
    """A product is in memory as long as its transpose is read, which has no memory of its own."""
    lines = "a = matmul x x", "b = permute a axes=(1,0)", "c = matmul x x", "d = permute c axes=(1,0)"
    program = written("x:float64[2,2]", *lines, "e = matmul d x", "f = matmul e x", "return b f")
    found = student.lifetimes(program, groups_of(program))
    made = [each.output for each in program.equations]
    seen = sorted([made.index(x), life.first, life.last] for x, life in found.items())
    hint = "base_of(program) says whose memory a view shows; what an output shows stays, too"
    expect(seen, [[2, 2, 4], [4, 4, 5]], hint=hint)


@visible("loops.plan_memory", section=PLACES)
def places(student: SimpleNamespace) -> None:
    """Values that are there at the same time lie beside each other; others share."""
    lives: Any = {"a": Lifetime(64, 0, 1), "b": Lifetime(192, 1, 2), "c": Lifetime(128, 2, 3), "d": Lifetime(64, 3, 4)}
    found = student.plan_memory(lives)
    for x in lives:
        for y in lives:
            apart = found[x] + lives[x].size <= found[y] or found[y] + lives[y].size <= found[x]
            fine = apart or x == y or not lives[x].meets(lives[y])
            hint = "values of which the lives meet must lie apart: both steps belong to a life"
            expect_that(fine, f"{x} and {y} are there at one step, and overlap", hint)
    size = peak(lives, found)
    hint = "place the largest one first, each as low as it fits"
    expect_that(size == 320, f"the block has {size} bytes, expected 320", hint)


@visible("loops.plan_memory", section=PLACES)
def a_gap(student: SimpleNamespace) -> None:
    """A small value fits below one that lies high."""
    values: Any = {
        "a": Lifetime(256, 0, 1),
        "b": Lifetime(192, 0, 3),
        "c": Lifetime(128, 3, 5),
        "d": Lifetime(64, 3, 4),
    }
    size = peak(values, student.plan_memory(values))
    expect_that(size == 448, f"the block has {size} bytes, expected 448", "look for room from the lowest place on")


def _side_by_side(values: Mapping[Any, Lifetime]) -> dict[Any, int]:
    ends = itertools.accumulate((life.size for life in values.values()), initial=0)
    return dict(zip(values, ends, strict=False))


def _until_first_reader(program: Program, groups: Sequence[Group]) -> dict[Any, Lifetime]:
    found = {}
    for x, life in loops.lifetimes(program, groups).items():
        readers = [i for i, each in enumerate(groups) if x in each.reads()]
        found[x] = Lifetime(life.size, life.first, min(readers))
    return found


@visible("loops.is_safe", section=HUNT)
def safe_plans_pass(student: SimpleNamespace) -> None:
    """The library's plan passes, and so does one that lays all values side by side."""
    of = "the verdict on a plan that loses nothing"
    hint = "this is the library's plan: a life begins with the step that writes a value; which bytes do you compare?"
    expect(bool(student.is_safe(loops.lifetimes, loops.plan_memory)), True, hint=hint, of=of)
    hint = "in this plan no two values share a byte: ask for what must not happen, not for the lowest plan"
    expect(bool(student.is_safe(loops.lifetimes, _side_by_side)), True, hint=hint, of=of)


@visible("loops.is_safe", section=HUNT)
def lost_values_are_found(student: SimpleNamespace) -> None:
    """The plan of the lesson is refused, in which a value lives until it is read for the first time."""
    hint = (
        "this is the plan of the lesson: let a value be read by two steps, and find out yourself which one is the last"
    )
    found = student.is_safe(_until_first_reader, loops.plan_memory)
    expect(bool(found), False, hint=hint, of="the verdict on a plan that loses a value")


@visible("loops.emit", section=SOURCE)
def a_loop(student: SimpleNamespace) -> None:
    """The source of x * row + column, run by Python, for a (2, 3) array."""
    x, row, column = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.array([[10.0], [20.0]])
    given = "x:float64[2,3] row:float64[3] column:float64[2,1]"
    program = written(given, "a = mul x row", "b = mul x row", "c = add b column", "return a c")
    (group,) = groups_of(program, 3)
    outs = np.zeros((2, 3)), np.zeros((2, 3))
    source = student.emit(group, program.outputs)
    with hinting("look at print(loops.emit(group, outputs))", SyntaxError, NameError, TypeError):
        loop = by_python(source)
    hint = "arrays come in the order of group.reads(); the index is 0 along an axis of size 1, and there alone"
    with hinting(hint, IndexError):
        loop(x, row, column, *outs)
    hint = "the last axis of row stands below the last axis of the loop: row[i1]"
    expect(outs[0].tolist(), (x * row).tolist(), hint=hint)
    expect(outs[1].tolist(), (x * row + column).tolist(), hint="write an element of each output")


@visible("loops.emit", section=SOURCE)
def a_number(student: SimpleNamespace) -> None:
    """An array without axes has no `for`, and the index ()."""
    x, out = np.array(3.0), np.zeros(())
    program = written("x:float64[]", "a = mul x 2.0", "b = add a 1.0", "return b")
    (group,) = groups_of(program, 2)
    with hinting("x[()] reads the element of an array without axes", IndexError, SyntaxError):
        by_python(student.emit(group, program.outputs))(x, out)
    expect(out.tolist(), 7.0, hint="x[()] reads the element of an array without axes")


@visible("loops.emit", section=SOURCE)
def numbers_with_types(student: SimpleNamespace) -> None:
    """Beside float32, 0.5 is written as np.float32(0.5), and infinity as np.inf inside."""
    x = np.zeros(1, np.float32)
    program = written("x:float32[1]", "a = mul x 0.5", "b = maximum a -inf", "return b")
    (group,) = groups_of(program, 2)
    source = student.emit(group, program.outputs)
    hint = "a number is np.TYPE(repr), with the type that type_of_numbers(equation) names"
    expect_that("np.float32(0.5)" in source, "the source has no np.float32(0.5)", hint)
    out = np.ones(1, np.float32)
    with hinting("write np.float32(-np.inf): the source knows np, and no name inf", NameError):
        by_python(source)(x, out)
    expect(out.tolist(), [0.0], hint="-np.inf")


@visible("loops.emit", section=SOURCE)
def sixty_names(student: SimpleNamespace) -> None:
    """A loop of sixty equations needs sixty names."""
    x, out = np.zeros(1), np.zeros(1)
    program = written("x0:float64[1]", *(f"x{i + 1} = add x{i} 1.0" for i in range(60)), "return x60")
    (group,) = groups_of(program, 60)
    with hinting("names with numbers, such as e0, e1, are no words of Python", SyntaxError):
        by_python(student.emit(group, program.outputs))(x, out)
    expect(out.tolist(), [60.0], hint="every name is used for one thing")


@visible("loops.compile_program", section=TOGETHER)
def a_softmax(student: SimpleNamespace) -> None:
    """A softmax, compiled, gives what its program gives, and an earlier result stays."""
    x = np.array([[0.0, 1.0], [2.0, 2.0]])
    lines = "a = max x axis=1 keepdims=True", "b = sub x a", "e = exp b", "s = sum e axis=1 keepdims=True"
    program = written("x:float64[2,2]", *lines, "y = div e s", "return y 3.0")
    with hinting("an output may be a number of Python", KeyError):
        run = student.compile_program(program, by_python)
        found = run(x)
    wanted = program.run(x)[0].tolist()
    expect(found[0].tolist(), wanted, hint="run the steps in order", tolerance=1e-12)
    run(x + np.array([[0.0, 1.0]]))
    stays = np.allclose(found[0], wanted, rtol=1e-12)
    expect_that(stays, "a second call has changed the first one's result", "new arrays for the outputs in each call")


@visible("loops.compile_program", section=TOGETHER)
def loops_built(student: SimpleNamespace) -> None:
    """x * 1 * 2 + 1 is one loop, which is built before the first call, and once."""
    built: list[str] = []

    def build(source: str) -> Any:
        built.append(source)
        return by_python(source)

    unread = "s = sum x axis=None keepdims=False", "t = exp s"
    lines = "a = mul x 1.0", "b = mul a 2.0", "c = add b 1.0", "return c"
    run = student.compile_program(written("x:float64[2]", *unread, *lines), build)
    hint = "simplify, fuse, and build each loop, all before you return the function"
    expect_that(len(built) == 1, f"{len(built)} loops were built before the first call, expected 1", hint)
    run(np.zeros(2))
    run(np.zeros(2))
    hint = "build outside of the function that you return"
    expect_that(len(built) == 1, f"after two calls {len(built)} loops were built", hint)


@visible("loops.compile_program", section=TOGETHER)
def values_in_the_block(student: SimpleNamespace) -> None:
    """Results on the way are parts of one block of bytes, each seen with its type."""
    owners = set()

    def build(source: str) -> Any:
        loop = by_python(source)

        def watched(*arrays: Any) -> None:
            owner = arrays[-1]
            while owner.base is not None:
                owner = owner.base
            owners.add(id(owner))
            kept.append(owner)
            loop(*arrays)

        return watched

    kept: list[Any] = []
    x = np.ones((2, 2), np.float32)
    lines = "a = mul x 2.0", "s = sum a axis=None keepdims=False", "b = mul s 2.0", "return b"
    program = written("x:float32[2,2]", *lines)
    hint = "block[place : place + x.nbytes].view(x.dtype).reshape(x.shape)"
    with hinting(hint, ValueError, TypeError):
        found = student.compile_program(program, build)(x)[0]
    expect(found.tolist(), 16.0, hint=hint)
    reason = f"a value with a place was written to memory of its own, of {kept[0].dtype}"
    hint = "np.empty(peak(...), np.uint8) is the block; take a part of it for each value with a place"
    expect_that(kept[0].dtype == np.uint8, reason, hint)
