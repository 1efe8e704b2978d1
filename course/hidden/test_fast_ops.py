"""Hidden tests of the kernels for all cores: map, reduce and matrix multiplication.

What a kernel computes is seen in plain Python, where an index out of bounds is an error. Races are looked for by
`minigrad.debug.races`, which needs no luck. One test of each exercise compiles the kernel and runs it in parallel.
"""

import numpy as np
import pytest

from autograder import expect, pictures

WATCHED = ("parallel", "aligned", "inner")
"""Groups whose points rest on what a witness inside the sandbox reports: see `autograder.judging.watched`."""

MAP = "fast_ops.tensor_map"
REDUCE = "fast_ops.tensor_reduce"
MATMUL = "fast_ops._tensor_matrix_multiply"

SIX = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
# A kernel could see by what it is called with which test it is run for, and run in parallel in that one alone. So each
# call in which its loops are looked at is also one of a test of values: with the same arrays and the same function.
SEVEN = [0.0, 1.0, 2.0, 900.0, 3.0, 4.0, 5.0]
OF_MAP = {
    "agree": [[2, 3], [1, 2], SIX, [2, 3], [1, 2]],
    "strides": [[2, 3], [3, 1], SEVEN, [2, 3], [4, 1]],
    "shapes": [[2, 3], [3, 1], [1.0, 2.0, 3.0, 900.0, 901.0, 902.0], [1, 3], [3, 1]],
}
SQUARES = [float(i * i) for i in range(12)]
OF_REDUCE = [[2, 1, 3], [3, 7, 1], SQUARES, [2, 2, 3], [6, 3, 1], 1]
OF_MATMUL = [
    *([3, 2, 2], [4, 2, 1]),
    *([float(i) for i in range(12)], [3, 2, 2], [4, 2, 1]),
    *([10.0 * i for i in range(12)], [3, 2, 2], [4, 2, 1]),
]

TALL = [
    *([3, 3, 2], [6, 2, 1]),
    *([float(i) for i in range(18)], [3, 3, 2], [6, 2, 1]),
    *([10.0 * i for i in range(12)], [3, 2, 2], [4, 2, 1]),
]
"""Three matrices, three rows: a loop over either has more iterations than one over columns, or along a sum."""

REFUSED = "the message is the compiler's: arrays, numbers and loops are what it is made for"
BUFFER = (
    "two iterations write to the same array, and may do so at the same time; the result is then wrong now and then: "
    "make index arrays with np.empty inside the prange loop"
)
BESIDE = "a prange loop runs, but out is written elsewhere: the loop that does the work is the one to run in parallel"
ONE = "only one iteration of the prange loop writes to out: share the work out between all of them"
LOOP_VARIABLE = "the variable of a prange loop must not be assigned to: change another one, begun as in rest = i + 0"


def expect_compiled(compiled, in_python, wanted):
    """A compiled kernel gives what Python gives; two right values show that it was run, other tests ask for all."""
    expect(compiled, in_python, hint=REFUSED, misconception="compiler-refuses")
    seen = {value for value in compiled if isinstance(value, float)} if isinstance(compiled, list) else set()
    expect(len(seen & wanted) >= 2, True, hint="hardly a value is right: look at the tests of the values first")


def run_map(mg, out_shape, out_strides, storage, in_shape, in_strides):
    """Run the student's kernel of 10 x + 1 in Python; return out."""
    from minigrad.compiling import interpreted

    out = np.full(int(np.prod(out_shape)), -77.0)
    kernel = interpreted(mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0))
    parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, in_shape, in_strides)]
    try:
        kernel(out, *parts[:2], np.array(storage), *parts[2:])
    except (IndexError, ValueError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def run_reduce(mg, start, out_shape, out_strides, storage, a_shape, a_strides, dim):
    """Run the student's kernel of result / 2 + element + 1, whose order matters, in Python; return out."""
    from minigrad.compiling import interpreted

    out = np.full(int(np.prod(out_shape)), start)
    kernel = interpreted(mg.fast_ops.tensor_reduce(lambda result, element: result / 2.0 + element + 1.0))
    parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
    try:
        kernel(out, *parts[:2], np.array(storage), *parts[2:], dim)
    except (IndexError, ValueError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def run_matmul(mg, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    """Run the student's kernel in Python, with an output that holds -77 before; return out."""
    from minigrad.compiling import interpreted

    out = np.full(int(np.prod(out_shape)), -77.0)
    kernel = interpreted(mg.fast_ops._tensor_matrix_multiply)
    parts = [
        np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides, b_shape, b_strides)
    ]
    try:
        kernel(out, *parts[:2], np.array(a_storage), *parts[2:4], np.array(b_storage), *parts[4:])
    except (IndexError, ValueError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def compared(storage, came, wanted):
    """A picture of what out holds, below what the input holds."""
    out = pictures.array("what out holds", came, wanted, came=True)
    return pictures.together(pictures.array("what the input's storage holds", storage), out)


def kinds_of(findings):
    """Return the kinds of what `races` found."""
    return sorted({found["kind"] for found in findings})


def viewed(storage, shape, strides):
    """The array that shape and strides make of a storage."""
    found = [storage[int(np.dot(index, strides))] for index in np.ndindex(*shape)]
    return np.array(found).reshape(shape)


def fold(start, *elements):
    """What the kernel of `run_reduce` should compute."""
    for element in elements:
        start = start / 2.0 + element + 1.0
    return start


# --- tensor_map ---------------------------------------------------------------------------------------------


@pytest.mark.exercise(MAP, group="values", because="fast_ops.tensor_map: 'applies fn to every element of a tensor'")
def test_map_where_layouts_agree(student):
    """Where both tensors have the same layout, every element of out is fn of the element at its place."""
    seen = student(run_map, *OF_MAP["agree"])
    expect(
        seen,
        [1.0, 11.0, 21.0, 31.0, 41.0, 51.0],
        hint="the loop without indices applies fn as well, to every element",
        picture=lambda: compared(SIX, seen, [1.0, 11.0, 21.0, 31.0, 41.0, 51.0]),
        misconception="fn-forgotten-where-aligned",
        when={(-77.0,) * 6: "the results belong into out itself: nobody gets what _map returns"},
    )


@pytest.mark.exercise(MAP, group="values", because="fast_ops.tensor_map: 'both may have any strides'")
def test_map_where_strides_differ(student):
    """Tensors of one shape are not walked side by side where only some of their strides agree."""
    wanted = [1.0, 11.0, 21.0, 31.0, 41.0, 51.0]
    seen = student(run_map, *OF_MAP["strides"])
    expect(
        seen,
        wanted,
        hint="the same shape is not enough to run over both storages: the strides must agree too",
        picture=lambda: compared(SEVEN, seen, wanted),
        misconception="aligned-by-shape-alone",
    )


@pytest.mark.exercise(
    MAP, group="values", because="fast_ops.tensor_map: 'the input is broadcast to the output's shape'"
)
def test_map_where_shapes_differ(student):
    """A smaller input with the strides of the output is broadcast."""
    seen = student(run_map, *OF_MAP["shapes"])
    expect(
        seen,
        [11.0, 21.0, 31.0, 11.0, 21.0, 31.0],
        hint="the same strides are not enough to run over both storages: the shapes must agree too",
        picture=lambda: compared([1.0, 2.0, 3.0, 900.0, 901.0, 902.0], seen, [11.0, 21.0, 31.0] * 2),
        misconception="aligned-by-strides-alone",
    )


@pytest.mark.exercise(MAP, group="values", because="fast_ops.tensor_map: 'in_shape broadcasts to out_shape'")
def test_map_where_ranks_differ(student):
    """An input with fewer axes is broadcast."""
    seen = student(run_map, [2, 2, 2], [4, 2, 1], [1.0, 2.0, 3.0, 4.0], [2, 2], [2, 1])
    expect(
        seen,
        [11.0, 21.0, 31.0, 41.0, 11.0, 21.0, 31.0, 41.0],
        hint="arrays of different lengths cannot be compared element by element: compare len(...) first",
        picture=lambda: compared([1.0, 2.0, 3.0, 4.0], seen, [11.0, 21.0, 31.0, 41.0] * 2),
        misconception="ranks-not-compared",
    )


@pytest.mark.exercise(MAP, group="corners", because="fast_ops.tensor_map: 'does the same as in lesson 05'")
def test_map_of_a_single_number(student):
    """A tensor without dimensions has one element."""
    expect(
        student(run_map, [], [], [4.0], [], []),
        [41.0],
        hint="shapes and strides may be empty: shape[0] is not always there",
        misconception="needs-an-axis",
    )


@pytest.mark.exercise(MAP, group="values", because="fast_ops.tensor_map: 'both may have any strides'")
def test_map_into_any_layout(student):
    """Four axes, permuted in out, two repeated in the input: every element is where it belongs."""
    storage = [float(i) for i in range(8)]
    wanted = np.zeros(12)
    for i in range(2):
        for k in range(3):
            for n in range(2):
                wanted[i + 4 * k + 2 * n] = 10.0 * storage[2 * k] + 1.0
    seen = student(run_map, [2, 1, 3, 2], [1, 12, 4, 2], storage, [1, 3, 1], [7, 2, 5])
    expect(
        seen,
        wanted.tolist(),
        hint="the loop counts elements; where the one at an index stands in out, index_to_position says",
        picture=lambda: compared(storage, seen, wanted),
        misconception="position-is-not-ordinal",
    )


@pytest.mark.exercise(
    MAP, group="parallel", because="fast_ops.tensor_map: 'each loop over elements runs in parallel, over `prange`'"
)
def test_map_loops_run_in_parallel(student):
    """Both loops, with indices and without, are shared out between the threads."""

    def observe(mg, calls_to_watch):
        from minigrad.compiling import interpreted
        from minigrad.debug import races
        from minigrad.debug.source import unwrap

        class Number(float):
            def __rmul__(self, other):
                calls.append(self)
                return other * float(self)

        class Written(np.ndarray):
            def __setitem__(self, key, value):
                if not isinstance(key, slice) or key != slice(None):  # all of out may be set to 0 at first
                    writes.append(np.size(np.asarray(self)[key]))
                    waiting.append(len(calls))
                    calls.clear()
                super().__setitem__(key, value)

        calls: list[float] = []  # of fn, since the last write
        writes: list[int] = []
        waiting: list[int] = []  # calls of fn before each write
        kernel = mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0)
        out = unwrap(kernel).__code__.co_varnames[0]
        found: list[bool | str] = []
        for out_shape, out_strides, storage, in_shape, in_strides in calls_to_watch:
            shape, strides, own_shape, own = (
                np.array(part, dtype=np.int64) for part in (out_shape, out_strides, in_shape, in_strides)
            )
            report = races(kernel, np.full(6, -77.0), shape, strides, np.array(storage), own_shape, own)
            quiet = np.full(6, -77.0)
            interpreted(kernel)(quiet, shape, strides, np.array(storage), own_shape, own)  # an error says more there
            if not any(loop.iterations > 1 for loop in report.loops):
                found.append(False)
            elif out not in report.traffic or report.traffic[out].writes < 6:
                found.append("beside")
            elif len(report.traffic[out].writers) == 1:
                found.append("one")
            else:
                alone, numbers = np.full(6, -77.0).view(Written), np.array([Number(each) for each in storage], object)
                for each in (calls, writes, waiting):
                    each.clear()
                interpreted(kernel)(alone, shape, strides, numbers, own_shape, own)  # nobody watches
                aside = sum(writes) > report.traffic[out].writes or max(waiting) >= 6
                same = np.array_equal(alone, report.args[0]) and np.array_equal(alone, quiet)
                found.append("beside" if aside else same or "something else while it is watched")
        return found

    expect(
        student(observe, [OF_MAP["agree"], OF_MAP["strides"]]),
        [True, True],
        hint="the first is the loop where layouts agree, the second the one with indices: a range in place of a prange?",
        misconception="loop-is-not-parallel",
        when={
            ("beside", "beside"): ("work-beside-the-parallel-loop", BESIDE),
            ("one", "one"): ("all-in-one-iteration", ONE),
        },
    )


@pytest.mark.exercise(
    MAP,
    group="parallel",
    because="fast_ops.tensor_map: 'An array that an iteration writes into belongs to that iteration alone'",
)
def test_map_iterations_do_not_meet(student):
    """No iteration touches what another one writes."""

    def observe(mg, calls_to_watch):
        from minigrad.debug import races

        kernel = mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0)
        found = []
        for out_shape, out_strides, storage, *own in calls_to_watch:
            shape, strides, *own = (np.array(part, dtype=np.int64) for part in (out_shape, out_strides, *own))
            found += races(kernel, np.full(6, -77.0), shape, strides, np.array(storage), *own).meetings()
        return found

    found = student(observe, [OF_MAP["agree"], OF_MAP["strides"]])
    expect(
        kinds_of(found),
        [],
        hint=BUFFER,
        picture=lambda: pictures.collisions(found),
        misconception="hoisted-index-buffer",
        when={("loop variable",): ("loop-variable-modified", LOOP_VARIABLE)},
    )


@pytest.mark.exercise(
    MAP,
    group="parallel",
    because="fast_ops.tensor_map: 'An array that an iteration writes into belongs to that iteration alone'",
)
def test_map_iterations_do_not_meet_where_broadcast(student):
    """Nor does one where an input is smaller than the output."""

    def observe(mg, out_shape, out_strides, storage, in_shape, in_strides):
        from minigrad.debug import races

        parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, in_shape, in_strides)]
        kernel = mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0)
        return races(kernel, np.full(6, -77.0), *parts[:2], np.array(storage), *parts[2:]).meetings()

    found = student(observe, *OF_MAP["shapes"])
    expect(
        kinds_of(found),
        [],
        hint=BUFFER,
        picture=lambda: pictures.collisions(found),
        misconception="hoisted-where-broadcast",
        when={("loop variable",): ("loop-variable-modified", LOOP_VARIABLE)},
    )


@pytest.mark.exercise(MAP, group="parallel", because="fast_ops.tensor_map: 'compiled by `njit(parallel=True)`'")
def test_map_compiled(student):
    """Compiled and run in parallel, the kernel gives the same."""

    def observe(mg, out_shape, out_strides, storage, in_shape, in_strides):
        from minigrad.compiling import compile_kernel, interpreted
        from minigrad.machine._numba import numba

        numba.set_num_threads(1)  # compiled in parallel, run by one thread: a race is not left to chance

        out, alone, storage = np.full(6, -77.0), np.full(6, -77.0), np.array(storage)
        parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, in_shape, in_strides)]
        kernel = mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0)
        interpreted(kernel)(alone, *parts[:2], storage, *parts[2:])
        try:
            compile_kernel(kernel)(out, *parts[:2], storage, *parts[2:])
        except mg.errors.KernelError as error:
            return str(error), alone.tolist()
        return out.tolist(), alone.tolist()

    compiled, in_python = student(observe, *OF_MAP["strides"])
    expect_compiled(compiled, in_python, {10.0 * i + 1.0 for i in range(6)})


@pytest.mark.exercise(
    MAP, group="aligned", because="fast_ops.tensor_map: 'it runs over the storages without any indices'"
)
def test_map_skips_indices_where_layouts_agree(student):
    """Where the layouts agree, shape and strides are not looked at for every element."""

    def observe(mg):
        from minigrad.compiling import interpreted

        class Counted(np.ndarray):
            def __getattribute__(self, name):
                if name not in ("shape", "size", "ndim", "dtype"):
                    reads.append(name)
                return super().__getattribute__(name)

            def __getitem__(self, key):
                reads.append(key)
                return super().__getitem__(key)

            def __iter__(self):
                reads.append("all")
                return super().__iter__()

            def __array_ufunc__(self, function, method, *inputs, **options):  # type: ignore[override]
                reads.append("all")
                return getattr(function, method)(*map(np.asarray, inputs), **options)

            def __array_function__(self, function, kinds, args, options):
                reads.append("all")
                return super().__array_function__(function, kinds, args, options)

        counts = []
        for columns in (2, 50):
            reads: list[object] = []
            shape, strides = (np.array(part, dtype=np.int64).view(Counted) for part in ([3, columns], [columns, 1]))
            kernel, out = interpreted(mg.fast_ops.tensor_map(lambda x: 10.0 * x + 1.0)), np.zeros(3 * columns)
            kernel(out, shape, strides, np.arange(3.0 * columns), shape, strides)
            counts.append(len(reads))
        return counts[1] - counts[0], out.tolist()

    more, out = student(observe)
    expect(
        more,
        0,
        hint="this many more reads of shapes and strides for 144 more elements: compare the layouts before the loop, "
        "and then set out[i] to fn(in_storage[i])",
        misconception="no-aligned-path",
    )
    expect(out, [10.0 * i + 1.0 for i in range(150)], hint="each element of out is fn of the one at its place")


# --- tensor_reduce ------------------------------------------------------------------------------------------


@pytest.mark.exercise(REDUCE, group="values", because="fast_ops.tensor_reduce: 'holds the start value'")
def test_reduce_starts_from_out(student):
    """The fold starts from what out holds, and takes every element once."""
    expect(
        student(run_reduce, 64.0, [2, 1], [1, 1], SIX, [2, 3], [3, 1], 1),
        [fold(64.0, 0.0, 1.0, 2.0), fold(64.0, 3.0, 4.0, 5.0)],
        hint="out holds the start value: fold the elements into it, each of them once",
        misconception="start-value-ignored",
        when={
            (fold(0.0, 0.0, 1.0, 2.0), fold(0.0, 3.0, 4.0, 5.0)): (
                "start-taken-for-zero",
                "0 is the start of a sum; others start from something else",
            ),
        },
    )


@pytest.mark.exercise(
    REDUCE,
    group="values",
    because="fast_ops.tensor_reduce: 'from the first to the last, the result so far as the first argument of fn'",
)
def test_reduce_keeps_the_order(student):
    """The elements are folded in from the first to the last."""
    expect(
        student(run_reduce, 0.0, [1], [1], [8.0, 4.0, 2.0], [3], [1], 0),
        [fold(0.0, 8.0, 4.0, 2.0)],
        hint="fn(fn(fn(start, first), second), third)",
        misconception="folded-from-the-end",
    )


@pytest.mark.exercise(
    REDUCE, group="values", because="fast_ops.tensor_reduce: 'out has size 1 in the dimension reduce_dim'"
)
def test_reduce_of_the_chosen_axis(student):
    """Only the axis reduce_dim is folded, here the middle one of three."""
    expect(
        student(run_reduce, 0.0, *OF_REDUCE),
        [fold(0.0, SQUARES[6 * i + k], SQUARES[6 * i + 3 + k]) for i in range(2) for k in range(3)],
        hint="a step along the axis reduce_dim moves by a_strides[reduce_dim]",
        misconception="step-of-one",
    )


@pytest.mark.exercise(REDUCE, group="values", because="fast_ops.tensor_reduce: 'all strides are possible'")
def test_reduce_of_any_layout(student):
    """The elements are found by the strides of a, the results written where those of out say."""
    storage = [float(i) for i in range(9)]
    sums = [[fold(0.0, *(storage[i + 2 * j + 4 * k] for k in range(2))) for j in range(2)] for i in range(2)]
    expect(
        student(run_reduce, 0.0, [2, 2, 1], [1, 2, 4], storage, [2, 2, 2], [1, 2, 4], 2),
        [sums[0][0], sums[1][0], sums[0][1], sums[1][1]],
        hint="positions come from an index and strides, in a as in out",
        misconception="position-is-not-ordinal",
    )


@pytest.mark.exercise(REDUCE, group="empty", because="fast_ops.tensor_reduce: 'does the same as in lesson 05'")
def test_reduce_of_nothing(student):
    """Folding an axis of size 0 leaves the start value, and folding another axis does not."""

    def sums(mg, storage):
        from minigrad.compiling import interpreted

        out = np.zeros(2)
        kernel = interpreted(mg.fast_ops.tensor_reduce(lambda result, element: result + element))
        kernel(out, np.array([2, 1]), np.array([1, 0]), np.array(storage), np.array([2, 2]), np.array([2, 1]), 1)
        return out.tolist()

    expect(
        [student(run_reduce, 3.0, [2, 1], [1, 1], [], [2, 0], [1, 1], 1), student(sums, [0.0, 5.0, 0.0, 7.0])],
        [[3.0, 3.0], [5.0, 7.0]],
        hint="without elements there is nothing to fold in, and none to begin with",
        misconception="empty-axis-breaks",
    )


@pytest.mark.exercise(
    REDUCE,
    group="parallel",
    because="fast_ops.tensor_reduce: 'the main loop, over the elements of out, runs in parallel, over `prange`'",
)
def test_reduce_loop_runs_in_parallel(student):
    """The loop over the elements of out is shared out between the threads."""

    def observe(mg, out_shape, out_strides, storage, a_shape, a_strides, dim):
        from minigrad.compiling import interpreted
        from minigrad.debug import races
        from minigrad.debug.source import unwrap

        class Number(float):
            def __radd__(self, other):
                calls.append(self)
                return other + float(self)

        class Written(np.ndarray):
            def __setitem__(self, key, value):
                if not isinstance(key, slice) or key != slice(None):  # all of out may be set to 0 at first
                    writes.append(np.size(np.asarray(self)[key]))
                    waiting.append(len(calls))
                    calls.clear()
                super().__setitem__(key, value)

        calls: list[float] = []  # of fn, since the last write
        writes: list[int] = []
        waiting: list[int] = []  # calls of fn before each write
        numbers = np.array([Number(each) for each in storage], dtype=object)
        parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
        kernel = mg.fast_ops.tensor_reduce(lambda result, element: result / 2.0 + element + 1.0)
        report = races(kernel, np.zeros(6), *parts[:2], np.array(storage), *parts[2:], dim)
        quiet = np.zeros(6)
        interpreted(kernel)(quiet, *parts[:2], np.array(storage), *parts[2:], dim)  # an error says more there
        out = unwrap(kernel).__code__.co_varnames[0]
        most = max((loop.iterations for loop in report.loops), default=0)
        if most and (out not in report.traffic or not report.traffic[out].writes):
            return "beside"
        if most and len(report.traffic[out].writers) == 1:
            return "one"
        alone = np.zeros(6).view(Written)
        interpreted(kernel)(alone, *parts[:2], numbers, *parts[2:], dim)  # nobody watches
        if most and (sum(writes) > report.traffic[out].writes or max(waiting) >= 12):
            return "beside"
        same = np.array_equal(alone, report.args[0]) and np.array_equal(alone, quiet)
        return most if same else "something else while it is watched"

    expect(
        student(observe, *OF_REDUCE),
        6,
        hint="this many iterations of the loop over prange for six elements of out, and 0 if there is no such loop",
        misconception="loop-is-not-parallel",
        when={"beside": ("work-beside-the-parallel-loop", BESIDE), "one": ("all-in-one-iteration", ONE)},
    )


@pytest.mark.exercise(
    REDUCE,
    group="parallel",
    because="fast_ops.tensor_reduce: 'An array that an iteration writes into belongs to that iteration alone'",
)
def test_reduce_iterations_do_not_meet(student):
    """No iteration touches what another one writes."""

    def observe(mg, out_shape, out_strides, storage, a_shape, a_strides, dim):
        from minigrad.debug import races

        parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
        kernel = mg.fast_ops.tensor_reduce(lambda result, element: result / 2.0 + element + 1.0)
        return races(kernel, np.zeros(6), *parts[:2], np.array(storage), *parts[2:], dim).meetings()

    found = student(observe, *OF_REDUCE)
    expect(
        kinds_of(found),
        [],
        hint=BUFFER,
        picture=lambda: pictures.collisions(found),
        misconception="hoisted-index-buffer",
        when={("loop variable",): ("loop-variable-modified", LOOP_VARIABLE)},
    )


@pytest.mark.exercise(REDUCE, group="parallel", because="fast_ops.tensor_reduce: 'compiled by `njit(parallel=True)`'")
def test_reduce_compiled(student):
    """Compiled and run in parallel, the kernel gives the same."""

    def observe(mg, out_shape, out_strides, storage, a_shape, a_strides, dim):
        from minigrad.compiling import compile_kernel, interpreted
        from minigrad.machine._numba import numba

        numba.set_num_threads(1)  # compiled in parallel, run by one thread: a race is not left to chance

        out, alone = np.zeros(6), np.zeros(6)
        parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
        kernel = mg.fast_ops.tensor_reduce(lambda result, element: result / 2.0 + element + 1.0)
        interpreted(kernel)(alone, *parts[:2], np.array(storage), *parts[2:], dim)
        try:
            compile_kernel(kernel)(out, *parts[:2], np.array(storage), *parts[2:], dim)
        except mg.errors.KernelError as error:
            return str(error), alone.tolist()
        return out.tolist(), alone.tolist()

    compiled, in_python = student(observe, *OF_REDUCE)
    # Whichever two are folded: the start, the order and the axis are not what is tested here.
    expect_compiled(compiled, in_python, {fold(0.0, a, b) for a in SQUARES for b in SQUARES})


# --- _tensor_matrix_multiply --------------------------------------------------------------------------------

MATRIX = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
OTHER = [7.0, -1.0, 4.0, 10.0, 3.0, 2.0]


@pytest.mark.exercise(
    MATMUL,
    group="values",
    because="fast_ops._tensor_matrix_multiply: 'What it holds before means nothing; every element is written.'",
)
def test_matmul_of_two_matrices(student):
    """A matrix of 2 by 3 times one of 3 by 2: rows times columns, whatever out holds before."""
    product = (np.array(MATRIX).reshape(2, 3) @ np.array(OTHER).reshape(3, 2)).ravel()
    expect(
        student(run_matmul, [1, 2, 2], [4, 2, 1], MATRIX, [1, 2, 3], [6, 3, 1], OTHER, [1, 3, 2], [6, 2, 1]),
        product.tolist(),
        hint="out[i, j] is the sum over k of a[i, k] * b[k, j]",
        misconception="not-rows-times-columns",
        when={
            tuple((product - 77.0).tolist()): (
                "added-to-what-was-there",
                "each of these is what out held before plus the product: out may hold anything when the kernel begins",
            ),
        },
    )


@pytest.mark.exercise(
    MATMUL, group="values", because="fast_ops._tensor_matrix_multiply: 'out[n] = a[n] @ b[n] for every n'"
)
def test_matmul_of_a_batch(student):
    """Each matrix of a batch is multiplied by its own partner."""
    a, b = (np.array(OF_MATMUL[k]).reshape(3, 2, 2) for k in (2, 5))
    expect(
        student(run_matmul, *OF_MATMUL),
        (a @ b).ravel().tolist(),
        hint="a step along the batch moves by the first stride, in each of the three",
        misconception="batch-stride-forgotten",
    )


@pytest.mark.exercise(
    MATMUL,
    group="values",
    because="fast_ops._tensor_matrix_multiply: 'Where a or b has a batch of size 1, its one matrix is used for every n.'",
)
def test_matmul_with_one_matrix_for_all(student):
    """A batch of size 1 is used for every n: in a, then in b."""

    def observe(mg):
        from minigrad.compiling import interpreted

        found = []
        many, one = np.arange(8.0), np.append(np.arange(4.0), [900.0] * 4)
        shape, single = (np.array(part, dtype=np.int64) for part in ([2, 2, 2], [1, 2, 2]))
        strides = np.array([4, 2, 1], dtype=np.int64)
        for a, a_shape, b, b_shape in ((one, single, many, shape), (many, shape, one, single)):
            out = np.zeros(8)
            kernel = interpreted(mg.fast_ops._tensor_matrix_multiply)
            try:
                kernel(out, shape, strides, a, a_shape, strides, b, b_shape, strides)
            except IndexError:
                return "IndexError"
            found.append(out.tolist())
        return found

    many, one = np.arange(8.0).reshape(2, 2, 2), np.arange(4.0).reshape(1, 2, 2)
    expect(
        student(observe),
        [(one @ many).ravel().tolist(), (many @ one).ravel().tolist()],
        hint="where the batch has size 1, a step along it moves by 0, not by the stride",
        misconception="batch-of-one-not-repeated",
    )


@pytest.mark.exercise(
    MATMUL,
    group="values",
    because="fast_ops._tensor_matrix_multiply: 'All three have three dimensions and any strides.'",
)
def test_matmul_of_transposed_matrices(student):
    """Elements are found by strides, as in transposed views with gaps; the output may be transposed as well."""
    storage = [float(7 * i % 31) for i in range(60)]
    a, b = (storage, [2, 2, 4], [25, 1, 5]), (storage, [2, 4, 3], [4, 11, 3])
    # out[n, i, j] at n + 6 i + 2 j.
    wanted = (viewed(*a) @ viewed(*b)).transpose(1, 2, 0).ravel()
    expect(
        student(run_matmul, [2, 2, 3], [1, 6, 2], *a, *b),
        wanted.tolist(),
        hint="a[i, k] stands at i * a_strides[1] + k * a_strides[2], and so on for b and out",
        misconception="taken-for-contiguous",
    )


@pytest.mark.exercise(
    MATMUL, group="empty", because="fast_ops._tensor_matrix_multiply: 'inner may be 0, and the sum is then 0'"
)
def test_matmul_over_nothing(student):
    """Where the inner size is 0, every element of out is 0; where it is 1, out is a product of two numbers."""
    one = [1, 1, 1]
    expect(
        [
            student(run_matmul, [1, 2, 2], [4, 2, 1], [], [1, 2, 0], [1, 1, 1], [], [1, 0, 2], [1, 2, 1]),
            student(run_matmul, one, one, [3.0], one, one, [5.0], one, one),
        ],
        [[0.0] * 4, [15.0]],
        hint="the sum of no products is 0, and out must hold it",
        misconception="starts-from-the-first-product",
    )


@pytest.mark.exercise(
    MATMUL,
    group="parallel",
    because="fast_ops._tensor_matrix_multiply: 'a loop around the sums runs in parallel, over `prange`'",
)
def test_matmul_loop_runs_in_parallel(student):
    """A loop around the sums is shared out between the threads."""

    def observe(mg, out_shape, out_strides, a, a_shape, a_strides, b, b_shape, b_strides):
        from minigrad.compiling import interpreted
        from minigrad.debug import races
        from minigrad.debug.source import unwrap

        class Number(float):
            def __mul__(self, other):
                products.append(self)
                return float(self) * float(other)

            __rmul__ = __mul__

        class Written(np.ndarray):
            def __setitem__(self, key, value):
                if not isinstance(key, slice) or key != slice(None):  # all of out may be set to 0 at first
                    writes.append(np.size(np.asarray(self)[key]))
                    waiting.append(len(products))
                    products.clear()
                super().__setitem__(key, value)

        products: list[float] = []  # since the last write
        writes: list[int] = []
        waiting: list[int] = []  # products before each write
        given = (out_shape, out_strides, a_shape, a_strides, b_shape, b_strides)
        parts = [np.array(part, dtype=np.int64) for part in given]
        kernel = mg.fast_ops._tensor_matrix_multiply
        call = [*parts[:2], np.array(a), *parts[2:4], np.array(b), *parts[4:]]
        report = races(kernel, np.full(18, -77.0), *call)
        quiet = np.full(18, -77.0)
        interpreted(kernel)(quiet, *call)  # an error says more there
        out = unwrap(kernel).__code__.co_varnames[0]
        if not any(loop.iterations >= 3 for loop in report.loops):
            return False
        if out not in report.traffic or report.traffic[out].writes < 18:
            return "beside"
        if len(report.traffic[out].writers) == 1:
            return "one"
        alone, call[2] = np.full(18, -77.0).view(Written), np.array([Number(each) for each in a], dtype=object)
        interpreted(kernel)(alone, *call)  # nobody watches
        if sum(writes) > report.traffic[out].writes or max(waiting) >= 36:
            return "beside"
        same = np.array_equal(alone, report.args[0]) and np.array_equal(alone, quiet)
        return same or "something else while it is watched"

    expect(
        student(observe, *TALL),
        True,
        hint="over the batch, the rows, or all elements of out: one of these loops is a prange, best the outermost",
        misconception="loop-is-not-parallel",
        when={"beside": ("work-beside-the-parallel-loop", BESIDE), "one": ("all-in-one-iteration", ONE)},
    )


@pytest.mark.exercise(
    MATMUL,
    group="parallel",
    because="fast_ops._tensor_matrix_multiply: 'a loop around the sums runs in parallel, over `prange`'",
)
def test_matmul_iterations_do_not_meet(student):
    """No iteration touches what another one writes."""

    def observe(mg, out_shape, out_strides, a, a_shape, a_strides, b, b_shape, b_strides):
        from minigrad.debug import races

        given = (out_shape, out_strides, a_shape, a_strides, b_shape, b_strides)
        parts = [np.array(part, dtype=np.int64) for part in given]
        call = (*parts[:2], np.array(a), *parts[2:4], np.array(b), *parts[4:])
        return races(mg.fast_ops._tensor_matrix_multiply, np.full(12, -77.0), *call).meetings()

    found = student(observe, *OF_MATMUL)
    expect(
        kinds_of(found),
        [],
        hint="two iterations of the parallel loop write to the same place, and may do so at the same time; "
        "a sum belongs to one iteration alone: keep it in a variable that the iteration sets to 0",
        misconception="sum-shared-by-iterations",
        picture=lambda: pictures.collisions(found),
        when={("loop variable",): ("loop-variable-modified", LOOP_VARIABLE)},
    )


@pytest.mark.exercise(
    MATMUL, group="parallel", because="fast_ops._tensor_matrix_multiply: 'Multiply a batch of matrices in parallel'"
)
def test_matmul_compiled(student):
    """Compiled and run in parallel, the kernel gives the same."""

    def observe(mg, out_shape, out_strides, a, a_shape, a_strides, b, b_shape, b_strides):
        from minigrad.compiling import compile_kernel, interpreted
        from minigrad.machine._numba import numba

        numba.set_num_threads(1)  # compiled in parallel, run by one thread: a race is not left to chance

        out, alone = np.full(12, -77.0), np.full(12, -77.0)
        given = (out_shape, out_strides, a_shape, a_strides, b_shape, b_strides)
        parts = [np.array(part, dtype=np.int64) for part in given]
        call = (*parts[:2], np.array(a), *parts[2:4], np.array(b), *parts[4:])
        interpreted(mg.fast_ops._tensor_matrix_multiply)(alone, *call)
        try:
            compile_kernel(mg.fast_ops._tensor_matrix_multiply)(out, *call)
        except mg.errors.KernelError as error:
            return str(error), alone.tolist()
        return out.tolist(), alone.tolist()

    compiled, in_python = student(observe, *OF_MATMUL)
    a, b = (np.array(OF_MATMUL[k]).reshape(3, 2, 2) for k in (2, 5))
    turned = [(left, right) for left in (a, a.transpose(0, 2, 1)) for right in (b, b.transpose(0, 2, 1))]
    wanted = {each for left, right in turned for each in (left @ right).ravel().tolist()}  # rows and columns aside
    expect_compiled(compiled, in_python, wanted)


@pytest.mark.exercise(
    MATMUL,
    group="inner",
    because="fast_ops._tensor_matrix_multiply: 'multiplies once and writes to a local variable only'",
)
def test_matmul_writes_after_the_inner_loop(student):
    """However many products are summed, out is written equally often."""

    def observe(mg):
        from minigrad.compiling import interpreted

        class Counted(np.ndarray):
            def __setitem__(self, key, value):
                writes.append(key)
                super().__setitem__(key, value)

        counts = []
        for inner in (2, 7):
            writes: list[object] = []
            shapes = [np.array(part, dtype=np.int64) for part in ([1, 2, 2], [4, 2, 1], [1, 2, inner], [0, inner, 1])]
            b_shape, b_strides = np.array([1, inner, 2], dtype=np.int64), np.array([0, 2, 1], dtype=np.int64)
            numbers = np.arange(2.0 * inner)
            kernel = interpreted(mg.fast_ops._tensor_matrix_multiply)
            out = np.zeros(4).view(Counted)
            kernel(out, *shapes[:2], numbers, *shapes[2:], numbers, b_shape, b_strides)
            counts.append(len(writes))
        return counts[1] - counts[0], out.tolist()

    more, out = student(observe)
    expect(
        more,
        0,
        hint="this many more writes to out for 20 more products: sum in a local variable, and write it once",
        misconception="writes-in-the-inner-loop",
    )
    numbers = np.arange(14.0)
    expect(out, (numbers.reshape(2, 7) @ numbers.reshape(7, 2)).ravel().tolist(), hint="out holds the product")
