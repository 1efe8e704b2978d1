"""Hidden tests of programs that become loops: fusing, memory, source, and all together."""

import functools

import numpy as np
import pytest

from autograder import expect

fuse = functools.partial(pytest.mark.exercise, "loops.fuse")
plan = functools.partial(pytest.mark.exercise, "loops.plan_memory")
emit = functools.partial(pytest.mark.exercise, "loops.emit")
compiled = functools.partial(pytest.mark.exercise, "loops.compile_program")

OUTSIDER = "loops.fuse: 'No group needs its own result through another group'"


def in_order(groups, reads):
    """Tell whether each equation stands in one group, and each group behind all that it needs.

    Args:
        groups: Of each group the numbers of its equations.
        reads: Of each equation the numbers of those that it reads.
    """
    done = set()
    for group in groups:
        for each in group:
            if any(other not in done for other in reads[each] if other not in group):
                return False
            if any(other in group and group.index(other) > group.index(each) for other in reads[each]):
                return False
        done.update(group)
    return sorted(each for group in groups for each in group) == list(range(len(reads)))


# --- loops.fuse ---------------------------------------------------------------------------------------------


@fuse(group="loops", because="loops.fuse: 'An elementwise one joins the first group of its shape that it may join'")
def test_one_loop(student):
    """Elementwise equations of one shape are one loop, in the order of the program."""

    def observe(mg, x):
        def f(x):
            return 0.5 * x * (1.0 + mg.symbols.tanh(x + 0.1 * x * x))

        program = mg.program.trace(f, x)
        return [[program.equations.index(each) for each in group.equations] for group in mg.loops.fuse(program)]

    expect(
        student(observe, np.zeros(3)),
        [[0, 1, 2, 3, 4, 5, 6]],
        hint="look for a group that the equation may join before you begin a new one",
        misconception="one-each",
    )


@fuse(group="loops", because="loops.fuse: 'One that is not elementwise has a group of its own'")
def test_sums_alone(student):
    """What follows a sum is not in the sum's group, though it has the same shape."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: x.sum(axis=1, keepdims=True) * 2.0, x)
        square = mg.program.trace(lambda x: (x * 2.0) @ x, x[:, :3])
        return [[[e.op for e in group.equations] for group in mg.loops.fuse(each)] for each in (program, square)]

    expect(
        student(observe, np.zeros((3, 4))),
        [[["sum"], ["mul"]], [["mul"], ["matmul"]]],
        hint="the group must be one of elementwise equations, too",
        misconception="joined-a-sum",
    )


@fuse(group="loops", because="loops.fuse: 'All results in a group have one shape.'")
def test_shapes_apart(student):
    """The exponential of a row is not computed in the loop over the table."""

    def observe(mg, row, table):
        program = mg.program.trace(lambda row, table: mg.symbols.exp(row) * table, row, table)
        return [[each.op for each in group.equations] for group in mg.loops.fuse(program)]

    expect(
        student(observe, np.zeros(4), np.zeros((3, 4))),
        [["exp"], ["mul"]],
        hint="compare each.output.shape",
        misconception="shapes-mixed",
    )


@fuse(group="loops", because="loops.fuse: 'no result has more groups than this one'")
def test_an_earlier_group(student):
    """An equation may join a group that is not the last one, and joins the first one that it may."""

    def observe(mg, x, y):
        def f(x):
            a = x * 2.0
            b = a / a.sum()
            return b + (x * 3.0).sum()

        program = mg.program.trace(lambda x, y: (x * 2.0 + (y * 3.0).sum() * 0.0, x - 1.0), x, y)
        return [len(mg.loops.fuse(program)) <= 4, len(mg.loops.fuse(mg.program.trace(f, x))) <= 4]

    expect(
        student(observe, np.zeros(3), np.zeros((2, 2))),
        [True, True],
        hint="go through all groups, from the first one on",
        misconception="last-group-alone",
    )


@fuse(group="circles", because=OUTSIDER)
def test_through_a_sum(student):
    """x / sum(x): the quotient does not join the group that the sum needs."""

    def observe(mg, x):
        def f(x):
            y = x * 2.0
            return y / y.sum() + 1.0

        program = mg.program.trace(f, x)
        return [[each.op for each in group.equations] for group in mg.loops.fuse(program)]

    expect(
        student(observe, np.ones(3)),
        [["mul"], ["sum"], ["div", "add"]],
        hint="the sum needs the whole loop, and the quotient needs the sum",
        misconception="circle-closed",
    )


@fuse(group="circles", because=OUTSIDER)
def test_through_several_groups(student):
    """The way back into a group may lead through several others."""

    def observe(mg, x):
        def f(x):
            y = x * 2.0
            return y / mg.symbols.log(y.sum())

        program = mg.program.trace(f, x)
        return [[each.op for each in group.equations] for group in mg.loops.fuse(program)]

    expect(
        student(observe, np.ones(3)),
        [["mul"], ["sum"], ["log"], ["div"]],
        hint="follow what the groups need, and what these need",
        misconception="one-outsider-alone",
    )


@fuse(group="circles", because=OUTSIDER)
def test_through_companions(student):
    """A group needs what any of its equations needs: two that do not know each other may stand in one loop."""

    def observe(mg, x, z):
        def f(x, z):
            y = z * 3.0
            a = x * 2.0
            b = a / y.sum()
            return b, y * a.sum()

        program = mg.program.trace(f, x, z)
        made = {each.output: i for i, each in enumerate(program.equations)}
        reads = [[made[x] for x in each.reads() if x in made] for each in program.equations]
        groups = [[program.equations.index(each) for each in group.equations] for group in mg.loops.fuse(program)]
        return [groups, reads]

    groups, reads = student(observe, np.ones(3), np.ones(4))
    expect(
        [in_order(groups, reads), len(groups) <= 5],
        [True, True],
        hint="ask what the whole groups need, as they are now",
        misconception="equations-asked-alone",
    )


@fuse(group="order", because="loops.fuse: 'and groups stand in an order in which they can run'")
def test_order_of_groups(student):
    """A group that was begun early may need one that was begun later."""

    def observe(mg, x, y):
        program = mg.program.trace(lambda x, y: x * 2.0 / y.sum(), x, y)
        late = mg.program.trace(lambda x, y: (x * 2.0) + y.sum() * mg.symbols.exp(x), x, y)
        found = []
        for each in (program, late):
            made = {equation.output: i for i, equation in enumerate(each.equations)}
            reads = [[made[x] for x in equation.reads() if x in made] for equation in each.equations]
            groups = mg.loops.fuse(each)
            found.append([[[each.equations.index(e) for e in group.equations] for group in groups], reads])
        return found

    found = student(observe, np.ones(3), np.ones(4))
    expect(
        [[in_order(groups, reads), len(groups)] for groups, reads in found],
        [[True, 2], [True, 2]],
        hint="in the end, take again and again a group of which all needs are done",
        misconception="order-of-birth",
    )


# --- loops.plan_memory --------------------------------------------------------------------------------------


@plan(group="lifetimes", because="loops.Lifetime: 'The number of the last step that reads it.'")
def test_from_writer_to_last_reader(student):
    """A value lives from the step that writes it to the last one that reads it."""

    def observe(mg, x):
        def f(x):
            a = x @ x
            b = a @ x
            c = b @ x
            return (c @ a) @ c

        program = mg.program.trace(f, x)
        groups = mg.loops.fuse(program)
        lives = mg.loops.lifetimes(program, groups)
        made = [each.output for each in program.equations]
        found = sorted([made.index(x), life.first, life.last] for x, life in lives.items())
        two = mg.program.trace(lambda x: (x * 2.0) @ (x * 3.0), x)
        return [found, len(mg.loops.lifetimes(two, mg.loops.fuse(two)))]

    expect(
        student(observe, np.zeros((2, 2))),
        [[[0, 0, 3], [1, 1, 2], [2, 2, 4], [3, 3, 4]], 2],
        hint="the largest number of a group that reads it",
        misconception="first-reader-ends",
    )


@plan(group="lifetimes", because="loops.lifetimes: 'outputs of the program, and a base of which an output is a view'")
def test_outputs_stay(student):
    """Outputs have no lifetime, nor what an output shows."""

    def observe(mg, x):
        def f(x):
            a = x @ x
            b = a @ x
            return b, (b @ x).T

        program = mg.program.trace(f, x)
        made = [each.output for each in program.equations]
        return sorted(made.index(x) for x in mg.loops.lifetimes(program, mg.loops.fuse(program)))

    expect(
        student(observe, np.zeros((2, 2))),
        [0],
        hint="what is handed out must not be written over",
        misconception="outputs-planned",
        when={(0, 2): ("shown-outputs-planned", "the product is what the last output shows")},
    )


@plan(group="lifetimes", because="loops.lifetimes: 'rounded up to a multiple of 64 bytes'")
def test_sizes(student):
    """A size is that of the array, rounded up to a multiple of 64."""

    def observe(mg, *arrays):
        found = []
        for x in arrays:
            program = mg.program.trace(lambda x: (x * 2.0).sum(), x)
            found += [life.size for life in mg.loops.lifetimes(program, mg.loops.fuse(program)).values()]
        return found

    expect(
        student(observe, np.zeros(3, np.float32), np.zeros(16, np.float32), np.zeros(9), np.zeros(1024)),
        [64, 64, 128, 8192],
        hint="-(-n // 64) * 64",
        misconception="sizes-as-they-are",
    )


@plan(group="views", because="loops.lifetimes: 'who reads one reads the base'")
def test_views_keep_their_base(student):
    """Whoever reads a view of a view keeps the base in memory."""

    def observe(mg, x):
        def f(x):
            a = x @ x
            flat = a.T.reshape(4)
            b = x @ x @ x @ x
            return b, flat + 1.0

        program = mg.program.trace(f, x)
        groups = [mg.loops.Group((each,)) for each in program.equations]
        lives = mg.loops.lifetimes(program, groups)
        return lives[program.equations[0].output].last

    expect(
        student(observe, np.zeros((2, 2))),
        6,
        hint="base_of(program) says whose memory a view shows",
        misconception="views-not-followed",
    )


@plan(group="views", because="loops.lifetimes: 'results of views: they lie in the memory of their base'")
def test_views_have_no_memory(student):
    """The result of a view has no lifetime of its own."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: (x @ x).T @ x, x)
        made = [each.output for each in program.equations]
        return sorted(made.index(x) for x in mg.loops.lifetimes(program, mg.loops.fuse(program)))

    expect(
        student(observe, np.zeros((2, 2))),
        [0],
        hint="leave out what base_of knows",
        misconception="views-have-memory",
    )


@plan(group="places", because="loops.plan_memory: 'Values whose lifetimes meet do not overlap.'")
def test_no_overlap(student):
    """Values that are there at the same step do not overlap, also where one begins as another one ends."""

    def observe(mg, lives):
        values = {i: mg.loops.Lifetime(*life) for i, life in enumerate(lives)}
        places = mg.loops.plan_memory(values)
        return [places[i] for i in range(len(lives))]

    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(12):
        sizes, first, more = random.integers(1, 4, 7), random.integers(0, 6, 7), random.integers(0, 4, 7)
        lives = [[64 * int(size), int(a), int(a + n)] for size, a, n in zip(sizes, first, more, strict=True)]
        places = student(observe, lives)
        for i, (size, a, b) in enumerate(lives):
            for j, (other, c, d) in enumerate(lives[:i]):
                meet = a <= d and c <= b
                wrong += meet and places[i] < places[j] + other and places[j] < places[i] + size
    expect(
        wrong,
        0,
        hint="values[x].meets(values[y]) says whether both are there at one step",
        misconception="neighbours-share",
    )


@plan(
    group="places", because="loops.plan_memory: 'Two values may lie in the same place if their lifetimes do not meet.'"
)
def test_memory_is_used_again(student):
    """A chain needs room for two values at a time."""

    def observe(mg, n):
        values = {i: mg.loops.Lifetime(64, i, i + 1) for i in range(n)}
        places = mg.loops.plan_memory(values)
        return mg.loops.peak(values, places)

    expect(
        student(observe, 10),
        128,
        hint="only values whose lifetimes meet are in the way",
        misconception="nothing-shared",
    )


@plan(group="places", because="loops.plan_memory: 'each as low as it fits'")
def test_gaps(student):
    """A small value fits between two others."""

    def observe(mg):
        values = {
            "a": mg.loops.Lifetime(256, 0, 1),
            "b": mg.loops.Lifetime(192, 0, 3),
            "c": mg.loops.Lifetime(128, 3, 5),
            "d": mg.loops.Lifetime(64, 3, 4),
        }
        places = mg.loops.plan_memory(values)
        return mg.loops.peak(values, places)

    expect(
        student(observe),
        448,
        hint="go through the values that are in the way from the lowest on, and stop where there is room before one",
        misconception="always-on-top",
    )


@plan(group="places", because="loops.plan_memory: 'The largest one is placed first'")
def test_largest_first(student):
    """A small value that is placed first may lie in the way of two large ones."""

    def observe(mg):
        values = {
            "a": mg.loops.Lifetime(64, 0, 2),
            "b": mg.loops.Lifetime(192, 1, 1),
            "c": mg.loops.Lifetime(128, 2, 3),
            "d": mg.loops.Lifetime(256, 3, 4),
        }
        places = mg.loops.plan_memory(values)
        return mg.loops.peak(values, places) <= 384

    expect(
        student(observe),
        True,
        hint="sort by size, the largest one first",
        misconception="in-order-of-birth",
    )


# --- loops.emit ---------------------------------------------------------------------------------------------


@emit(group="values", because="loops.emit: 'an array for each output, into which it writes'")
def test_values_and_outputs(student):
    """A loop writes every output that is asked for, and those alone."""

    def observe(mg, x, y):
        def f(x, y):
            a = x * y
            b = a - x
            return a, mg.symbols.exp(b)

        program = mg.program.trace(f, x, y)
        (group,) = mg.loops.fuse(program)
        loop = mg.loops.by_python(mg.loops.emit(group, program.outputs))
        first, second = np.full_like(x, 99.0), np.full_like(x, 99.0)
        loop(x, y, first, second)
        return [first.tolist(), second.tolist()]

    x, y = np.arange(6.0).reshape(2, 3), np.array([[1.0, -1.0, 2.0], [0.5, 0.0, 1.0]])
    expect(
        student(observe, x, y),
        [(x * y).tolist(), np.exp(x * y - x).tolist()],
        hint="one line out[...] = ... for each output",
        misconception="one-output-alone",
    )


@emit(group="values", because="loops.emit: 'the arrays that the group reads, in the order of `Group.reads`, and then'")
def test_order_of_arguments(student):
    """Arrays that are read come first, in the order of their first use."""

    def observe(mg, x, y):
        program = mg.program.trace(lambda x, y: mg.symbols.where(y < 0.0, x, y / x), x, y)
        (group,) = mg.loops.fuse(program)
        loop = mg.loops.by_python(mg.loops.emit(group, program.outputs))
        out = np.full_like(x, 99.0)
        with np.errstate(all="ignore"):
            loop(y, x, out)
        return out.tolist()

    expect(
        student(observe, np.array([1.0, 2.0]), np.array([-1.0, 3.0])),
        [1.0, 1.5],
        hint="group.reads() is in the right order",
        misconception="reads-turned",
    )


@emit(group="values", because="loops.emit: 'Every name is used for one thing.'")
def test_many_equations(student):
    """A loop of sixty equations has names enough."""

    def observe(mg, x):
        def f(x):
            for _ in range(30):
                x = (x + 1.0) * 0.5
            return x

        program = mg.program.trace(f, x)
        (group,) = mg.loops.fuse(program)
        out = np.full_like(x, 99.0)
        try:
            mg.loops.by_python(mg.loops.emit(group, program.outputs))(x, out)
        except Exception as error:
            return type(error).__name__
        return out.tolist()

    x = np.array([5.0, 1.0])
    expect(
        student(observe, x),
        ((x - 1.0) / 2.0**30 + 1.0).tolist(),
        hint="names with numbers, such as e0, e1, ..., are no words of Python",
        misconception="letters-as-names",
    )


@emit(group="broadcasting", because="loops.emit: 'An axis of size 1 that is broadcast has the index 0'")
def test_broadcast_axes(student):
    """A column and a row are read at the index 0 along their axes of size 1."""

    def observe(mg, x, column, row):
        program = mg.program.trace(lambda x, column, row: x * column + row, x, column, row)
        (group,) = mg.loops.fuse(program)
        out = np.full(x.shape, 99.0)
        try:
            mg.loops.by_python(mg.loops.emit(group, program.outputs))(x, column, row, out)
        except IndexError:
            return "IndexError"
        return out.tolist()

    x, column, row = np.arange(6.0).reshape(2, 3), np.array([[10.0], [20.0]]), np.array([[1.0, 2.0, 3.0]])
    expect(
        student(observe, x, column, row),
        (x * column + row).tolist(),
        hint="the index is 0 where the size is 1",
        misconception="index-beyond-the-end",
    )


@emit(group="broadcasting", because="loops.emit: 'and a missing axis in front none'")
def test_missing_axes(student):
    """Shapes are aligned at the right, and an array without axes is read as x[()]."""

    def observe(mg, x, row, number):
        program = mg.program.trace(lambda x, row, number: x * row + number, x, row, number)
        (group,) = mg.loops.fuse(program)
        out = np.full(x.shape, 99.0)
        loop = mg.loops.by_python(mg.loops.emit(group, program.outputs))
        loop(x, row, number, out)
        return out.tolist()

    x, row = np.arange(9.0).reshape(3, 3), np.array([1.0, 10.0, 100.0])
    expect(
        student(observe, x, row, np.array(0.5)),
        (x * row + 0.5).tolist(),
        hint="the last axis of the array is the last one of the loop",
        misconception="aligned-at-the-left",
    )


@emit(group="broadcasting", because="loops.emit: 'for an array without axes ``x[()]``'")
def test_loops_without_axes(student):
    """A loop over a number has no `for`."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: x * 2.0, x)
        (group,) = mg.loops.fuse(program)
        out = np.full((), 99.0)
        try:
            mg.loops.by_python(mg.loops.emit(group, program.outputs))(x, out)
        except Exception as error:
            return type(error).__name__
        return out.tolist()

    expect(
        student(observe, np.array(3.0)),
        6.0,
        hint="() is the index of an array without axes",
        misconception="index-of-nothing",
    )


@emit(group="numbers", because="loops.emit: 'Numba would compute with 64 bits otherwise.'")
def test_types_of_numbers(student):
    """A number beside float32 is computed with in float32, also by Numba."""

    def observe(mg, x):
        import numba

        program = mg.program.trace(lambda x: mg.symbols.where(x < 3.0, x / 3.0 - x * 0.3333333, x * 0.1), x)
        (group,) = mg.loops.fuse(program)
        out = np.full_like(x, 99.0)
        numba.njit(mg.loops.by_python(mg.loops.emit(group, program.outputs)))(x, out)
        return out.tolist()

    x = np.array([0.1, 0.01, 0.7, 3.3, -1.1, 2.9], np.float32)
    f = np.float32
    expect(
        student(observe, x),
        np.where(x < f(3.0), x / f(3.0) - x * f(0.3333333), x * f(0.1)).tolist(),
        tolerance=1e-12,
        hint="np.float32(0.1), by type_of_numbers",
        misconception="numbers-of-64-bits",
    )


@emit(group="numbers", because="loops.emit: '``np.float32(inf)`` and ``np.float32(nan)`` have to be'")
def test_infinity(student):
    """Infinity and nan are no names of Python."""

    def observe(mg, x):
        inf, nan = float("inf"), float("nan")
        program = mg.program.trace(
            lambda x: mg.symbols.where(x < 0.0, -inf, mg.symbols.where(x < 1.0, inf, nan)) + x, x
        )
        (group,) = mg.loops.fuse(program)
        out = np.full_like(x, 99.0)
        try:
            mg.loops.by_python(mg.loops.emit(group, program.outputs))(x, out)
        except NameError:
            return "NameError"
        return [str(each) for each in out.tolist()]

    expect(
        student(observe, np.array([-1.0, 0.5, 2.0])),
        ["-inf", "inf", "nan"],
        hint="np.inf and np.nan",
        misconception="infinity-as-a-name",
    )


# --- loops.compile_program ----------------------------------------------------------------------------------


@compiled(group="values", because="loops.compile_program: 'It returns the tuple of outputs.'")
def test_as_the_program(student):
    """A compiled program gives what the program gives, with loops, sums, views, products, constants and numbers."""

    def observe(mg, x, w):
        def f(x):
            h = mg.symbols.tanh(x @ w)
            e = mg.symbols.exp(h - h.max(axis=1, keepdims=True))
            p = e / e.sum(axis=1, keepdims=True)
            return p, (p.T @ (x * 2.0)).reshape(6), 3.0

        built = []

        def build(source):
            built.append(source)
            return mg.loops.by_python(source)

        program = mg.program.trace(f, x)
        try:
            run = mg.loops.compile_program(program, build)
            found = run(x)
        except KeyError:
            return "KeyError"
        return [built != [], type(found).__name__, *(y.tolist() if hasattr(y, "tolist") else y for y in found)]

    x, w = np.random.default_rng(3).normal(size=(4, 2)), np.random.default_rng(4).normal(size=(2, 3))
    h = np.tanh(x @ w)
    p = np.exp(h) / np.exp(h).sum(1, keepdims=True)
    expect(
        student(observe, x, w),
        [True, "tuple", p.tolist(), (p.T @ (x * 2.0)).reshape(6).tolist(), 3.0],
        hint="an output may be a number of Python, which is no variable",
        misconception="numbers-looked-up",
    )


@compiled(group="values", because="loops.compile_program: 'What an earlier call has returned stays as it is.'")
def test_results_stay(student):
    """A second call does not change what the first one has returned."""

    def observe(mg, x, y):
        run = mg.loops.compile_program(mg.program.trace(lambda x: x * 2.0 + 1.0, x), mg.loops.by_python)
        first = run(x)[0]
        run(y)
        return first.tolist()

    expect(
        student(observe, np.array([1.0, 2.0]), np.array([10.0, 20.0])),
        [3.0, 5.0],
        hint="make new arrays for the outputs in each call",
        misconception="results-written-over",
    )


@compiled(group="values", because="loops.compile_program: 'seen as an array of its shape and type'")
def test_types_in_the_block(student):
    """Values of several types share the block."""

    def observe(mg, x):
        def f(x):
            small = x < 0.5
            return mg.symbols.where(small.reshape(4), x.sum() * 2.0, 1.0) * (x * 0.5 + 1.0).sum()

        program = mg.program.trace(f, x)
        try:
            return mg.loops.compile_program(program, mg.loops.by_python)(x)[0].tolist()
        except ValueError:
            return "ValueError"

    x = np.array([[0.25, 1.0], [0.0, 3.0]], np.float32)
    wanted = np.where((x < 0.5).reshape(4), x.sum() * 2.0, 1.0) * (x * 0.5 + 1.0).sum()
    expect(
        student(observe, x),
        wanted.tolist(),
        hint="block[place : place + x.nbytes].view(x.dtype).reshape(x.shape)",
        misconception="one-type-for-all",
    )


@compiled(
    group="loops", because="loops.compile_program: 'asked once for each loop, before the compiled program is called'"
)
def test_built_once(student):
    """Each loop is built once, and not in every call."""

    def observe(mg, x):
        built = []

        def build(source):
            built.append(1)
            return mg.loops.by_python(source)

        run = mg.loops.compile_program(mg.program.trace(lambda x: x * 2.0 / x.sum() + 1.0, x), build)
        counts = [len(built)]
        for _ in range(3):
            run(x)
            counts.append(len(built))
        return counts

    expect(
        student(observe, np.array([1.0, 2.0])),
        [1, 1, 1, 1],
        hint="build outside of the function that is returned",
        misconception="built-in-each-call",
        when={(3, 3, 3, 3): ("a-loop-for-each-equation", "one loop for each group")},
    )


@compiled(
    group="loops", because="loops.compile_program: 'Compile a program: `simplify`, `fuse`, `lifetimes`, `plan_memory`'"
)
def test_simplified(student):
    """What nobody needs is not computed: there is no loop for it."""

    def observe(mg, x):
        built = []

        def build(source):
            built.append(source)
            return mg.loops.by_python(source)

        def f(x):
            mg.symbols.exp(x.sum())
            return x * 1.0 * 2.0

        run = mg.loops.compile_program(mg.program.trace(f, x), build)
        return [run(x)[0].tolist(), len(built)]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[2.0, 4.0], 1],
        hint="simplify the program first",
        misconception="not-simplified",
    )


@compiled(group="memory", because="loops.compile_program: 'In each call there is one block of memory'")
def test_one_block(student):
    """Values on the way lie in one block, at the places of the plan."""

    def observe(mg, x):
        def f(x):
            for _ in range(6):
                x = (x * 2.0).sum(axis=0, keepdims=True) + x
            return x

        seen: list[np.ndarray] = []

        def build(source):
            loop = mg.loops.by_python(source)

            def watched(*arrays):
                seen.extend(arrays)
                loop(*arrays)

            return watched

        def owner(array):
            while array.base is not None:
                array = array.base
            return array

        result = mg.loops.compile_program(mg.program.trace(f, x), build)(x)[0]
        blocks = [owner(each) for each in seen if each is not x and each is not result]
        turned = len(seen)
        mg.loops.compile_program(mg.program.trace(lambda x: x.T * 2.0, x), build)(x)
        return [
            len({id(each) for each in blocks}),
            blocks[0].nbytes <= 4 * x.nbytes,
            owner(result).nbytes == x.nbytes,
            owner(seen[turned]) is owner(x),
        ]

    expect(
        student(observe, np.ones((8, 32))),
        [1, True, True, True],
        hint="np.empty(peak(...), np.uint8) in each call, and parts of it by plan_memory",
        misconception="plan-not-used",
    )
