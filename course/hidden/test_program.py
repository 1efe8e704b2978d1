"""Hidden tests of functions that become programs: recording, keeping, simplifying."""

import functools

import numpy as np
import pytest

from autograder import expect

trace = functools.partial(pytest.mark.exercise, "program.trace")
jit = functools.partial(pytest.mark.exercise, "program.jit")
simplify = functools.partial(pytest.mark.exercise, "program.simplify")
backward = functools.partial(pytest.mark.exercise, "program.backward")

EXACT = "program.fold: 'For every input, nan, infinity and -0.0 included, the outputs stay the same to the last bit.'"


# --- program.trace ------------------------------------------------------------------------------------------


@trace(group="recording", because="program.Recorder: 'equations: What was done, in order.'")
def test_equations_in_order(student):
    """Operations are written down in the order in which they were done."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: mg.symbols.tanh(x * 2.0 + 1.0) / x, x)
        return [each.op for each in program.equations]

    expect(
        student(observe, np.zeros(3, np.float32)),
        ["mul", "add", "tanh", "div"],
        hint="append each equation to self.equations",
        misconception="order-turned",
    )


@trace(group="recording", because="program.Recorder.apply: '`result_of` knows its shape and type.'")
def test_shapes_and_types(student):
    """A result has its own shape and type, which may be those of no operand."""

    def observe(mg, x, y):
        program = mg.program.trace(lambda x, y: (x < y, x @ y.T, x.sum()), x, y)
        return [each.output.type for each in program.equations]

    expect(
        student(observe, np.zeros((2, 3), np.float32), np.zeros((1, 3))),
        ["bool[2,3]", "float64[3,1]", "float64[2,1]", "float32[]"],
        hint="result_of(op, *given, **options) is the variable of the result",
        misconception="type-of-the-first-operand",
    )


@trace(group="recording", because="program.Recorder.apply: 'Write down an equation'")
def test_options(student):
    """An equation keeps the options of its operation: along which axis a sum goes."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: x.sum(axis=1) * 2.0, x)
        return [dict(program.equations[0].options), program.equations[1].output.type]

    expect(
        student(observe, np.zeros((2, 3), np.float32)),
        [{"axis": 1, "keepdims": False}, "float32[2]"],
        hint="hand the options to the equation too",
        misconception="options-lost",
    )


@trace(group="recording", because="program.trace: 'Its outputs are what f returned.'")
def test_several_outputs(student):
    """A function may return several results, numbers among them."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: (x * 2.0, 3.0, x), x)
        return [y.tolist() if hasattr(y, "tolist") else y for y in program.run(x)]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[2.0, 4.0], 3.0, [1.0, 2.0]],
        hint="a tuple of results is several outputs, anything else is one",
        misconception="first-output-alone",
    )


@trace(group="recording", because="program.trace: 'Anything else is handed to f as it is.'")
def test_arguments_that_are_no_arrays(student):
    """A number or a text among the arguments reaches the function as it is, and is no input."""

    def observe(mg, x):
        def f(x, times, mode):
            for _ in range(times):
                x = x * 2.0 if mode == "grow" else x / 2.0
            return x

        try:
            program = mg.program.trace(f, x, 3, "grow")
        except (TypeError, ValueError) as error:
            return type(error).__name__
        return [len(program.inputs), [each.op for each in program.equations]]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [1, ["mul", "mul", "mul"]],
        hint="is_array(x) tells which arguments become symbols",
        misconception="numbers-are-inputs",
    )


@trace(group="constants", because="program.Recorder.operand: 'the same one each time for the same array object'")
def test_one_constant_for_one_array(student):
    """An array that is used twice is one constant, and two arrays are two."""

    def observe(mg, x):
        weights = np.array([1.0, 2.0])
        other = weights * 10.0
        program = mg.program.trace(lambda x: (x * weights + other) * weights - other, x)
        return [len(program.constants), program.run(x)[0].tolist(), [len(each.reads()) for each in program.equations]]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [2, [1.0, 28.0], [2, 2, 2, 2]],
        hint="self.captured keeps the arrays that were met: compare with `is`",
        misconception="captured-twice",
    )


@trace(group="constants", because="program.Recorder.operand: 'the constant is a copy'")
def test_constants_are_copies(student):
    """What happens to a captured array later does not change the program."""

    def observe(mg, x):
        weights = np.array([1.0, 2.0])
        program = mg.program.trace(lambda x: x * weights, x)
        weights[0] = 100.0
        return program.run(x)[0].tolist()

    expect(
        student(observe, np.array([3.0, 3.0])),
        [3.0, 6.0],
        hint="np.array(x) is a copy of x",
        misconception="constant-not-copied",
    )


@trace(group="constants", because="program.Recorder.operand: 'a variable among the constants'")
def test_outputs_that_are_constants(student):
    """A function may return an array that it has captured: that is a constant as well."""

    def observe(mg, x):
        weights = np.array([1.0, 2.0])
        program = mg.program.trace(lambda x: (x, weights), x)
        try:
            return program.run(x)[1].tolist()
        except KeyError:
            return "KeyError"

    expect(
        student(observe, np.zeros(2)),
        [1.0, 2.0],
        hint="outputs are operands too: ask for them before the constants are collected",
        misconception="constants-too-early",
    )


@trace(group="refusal", because="program.Recorder.refuse: 'Raise a TypeError of one sentence'")
def test_an_if(student):
    """An `if` that depends on elements is refused, and the sentence says what to use instead."""

    def observe(mg, x):
        def absolute(x):
            return x if x.sum() > 0.0 else -x

        try:
            mg.program.trace(absolute, x)
        except Exception as error:
            return [type(error).__name__, "where" in str(error)]
        return ["no error", False]

    expect(
        student(observe, np.zeros(2)),
        ["TypeError", True],
        hint="raise TypeError(...), with the name of the function `where` in the sentence",
        misconception="every-symbol-is-true",
        when={("TypeError", False): ("no-way-out", "the sentence should name `where`")},
    )


@trace(group="special", because="program.Recorder.operand: 'An array (`is_array`): a variable among the constants'")
def test_numbers_of_numpy(student):
    """A float64 of NumPy is a Python float as well; but it has a type of its own, and makes a float32 array float64."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: x * np.float64(0.1), x)
        return [len(program.constants), program.equations[0].output.type]

    expect(
        student(observe, np.ones(2, np.float32)),
        [1, "float32[2]" if (np.ones(2, np.float32) * np.float64(0.1)).dtype == np.float32 else "float64[2]"],
        hint="ask is_array first: np.float64 is a subclass of float",
        misconception="numpy-numbers-as-floats",
    )


@trace(group="refusal", because="program.Recorder.operand: 'TypeError: For anything else.'")
def test_other_values(student):
    """A list or None is no operand: nothing is written down for it in silence."""

    def observe(mg, x):
        found = []
        for result in ([1.0], None, "x"):
            try:
                mg.program.trace(lambda x, result=result: (x * 2.0, result), x)
            except Exception as error:
                found.append(type(error).__name__)
            else:
                found.append("no error")
        return [found, mg.program.trace(lambda x: (x, True, 2, 3.0), x).run(x)[1:] == (True, 2, 3.0)]

    expect(
        student(observe, np.zeros(2)),
        [["TypeError"] * 3, True],
        hint="what is no symbol, no array, and no number is a TypeError",
        misconception="anything-is-a-number",
    )


@trace(group="special", because="program.Recorder.operand: 'For a symbol of another recorder'")
def test_symbols_of_another_recording(student):
    """A symbol that was kept from an earlier recording is refused."""

    def observe(mg, x):
        kept = []

        def f(x):
            kept.append(x)
            return x + kept[0]

        mg.program.trace(f, x)
        try:
            mg.program.trace(f, x)
        except Exception as error:
            return type(error).__name__
        return "no error"

    expect(
        student(observe, np.zeros(2)),
        "ValueError",
        hint="compare x.recorder with self",
        misconception="foreign-symbol-taken",
    )


# --- program.jit --------------------------------------------------------------------------------------------


@jit(group="calls", because="program.Jitted: 'A function that is recorded once for each kind of its arguments.'")
def test_recorded_once(student):
    """The function itself runs at the first call only, and the program has the elements of each call."""

    def observe(mg, x, y):
        calls = []

        def f(x):
            calls.append(1)
            return x * 2.0

        quick = mg.program.Jitted(f)
        return [quick(x).tolist(), quick(y).tolist(), quick(x).tolist(), len(calls)]

    expect(
        student(observe, np.array([1.0, 2.0]), np.array([3.0, 4.0])),
        [[2.0, 4.0], [6.0, 8.0], [2.0, 4.0], 1],
        hint="put what was built into self.kept, under the key",
        misconception="recorded-each-time",
    )


@jit(group="calls", because="program.Jitted: 'Calls that found their program.'")
def test_counts(student):
    """Hits are calls that found a program, misses those that recorded one."""

    def observe(mg, x):
        quick = mg.program.Jitted(lambda x: x * 2.0)
        for _ in range(4):  # arguments of one kind: what makes two kinds is a question to `spec`
            quick(x)
        return [quick.hits, quick.misses, len(quick.kept)]

    expect(
        student(observe, np.zeros(2)),
        [3, 1, 1],
        hint="a hit is a key that is in self.kept already",
        misconception="counts-turned-round",
    )


@jit(group="calls", because="program.Jitted.__call__: 'The output alone if the program has one'")
def test_one_output_or_several(student):
    """One result comes alone, several as a tuple."""

    def observe(mg, x):
        one = mg.program.Jitted(lambda x: -x)(x)
        two = mg.program.Jitted(lambda x: (-x, x + 1.0))(x)
        return [type(one).__name__, type(two).__name__, len(two)]

    expect(
        student(observe, np.zeros(3)),
        ["ndarray", "tuple", 2],
        hint="a program returns a tuple: take the only element out of a tuple of one",
        misconception="always-a-tuple",
    )


@jit(group="calls", because="program.Jitted: 'What makes of a program the function that runs it'")
def test_built(student):
    """What is kept, and called, is what `build` has made of the program."""

    def observe(mg, x):
        built = []

        def build(program):
            built.append(len(program.equations))
            return lambda *arrays: (arrays[0] * 100.0,)

        quick = mg.program.Jitted(lambda x: x * 2.0, build)
        return [quick(x).tolist(), quick(x).tolist(), built]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[100.0, 200.0], [100.0, 200.0], [1]],
        hint="self.build(trace(...))",
        misconception="never-built",
    )


@jit(group="kinds", because="program.spec: 'For an array these are its shape and its type.'")
def test_shapes(student):
    """Another shape needs another program."""

    def observe(mg, x, y):
        quick = mg.program.Jitted(lambda x: x.reshape(x.shape[0] * x.shape[1]))
        quick(x)
        try:
            return [quick(y).tolist(), quick.misses]
        except ValueError:
            return "ValueError"

    expect(
        student(observe, np.zeros((2, 3)), np.ones((2, 1))),
        [[1.0, 1.0], 2],
        hint="x.shape belongs to the spec",
        misconception="shape-ignored",
    )


@jit(group="kinds", because="program.spec: 'For an array these are its shape and its type.'")
def test_types(student):
    """Another type needs another program."""

    def observe(mg, x, y):
        quick = mg.program.Jitted(lambda x: x * (1.0 if x.dtype == np.float32 else 2.0))
        return [quick(x).tolist(), quick(y).tolist(), quick.misses]

    expect(
        student(observe, np.ones(2, np.float32), np.ones(2)),
        [[1.0, 1.0], [2.0, 2.0], 2],
        hint="x.dtype belongs to the spec",
        misconception="type-ignored",
    )


@jit(group="kinds", because="program.spec: 'Anything else counts as it is: its value'")
def test_values(student):
    """Another number needs another program: the number stands in the equations."""

    def observe(mg, x):
        quick = mg.program.Jitted(lambda x, n, mode: x * n if mode == "times" else x / n)
        found = [quick(x, n, mode).tolist() for n, mode in ((2.0, "times"), (4.0, "times"), (2.0, "over"))]
        return [found, quick.misses]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[[2.0, 4.0], [4.0, 8.0], [0.5, 1.0]], 3],
        hint="what is no array belongs to the key with its value",
        misconception="value-ignored",
    )


@jit(group="kinds", because="program.spec: 'since 1, 1.0 and True are equal'")
def test_equal_numbers_of_different_types(student):
    """1 and 1.0 are equal, and make different programs: an array of integers times them has different types."""

    def observe(mg, x):
        quick = mg.program.Jitted(lambda x, n: x * n)
        return [str(quick(x, n).dtype) for n in (1, 1.0)]

    expect(
        student(observe, np.array([1, 2], np.int64)),
        ["int64", "float64"],
        hint="repr(1) and repr(1.0) differ",
        misconception="equal-numbers-are-one",
    )


@jit(group="special", because="program.spec: '0.0 equals -0.0'")
def test_negative_zero(student):
    """0.0 and -0.0 are equal, and divide differently."""

    def observe(mg, x):
        quick = mg.program.Jitted(lambda x, n: x / n)
        return [quick(x, n).tolist() for n in (0.0, -0.0)]

    expect(
        student(observe, np.array([1.0])),
        [[float("inf")], [float("-inf")]],
        hint="repr(-0.0) is '-0.0'",
        misconception="zeros-are-one",
    )


# --- program.simplify ---------------------------------------------------------------------------------------


@simplify(group="fold", because="program.fold: 'its result is a constant from now on, for the equations behind it too'")
def test_constants_computed(student):
    """What depends on constants alone is computed before the program runs, also in several steps."""

    def observe(mg, x, w):
        program = mg.program.trace(lambda x, w: x * mg.symbols.exp(w * 2.0) + w.sum(), x, w)
        small = mg.program.fold(mg.program.bind(program, 1, w))
        return [[each.op for each in small.equations], small.run(x)[0].tolist()]

    x, w = np.array([1.0, 2.0]), np.array([0.5, -0.5])
    expect(
        student(observe, x, w),
        [["mul", "add"], (x * np.exp(w * 2.0) + w.sum()).tolist()],
        hint="put each result into the known ones, so that the next equation finds it",
        misconception="one-step-only",
    )


@simplify(group="fold", because="program.fold: 'with a number of Python are x itself'")
def test_operations_that_do_nothing(student):
    """x * 1, 1 * x, x / 1 and x - 0 are x itself, one inside the other too."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: ((1.0 * (x * 1)) / 1.0 - 0.0, x * 1.0 + 2.0), x)
        small = mg.program.fold(program)
        try:
            return [[each.op for each in small.equations], [y.tolist() for y in small.run(x)]]
        except KeyError:
            return "KeyError"

    expect(
        student(observe, np.array([1.0, -2.0])),
        [["add"], [[1.0, -2.0], [3.0, 0.0]]],
        hint="remember by a dict what stands in the place of a result, and ask it for operands and outputs",
        misconception="nothing-done-twice",
    )


@simplify(group="special", because=EXACT)
def test_times_zero(student):
    """x * 0 is nan where x is infinite or nan."""

    def observe(mg, x):
        small = mg.program.fold(mg.program.trace(lambda x: (x * 0.0, 0.0 * x, x - x), x))
        return [repr(np.asarray(y) * np.ones(3)) for y in small.run(x)]

    expect(
        student(observe, np.array([1.0, np.inf, np.nan])),
        ["array([ 0., nan, nan])"] * 3,
        hint="infinity times zero is no number: leave the equation",
        misconception="times-zero-is-zero",
    )


@simplify(group="fold", because="program.fold: 'if the result has x's shape and type'")
def test_types_stay(student):
    """Integers times 1.0 are floats, and integers over 1 as well."""

    def observe(mg, x):
        small = mg.program.fold(mg.program.trace(lambda x: (x * 1.0, x / 1, x * 1), x))
        return [str(y.dtype) for y in small.run(x)]

    expect(
        student(observe, np.array([1, 2], np.int64)),
        ["float64", "float64", "int64"],
        hint="compare the dtype of x with that of the result",
        misconception="type-lost",
    )


@simplify(group="special", because=EXACT)
def test_negative_zeros(student):
    """-0.0 + 0.0 is 0.0, and -0.0 - (-0.0) as well: these equations do something."""

    def observe(mg, x):
        small = mg.program.fold(mg.program.trace(lambda x: (x + 0.0, 0.0 + x, x - -0.0, x - 0.0), x))
        return [len(small.equations), [str(np.copysign(1.0, y[0])) for y in small.run(x)]]

    expect(
        student(observe, np.array([-0.0])),
        [3, ["1.0", "1.0", "1.0", "-1.0"]],
        hint="try each rule with x = -0.0",
        misconception="minus-a-negative-zero",
        when={(1, ("-1.0", "-1.0", "1.0", "-1.0")): ("plus-zero-removed", "-0.0 + 0.0 is 0.0")},
    )


@simplify(group="fold", because="program.fold: 'of a pure operation, is computed now'")
def test_draws_are_not_constants(student):
    """Random numbers in the shape of a constant are others in each run."""

    def observe(mg, x, w):
        program = mg.program.trace(lambda x, w: x + mg.symbols.rand_like(w), x, w)
        small = mg.program.fold(mg.program.bind(program, 1, w))
        return bool((small.run(x)[0] == small.run(x)[0]).any())

    expect(
        student(observe, np.zeros(3), np.zeros(3)),
        False,
        hint="ask OPS[op].pure",
        misconception="draws-folded",
    )


@simplify(group="merge", because="program.merge: 'their operands may have become the same by merging others'")
def test_chains_merged(student):
    """Two equal chains become one, not their beginnings alone."""

    def observe(mg, x):
        def f(x):
            e = mg.symbols.exp
            return e(e(x) * 2.0) + e(e(x) * 2.0)

        small = mg.program.merge(mg.program.trace(f, x))
        return [[each.op for each in small.equations], small.run(x)[0].tolist()]

    x = np.array([0.5, -1.0])
    expect(
        student(observe, x),
        [["exp", "mul", "exp", "add"], (2.0 * np.exp(np.exp(x) * 2.0)).tolist()],
        hint="replace an equation's operands before you look for one like it",
        misconception="chains-missed",
    )


@simplify(group="merge", because="program.merge: 'the same pure operation, operands and options'")
def test_options_matter(student):
    """Sums along different axes are different."""

    def observe(mg, x):
        small = mg.program.merge(mg.program.trace(lambda x: (x.sum(axis=0), x.sum(axis=1), x.sum(axis=0)), x))
        return [len(small.equations), [y.tolist() for y in small.run(x)]]

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    expect(
        student(observe, x),
        [2, [[4.0, 6.0], [3.0, 7.0], [4.0, 6.0]]],
        hint="the options belong to the key",
        misconception="options-ignored",
    )


@simplify(group="merge", because="program.merge: 'Two random draws are never the same.'")
def test_draws_stay_apart(student):
    """Two calls of rand_like give different numbers."""

    def observe(mg, x):
        small = mg.program.merge(mg.program.trace(lambda x: mg.symbols.rand_like(x) - mg.symbols.rand_like(x), x))
        return [len(small.equations), bool((small.run(x)[0] == 0.0).any())]

    expect(
        student(observe, np.zeros(4)),
        [3, False],
        hint="ask OPS[op].pure",
        misconception="draws-merged",
    )


@simplify(group="merge", because="program.merge: 'Return the program with each common subexpression computed once.'")
def test_merged_outputs(student):
    """An output that was merged is the one that is left."""

    def observe(mg, x):
        small = mg.program.merge(mg.program.trace(lambda x: (x * 2.0, x * 2.0), x))
        try:
            return [y.tolist() for y in small.run(x)]
        except KeyError:
            return "KeyError"

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[2.0, 4.0], [2.0, 4.0]],
        hint="the outputs have to be replaced as well",
        misconception="outputs-left",
    )


@simplify(group="special", because="program.merge: 'Numbers are the same if `spec` is.'")
def test_equal_numbers(student):
    """2 and 2.0 make different results of integers, 0.0 and -0.0 of all."""

    def observe(mg, x):
        small = mg.program.merge(mg.program.trace(lambda x: (x * 2, x * 2.0, x / 0.0, x / -0.0, x * 2), x))
        return [len(small.equations), [str(y.dtype) + str(y[0]) for y in small.run(x)]]

    expect(
        student(observe, np.array([1], np.int64)),
        [4, ["int642", "float642.0", "float64inf", "float64-inf", "int642"]],
        hint="put spec(x) in the key for a number x",
        misconception="equal-numbers-merged",
    )


@simplify(group="prune", because="program.prune: 'equations and constants that no output needs'")
def test_dead_chains(student):
    """What only dead equations read is dead as well."""

    def observe(mg, x):
        def f(x):
            y = x * 2.0
            mg.symbols.exp(mg.symbols.exp(y) + x)
            return y

        return [each.op for each in mg.program.prune(mg.program.trace(f, x)).equations]

    expect(
        student(observe, np.zeros(2)),
        ["mul"],
        hint="go through the equations from the last one to the first",
        misconception="last-of-a-chain-alone",
    )


@simplify(group="prune", because="program.prune: 'All inputs stay'")
def test_inputs_stay(student):
    """An input stays that nothing needs: callers still hand it in. A constant that nothing needs goes."""

    def observe(mg, x, y, w):
        def f(x, y):
            y * w
            return x * 2.0

        small = mg.program.prune(mg.program.trace(f, x, y))
        return [len(small.inputs), len(small.constants)]

    expect(
        student(observe, np.zeros(2), np.zeros(3), np.zeros(3)),
        [2, 0],
        hint="the inputs are those of the given program",
        misconception="inputs-dropped",
        when={(2, 1): ("constants-kept", "nothing reads the constant")},
    )


@simplify(group="prune", because="program.prune: 'and so does a random draw that nobody reads'")
def test_unread_draws(student):
    """A draw that nobody reads stays, with what it needs, since the draws after it would be others."""

    def observe(mg, x):
        def f(x):
            mg.symbols.rand_like(x * 2.0)
            return mg.symbols.rand_like(x)

        return [each.op for each in mg.program.prune(mg.program.trace(f, x)).equations]

    expect(
        student(observe, np.zeros(2)),
        ["mul", "rand_like", "rand_like"],
        hint="keep an equation whose operation is not pure",
        misconception="draw-removed",
    )


# --- program.backward ---------------------------------------------------------------------------------------


@backward(group="values", because="program.backward: 'from the last to the first'")
def test_gradient_through_a_chain(student):
    """The gradient of sum(tanh(2 x) / 4) is (1 - tanh(2 x)^2) / 2."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: (mg.symbols.tanh(x * 2.0) / 4.0).sum(), x)
        return mg.program.backward(program, [0]).run(x)[1].tolist()

    x = np.array([0.5, -1.0, 0.25])
    expect(
        student(observe, x),
        (0.5 * (1.0 - np.tanh(2.0 * x) ** 2)).tolist(),
        hint="a gradient has to be there before the equations in front of it are asked",
        misconception="walked-forwards",
        tolerance=1e-12,
    )


@backward(group="values", because="program.backward: 'the gradient of the loss in each input of `wrt`, in that order'")
def test_gradients_in_the_order_of_wrt(student):
    """With wrt = [2, 0] the gradient in the third input comes first, then that in the first."""

    def observe(mg, x, y, z):
        program = mg.program.trace(lambda x, y, z: mg.symbols.exp(x) - y - mg.symbols.exp(z), x, y, z)
        return [g.tolist() for g in mg.program.backward(program, [2, 0]).run(x, y, z)[1:]]

    expect(
        student(observe, *(np.array(x) for x in (0.5, 3.0, -1.0))),
        [-np.exp(-1.0), np.exp(0.5)],
        hint="wrt holds places of inputs: go through them in their order",
        misconception="in-the-order-of-inputs",
        tolerance=1e-12,
    )


@backward(group="values", because="program.backward: 'A rule (`OPS[op].rules`) is given symbols'")
def test_a_rule_for_each_operand(student):
    """x / y has a rule for x and another one for y."""

    def observe(mg, x, y):
        program = mg.program.trace(lambda x, y: (x / y).sum(), x, y)
        return [g.tolist() for g in mg.program.backward(program, [0, 1]).run(x, y)[1:]]

    x, y = np.array([1.0, 2.0]), np.array([4.0, -0.5])
    expect(
        student(observe, x, y),
        [(1.0 / y).tolist(), (-x / y**2).tolist()],
        hint="OPS[op].rules has as many rules as the operation has operands, in their order",
        misconception="one-rule-for-all",
        tolerance=1e-12,
    )


@backward(group="values", because="program.backward: 'Nothing is computed: the program is there before any number is.'")
def test_a_program_for_all_numbers(student):
    """One gradient program serves every x: the slope of exp is 1 at 0, and e at 1."""

    def observe(mg, x):
        program = mg.program.backward(mg.program.trace(lambda x: mg.symbols.exp(x), x), [0])
        return [program.run(np.array(value))[1].tolist() for value in (0.0, 1.0)]

    expect(
        student(observe, np.array(0.0)),
        [1.0, np.exp(1.0)],
        hint="let the recorder write equations down; numbers come when the program runs",
        misconception="computed-at-once",
        tolerance=1e-12,
    )


@backward(
    group="sharing", because="program.backward: 'A variable that several operands use, of one equation or of several'"
)
def test_two_users(student):
    """x * 2 is used by an exponential and by a difference: both give something back."""

    def observe(mg, x):
        def f(x):
            a = x * 2.0
            return mg.symbols.exp(a) - a

        return mg.program.backward(mg.program.trace(f, x), [0]).run(x)[1].tolist()

    expect(
        student(observe, np.array(0.5)),
        2.0 * np.exp(1.0) - 2.0,
        hint="add to what a variable has already",
        misconception="overwritten",
        when={-2.0: ("first-stays", "what comes later has to be added"), 2.0 * np.exp(1.0): "the difference is lost"},
        tolerance=1e-12,
    )


@backward(group="sharing", because="program.backward: 'of one equation or of several, gets the sum'")
def test_two_operands_of_one_equation(student):
    """In x - x and in x / x both operands count: the slope of each is 0."""

    def observe(mg, x):
        programs = [mg.program.trace(f, x) for f in (lambda x: x - x, lambda x: x / x)]
        return [mg.program.backward(each, [0]).run(x)[1].tolist() for each in programs]

    expect(
        student(observe, np.array(4.0)),
        [0.0, 0.0],
        hint="go through the operands by their places, and ask the rule of each place",
        misconception="operand-once",
    )


@backward(group="sharing", because="program.backward: 'Each equation is walked through once'")
def test_each_equation_once(student):
    """Ten doublings have 1024 paths from the last to the first; the backward pass has two equations for each at most."""

    def observe(mg, x):
        def f(x):
            for _ in range(10):
                x = x + x
            return x

        program = mg.program.backward(mg.program.trace(f, x), [0])
        return [program.run(x)[1].tolist(), len(program.equations) <= 31]

    expect(
        student(observe, np.array(1.0)),
        [1024.0, True],
        hint="hand a gradient on when all users have added to it: one walk through the list is enough",
        misconception="once-for-each-path",
    )


@backward(group="shapes", because="program.backward: 'summed over the axes along which it was repeated'")
def test_a_row_beside_a_table(student):
    """A row beside a table of three rows gets the sum of three rows, a number that of all elements, of no rows zeros."""

    def observe(mg, row, number, table):
        found = []
        for rows in (table, table[:0]):
            program = mg.program.trace(lambda row, number, rows: ((row - number) * rows).sum(), row, number, rows)
            found.append([g.tolist() for g in mg.program.backward(program, [0, 1]).run(row, number, rows)[1:]])
        return found

    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expect(
        student(observe, np.array([1.0, -1.0]), np.array(0.5), table),
        [[[9.0, 12.0], -21.0], [[0.0, 0.0], 0.0]],
        hint="lesson 06 said which axes to sum over: those that the variable does not have, and those of size 1",
        misconception="not-summed",
    )


@backward(
    group="shapes", because="program.backward: 'A variable that was broadcast gets its gradient in its own shape'"
)
def test_a_column_beside_a_table(student):
    """A column of shape (2, 1) gets a column, the sums of the rows; of three axes the one in the middle stays as well."""

    def observe(mg, column, table):
        program = mg.program.trace(lambda column, table: (column * table).sum(), column, table)
        return mg.program.backward(program, [0]).run(column, table)[1].tolist()

    column, block = np.array([[2.0], [3.0]]), np.arange(12.0).reshape(2, 2, 3)
    expect(
        [student(observe, column, np.arange(1.0, 7.0).reshape(2, 3)), student(observe, np.ones((2, 1, 3)), block)],
        [[[6.0], [15.0]], [[[3.0, 5.0, 7.0]], [[15.0, 17.0, 19.0]]]],
        hint="an axis of size 1 was repeated too, and stays with size 1",
        misconception="missing-axes-only",
    )


@backward(
    group="shapes", because="program.backward: 'A variable that was broadcast gets its gradient in its own shape'"
)
def test_a_broadcast_result(student):
    """A result on the way may be broadcast as well: its gradient has its shape before its own rule is asked."""

    def observe(mg, x, table):
        program = mg.program.trace(lambda x, table: (x.sum(axis=0) * table).sum(), x, table)
        try:
            return mg.program.backward(program, [0]).run(x, table)[1].tolist()
        except (ValueError, TypeError) as error:
            return type(error).__name__

    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expect(
        student(observe, np.zeros((4, 2)), table),
        [[9.0, 12.0]] * 4,
        hint="sum whatever a rule returns to the shape of its operand, at once",
        misconception="summed-at-the-end",
    )


@backward(group="nothing", because="program.backward: 'has zeros as its gradient, of its shape and its type'")
def test_zeros(student):
    """An input that the loss does not depend on has an array of zeros as its gradient."""

    def observe(mg, x, y):
        program = mg.program.backward(mg.program.trace(lambda x, y: x * 3.0, x, y), [1, 0])
        g = program.run(x, y)[1]
        kind = type(program.outputs[1]).__name__
        return [kind, str(g.dtype), list(g.shape)] if hasattr(g, "dtype") else kind

    expect(
        student(observe, np.array(2.0), np.zeros((2, 3), np.float32)),
        ["Var", "float32", [2, 3]],
        hint="np.zeros(x.shape, x.dtype), as a constant of the program",
        misconception="zeros-without-a-shape",
    )


@backward(group="nothing", because="program.backward: 'Nothing is written down for numbers, constants'")
def test_constants_get_nothing(student):
    """Neither a number nor a captured array gets a gradient: no equation is written for one."""

    def observe(mg, x):
        scale = np.array([4.0, 5.0])
        program = mg.program.trace(lambda x: (x / (scale * scale) / 2.0).sum(), x)
        whole = mg.program.backward(program, [0])
        return [whole.run(x)[1].tolist(), [each.op for each in whole.equations[len(program.equations) :]]]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [[1.0 / 32.0, 1.0 / 50.0], ["broadcast_to", "div", "div"]],
        hint="find out first what is computed from the inputs of wrt, and ask rules for these operands alone",
        misconception="constants-differentiated",
    )


@backward(group="nothing", because="program.backward: 'other inputs, and what is computed from these alone'")
def test_other_inputs_get_nothing(student):
    """With wrt = [0] no equation is written for the second input and its exponential."""

    def observe(mg, x, y):
        program = mg.program.trace(lambda x, y: x * mg.symbols.exp(y), x, y)
        whole = mg.program.backward(program, [0])
        return [whole.run(x, y)[1].tolist(), [each.op for each in whole.equations[len(program.equations) :]]]

    expect(
        student(observe, np.array(2.0), np.array(0.0)),
        [1.0, ["mul"]],
        hint="what is computed from other inputs alone needs no gradient: lesson 06b said the same of requires_grad",
        misconception="all-inputs-differentiated",
    )


@backward(
    group="nothing", because="program.backward: 'Nothing goes back where a rule is None, as through a comparison.'"
)
def test_comparisons_get_nothing(student):
    """Of x * 2 where x < 1, else x / 4, the slope is 2 or 1/4; nothing goes back through the comparison."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: mg.symbols.where(x < 1.0, x * 2.0, x / 4.0).sum(), x)
        try:
            return mg.program.backward(program, [0]).run(x)[1].tolist()
        except TypeError:
            return "TypeError"

    expect(
        student(observe, np.array([0.0, 3.0])),
        [2.0, 0.25],
        hint="a rule may be None: skip that operand",
        misconception="comparison-differentiated",
    )


@backward(
    group="structure", because="program.backward: 'Its outputs are those of the given program, and then the gradient'"
)
def test_old_outputs_first(student):
    """The loss and every further output of the program stay, in front of the gradients."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: (x * 3.0, x + 1.0), x)
        return [y.tolist() for y in mg.program.backward(program, [0]).run(x)]

    expect(
        student(observe, np.array(2.0)),
        [6.0, 3.0, 3.0],
        hint="[*program.outputs, ...] keeps the old ones in front",
        misconception="outputs-dropped",
    )


@backward(group="structure", because="program.backward: 'gradients behind its own equations'")
def test_equations_behind(student):
    """The equations of the given program come first, and each equation reads what stands in front of it."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: mg.symbols.exp(x * 2.0), x)
        whole = mg.program.backward(program, [0])
        known = {*whole.inputs, *(var for var, _ in whole.constants)}
        late, others = 0, []
        for each in whole.equations:
            late += sum(x not in known for x in each.reads())
            known.add(each.output)
            others += [type(x).__name__ for x in each.operands if not isinstance(x, (mg.symbols.Var, float))]
        return [[each.op for each in whole.equations[:2]], late, others]

    expect(
        student(observe, np.array(2.0)),
        [["mul", "exp"], 0, []],
        hint="the backward pass reads results of the forward pass, and never the other way round",
        misconception="in-front",
    )


@backward(group="structure", because="program.backward: 'It is not changed.'")
def test_the_given_program_stays(student):
    """The given program has as many equations, constants and outputs afterwards as before."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: mg.symbols.exp(x * 2.0), x)
        mg.program.backward(program, [0])
        return [len(program.equations), len(program.constants), len(program.outputs)]

    expect(
        student(observe, np.array(2.0)),
        [2, 0, 1],
        hint="make new lists: [*program.equations, ...]",
        misconception="program-changed",
    )


@backward(group="structure", because="program.backward: 'Return the program with its backward pass'")
def test_constants_stay(student):
    """The captured arrays of the program are constants of the new one too."""

    def observe(mg, x):
        scale = np.array(4.0)
        whole = mg.program.backward(mg.program.trace(lambda x: x * scale, x), [0])
        try:
            return [y.tolist() for y in whole.run(x)]
        except KeyError:
            return "KeyError"

    expect(
        student(observe, np.array(2.0)),
        [8.0, 4.0],
        hint="the constants of both, program and recorder",
        misconception="constants-lost",
    )


@backward(group="structure", because="program.backward: 'If the loss is not one number, of shape ()'")
def test_a_vector_is_no_loss(student):
    """Three losses are a ValueError, and so is one of shape (1,); their sum is none."""

    def observe(mg, x):
        program = mg.program.trace(lambda x: x * 2.0, x)
        try:
            mg.program.backward(program, [0])
        except ValueError:
            total = mg.program.trace(lambda x: (x * 2.0).sum(), x)
            return ["ValueError", mg.program.backward(total, [0]).run(x)[1].tolist()]
        return ["nothing was raised"]

    expect(
        [student(observe, np.zeros(3)), student(observe, np.zeros(1))],
        [["ValueError", [2.0, 2.0, 2.0]], ["ValueError", [2.0]]],
        hint="look at the shape of the first output before anything else",
        misconception="vector-taken",
    )


@backward(
    group="values", because="program.backward: 'The gradient of the loss in itself is 1, in the type of the loss.'"
)
def test_type_of_the_gradient(student):
    """The gradient of a float32 program is float32, and that of a loss in itself is 1."""

    def observe(mg, x):
        single = mg.program.backward(mg.program.trace(lambda x: (x * 2.0).sum(), x), [0]).run(x)[1]
        itself = mg.program.backward(mg.program.trace(lambda x: x, x[0]), [0]).run(x[0])[1]
        return [str(single.dtype), single.tolist(), itself.tolist()]

    expect(
        student(observe, np.zeros(2, np.float32)),
        ["float32", [2.0, 2.0], 1.0],
        hint="np.ones((), loss.dtype)",
        misconception="always-double",
    )
