"""The visible checks of lessons 10 to 11b name the mistake, or leave it to the hidden tests."""

import pytest
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad.checks.unseen import UNSEEN
from minigrad.checks.written import groups_of, written
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import install
from minigrad.loops import Group

EXERCISES = [each.id for each in COURSE.exercises.values() if each.lesson.startswith(("10", "11"))]

KNOWN = [
    ("functional.is_vmap", "axis-0-counts", "let another axis than the first one count the examples"),
    ("loops.is_safe", "compared-with-a-plan", "ask for what must not happen, not for the lowest plan"),
    ("loops.is_safe", "lives-believed", "let a value be read by two steps, and find out yourself"),
    ("dual.Dual", "cosine-without-minus", "cos: the tangent is -sin(2) times 10: mind the"),
    ("dual.Dual", "difference-turned-round", "a' b comes first, a b' is taken away from it"),
    ("dual.Dual", "divided-once", "divide by b twice: by b^2"),
    ("dual.Dual", "exponent-not-lowered", "the slope of x^3 is 3 x^2, times 10"),
    ("dual.Dual", "floats-only", "use the module's own sin, cos, exp and log, not"),
    ("dual.Dual", "level-begins-at-1", "self.like(value, tangent) keeps the level;"),
    ("dual.Dual", "logarithm-multiplied", "log: the tangent is 1/2 times 10"),
    ("dual.Dual", "one-factor-moves", "the second number moves as well"),
    ("dual.Dual", "own-value-instead-of-the-other", "each tangent is multiplied by the other"),
    ("dual.Dual", "second-number-stays", "the second number moves as well"),
    ("dual.Dual", "sign-of-the-divisor-lost", "what moves the divisor up moves the quotient"),
    ("dual.Dual", "tangent-of-the-argument-forgotten", "exp: the slope alone; the chain rule multiplies"),
    ("dual.Dual", "tangents-multiplied-in-a-sum", "the first number moves as well"),
    ("dual.Dual", "tangents-multiplied", "the tangents are multiplied with each other;"),
    ("dual.Dual", "zero-to-minus-one", "0 ** -1 divides by 0: give the exponent 0 a"),
    ("dual.jvp", "first-argument-moves", "y moves as well: give it its own tangent, which"),
    ("dual.jvp", "lower-level-taken", "both at the higher level, the first one first;"),
    ("dual.jvp", "made-float", "the inner value is a Dual itself: keep it as it"),
    ("dual.jvp", "one-call-for-each-argument", "all arguments move at once: call f once"),
    ("dual.jvp", "one-level-for-all", "Dual(x, zero(x), level) takes the level"),
    ("dual.jvp", "order-lost", "both at the higher level, the first one first;"),
    ("dual.jvp", "tangent-taken-as-1", "this is the slope; the result moves with 6"),
    ("functional.grad", "added-to-the-first", "a second call begins anew: nothing may be added"),
    ("functional.grad", "callers-tensor-changed", "run on fresh(x) and leave x as it is"),
    ("functional.grad", "cotangent-ignored", "the cotangent is 10: hand it to gradients()"),
    ("functional.grad", "first-argument-always", "this is the gradient in argument 0; argnums is"),
    ("functional.grad", "history-cut", "the inner argument was cut off the outer"),
    ("functional.grad", "history-kept", "hand out finished(...) results"),
    ("functional.grad", "outer-node-taken", "d/dx [x * d/dy (x y)] is 2 x, also where y is"),
    ("functional.grad", "run-twice", "vjp gives the value as well: one run is enough"),
    ("functional.grad", "vector-summed", "raise TypeError(...) unless value.shape is ()"),
    ("functional.jacfwd", "columns-laid-as-rows", "jacfwd: J[i][j] is how fast result i moves with"),
    ("functional.jacfwd", "one-pass-for-all", "jacrev: these are sums of both rows; take one"),
    ("functional.jacfwd", "reverse-mode-twice", "jacfwd: a run with Duals, by dual.jvp, for each"),
    ("functional.jacfwd", "run-for-each-row", "jacrev: one run, by vjp, and then a pass for"),
    ("functional.jacfwd", "vectors-only", "jacfwd: view(*y.shape, *x.shape)"),
    ("functional.hvp", "diagonal-alone", "a product has slopes of one element in another"),
    ("functional.hvp", "gradient-on-the-diagonal", "this is the gradient on the diagonal; the slope"),
    ("functional.hvp", "gradient-times-vector", "this is the gradient times v: the vector has to"),
    ("functional.hvp", "length-taken", "the length of H v has no sign: take the sum of"),
    ("functional.hvp", "never-made-shorter", "give v the length 1 in every step"),
    ("functional.hvp", "rows-summed-first", "this is the sum of each row times v: the vector"),
    ("trees.tree_map", "first-two-trees-only", "there may be three trees, or more"),
    ("trees.tree_map", "leaves-counted", "compare the structures"),
    ("trees.tree_map", "left-over-leaves", "raise a ValueError for too few leaves, and for"),
    ("trees.tree_map", "none-is-a-leaf", "None is a container without children, not a leaf"),
    ("trees.tree_map", "none-looks-like-a-leaf", "None has the structure Structure(type(None)),"),
    ("trees.tree_map", "order-of-insertion", "the children of a dict stand in the order of"),
    ("trees.tree_map", "pop-from-empty-list", "raise a ValueError for too few leaves, and for"),
    ("trees.tree_map", "tuples-are-leaves", "a tuple is a container too: take it apart"),
    ("trees.tree_map", "tuples-become-lists", "a tuple becomes a tuple again, and not a list"),
    ("batching.vmap", "a-loop", "call f once, with a Batched for each argument,"),
    ("batching.vmap", "axes-not-shifted", "count from the front, and add one for the axis"),
    ("batching.vmap", "axis-0-always", "axis_to_front(x, 1) makes axis 1 count the"),
    ("batching.vmap", "missing-axis-in-front", "aligned at the right, the 5 would meet the 2:"),
    ("batching.vmap", "one-added-to-negative-axes", "an axis counted from the back has to be counted"),
    ("batching.vmap", "rank-of-the-batch-only", "only a Batched gets further axes"),
    ("batching.vmap", "shared-argument-not-repeated", "a Batched for this argument too, so that each"),
    ("batching.vmap", "size-of-the-first", "compare the sizes before the call"),
    ("functional.checkpoint", "everything-kept", "the first run is in forward, where nothing is"),
    ("functional.checkpoint", "run-for-each-argument", "the first run is in forward, where nothing is"),
    ("functional.checkpoint", "upstream-ignored", "d_output is 10: take it back, in the place of 1"),
    ("program.trace", "captured-twice", "self.captured says which arrays were met;"),
    ("program.trace", "constant-not-copied", "keep a copy, np.array(x)"),
    ("program.trace", "every-symbol-is-true", "refuse() has to raise a TypeError"),
    ("program.trace", "first-output-alone", "every element of the tuple is an output"),
    ("program.trace", "no-way-out", "say in the sentence what to use instead: where"),
    ("program.trace", "numbers-are-inputs", "symbols for arrays, all else as it is"),
    ("program.trace", "options-lost", "hand the options to the equation"),
    ("program.trace", "order-turned", "append each equation at the end of"),
    ("program.trace", "type-of-the-first-operand", "result_of(op, *operands, **options) says what"),
    ("program.jit", "always-a-tuple", "a single output is handed out alone: outputs[0]"),
    ("program.jit", "counts-turned-round", "a hit is a call that found its program"),
    ("program.jit", "equal-numbers-are-one", "the spec of an array is its shape and dtype;"),
    ("program.jit", "never-built", "self.build(trace(self.f, *args))"),
    ("program.jit", "recorded-each-time", "look into self.kept first"),
    ("program.jit", "shape-ignored", "the spec of an array is its shape and dtype;"),
    ("program.jit", "type-ignored", "the spec of an array is its shape and dtype;"),
    ("program.jit", "value-ignored", "the spec of an array is its shape and dtype;"),
    ("program.simplify", "chains-missed", "replace operands first, then look for an equal"),
    ("program.simplify", "constants-kept", "inputs stay, constants that nobody reads go"),
    ("program.simplify", "draw-removed", "a random draw stays, also if nobody reads it:"),
    ("program.simplify", "draws-merged", "OPS[op].pure is False for random numbers"),
    ("program.simplify", "inputs-dropped", "inputs stay, constants that nobody reads go"),
    ("program.simplify", "last-of-a-chain-alone", "go through the equations from the last to the"),
    ("program.simplify", "nothing-done-twice", "where an equation goes, put what stands in its"),
    ("program.simplify", "one-step-only", "put what you compute among the known constants;"),
    ("program.simplify", "options-ignored", "sums along two axes differ: the options belong"),
    ("program.simplify", "outputs-left", "where an equation goes, put what stands in its"),
    ("program.simplify", "times-zero-is-zero", "infinity times 0 is nan: leave the equation"),
    ("program.simplify", "type-lost", "x * 1.0 is x only if the result has the shape"),
    ("program.backward", "all-inputs-differentiated", "ask rules only for what is computed from inputs"),
    ("program.backward", "comparison-differentiated", "a rule may be None, as those of `less`: nothing"),
    ("program.backward", "computed-at-once", "a rule gets symbols, and their recorder writes"),
    ("program.backward", "constants-differentiated", "ask rules only for what is computed from inputs"),
    ("program.backward", "constants-lost", "the constants are those of both"),
    ("program.backward", "first-stays", "y has two users: add what comes back from both"),
    ("program.backward", "in-front", "the program's own equations come first:"),
    ("program.backward", "in-the-order-of-inputs", "wrt is [1, 0]: the gradient in y comes first"),
    ("program.backward", "missing-axes-only", "an axis of size 1 was repeated too, and stays"),
    ("program.backward", "not-summed", "sum what a rule returns over the axes along which"),
    ("program.backward", "one-rule-for-all", "each operand has a rule of its own"),
    ("program.backward", "operand-once", "go through the operands by their places: x"),
    ("program.backward", "outputs-dropped", "keep the program's outputs"),
    ("program.backward", "overwritten", "y has two users: add what comes back from both"),
    ("program.backward", "program-changed", "leave the given program as it is: make new lists"),
    ("program.backward", "summed-at-the-end", "a gradient has the shape of its variable before"),
    ("program.backward", "walked-forwards", "walk from the last equation to the first;"),
    ("program.backward", "zeros-without-a-shape", "an input without a gradient has zeros of its"),
    ("loops.fuse", "circle-closed", "a group must stand behind all that it needs,"),
    ("loops.fuse", "joined-a-sum", "elementwise equations join groups of"),
    ("loops.fuse", "last-group-alone", "join wherever it is allowed"),
    ("loops.fuse", "one-each", "look for a group that the equation may join"),
    ("loops.fuse", "one-outsider-alone", "a group must stand behind all that it needs,"),
    ("loops.fuse", "order-of-birth", "a group must stand behind all that it needs,"),
    ("loops.fuse", "shapes-mixed", "compare the shapes of the results"),
    ("loops.plan_memory", "always-on-top", "place the largest one first, each as low as it"),
    ("loops.plan_memory", "first-reader-ends", "base_of(program) says whose memory a view"),
    ("loops.plan_memory", "in-order-of-birth", "place the largest one first, each as low as it"),
    ("loops.plan_memory", "neighbours-share", "values of which the lives meet must lie apart:"),
    ("loops.plan_memory", "nothing-shared", "place the largest one first, each as low as it"),
    ("loops.plan_memory", "outputs-planned", "32 bytes are rounded up to 64; an output has no"),
    ("loops.plan_memory", "shown-outputs-planned", "base_of(program) says whose memory a view"),
    ("loops.plan_memory", "sizes-as-they-are", "32 bytes are rounded up to 64; an output has no"),
    ("loops.plan_memory", "views-have-memory", "base_of(program) says whose memory a view"),
    ("loops.plan_memory", "views-not-followed", "base_of(program) says whose memory a view"),
    ("loops.emit", "aligned-at-the-left", "the last axis of row stands below the last axis"),
    ("loops.emit", "index-beyond-the-end", "arrays come in the order of group.reads(); the"),
    ("loops.emit", "index-of-nothing", "x[()] reads the element of an array without axes"),
    ("loops.emit", "infinity-as-a-name", "write np.float32(-np.inf): the source knows np,"),
    ("loops.emit", "letters-as-names", "names with numbers, such as e0, e1, are no"),
    ("loops.emit", "numbers-of-64-bits", "a number is np.TYPE(repr), with the type that"),
    ("loops.emit", "one-output-alone", "write an element of each output"),
    ("loops.emit", "reads-turned", "arrays come in the order of group.reads(); the"),
    ("attention.online_softmax", "double-precision", "q.dtype is the type of the state"),
    ("attention.online_softmax", "first-key-not-told", "scores_of wants the number of the block's first"),
    ("attention.online_softmax", "last-block-dropped", "k[first : first + block] is a block of keys,"),
    ("attention.online_softmax", "maximum-of-the-block", "the maximum is that of all blocks so far"),
    ("attention.online_softmax", "nan-in-hidden-rows", "-inf - (-inf) is nan: subtract 0 there"),
    ("attention.online_softmax", "nothing-subtracted", "make both sums smaller by e to the power of"),
    ("attention.online_softmax", "state-changed", "make new arrays: `a * b`, no `a *= b`"),
    ("attention.online_softmax", "sums-not-rescaled", "make both sums smaller by e to the power of"),
    ("attention.online_softmax", "whole-table", "take `block` keys at a time: 40 x 8 scores"),
    ("loops.compile_program", "a-loop-for-each-equation", "simplify, fuse, and build each loop, all before"),
    ("loops.compile_program", "built-in-each-call", "simplify, fuse, and build each loop, all before"),
    ("loops.compile_program", "not-simplified", "simplify, fuse, and build each loop, all before"),
    ("loops.compile_program", "numbers-looked-up", "an output may be a number of Python"),
    ("loops.compile_program", "one-type-for-all", "block[place : place +"),
    ("loops.compile_program", "plan-not-used", "np.empty(peak(...), np.uint8) is the block;"),
    ("loops.compile_program", "results-written-over", "new arrays for the outputs in each call"),
]


def report_on(id, mistake):
    """The visible checks of a known-wrong answer."""
    return check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])


def test_every_mistake_is_listed():
    """There is a line above for each known-wrong answer of these lessons that their visible checks look at."""
    seen = {
        (id, mistake) for id in EXERCISES for mistake in wrong_answers(DEFAULT_COURSE, id).keys() - UNSEEN.get(id, {})
    }
    assert seen == {(id, mistake) for id, mistake, _ in KNOWN}


@pytest.mark.parametrize(("id", "mistake", "words"), KNOWN, ids=[f"{id}/{mistake}" for id, mistake, _ in KNOWN])
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = report_on(id, mistake)
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


@pytest.mark.parametrize(("id", "mistake"), sorted((id, mistake) for id, mistake, _ in KNOWN))
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_each_failure_is_told_in_words(id, mistake):
    """The first failing check has a hint, and no check says only that something was False."""
    failed = [result for result in report_on(id, mistake).results if not result.passed]
    assert failed[0].hint
    assert [result.reason for result in failed if "got False, expected True" in result.reason] == []


@pytest.mark.parametrize("id", EXERCISES)
def test_no_check_needs_a_later_exercise(id):
    """Where the exercises after it raise ExerciseNotDone, the checks of a right answer still pass."""

    def unwritten(other):
        def raises(*_, **__):
            raise ExerciseNotDone(other)

        return type("Unwritten", (), {"__init__": raises}) if other.rpartition(".")[2][0].isupper() else raises

    later = EXERCISES[EXERCISES.index(id) + 1 :]
    missing = {name: unwritten(name) for other in later for name in COURSE.exercise(other).objects}
    with install(missing):
        report = check(id, slice_exercise(COURSE, id).reference_cell)
    assert report.passed, str(report)


@pytest.mark.parametrize("id", ["program.simplify", "loops.fuse", "loops.plan_memory", "loops.emit"])
def test_a_check_of_programs_needs_no_recorder(id):
    """The programs are written down: nobody has to have done the exercises before."""
    needed = ["program.spec"]  # `merge` asks it
    earlier = EXERCISES[EXERCISES.index("program.trace") : EXERCISES.index(id)]

    def raises(*_, **__):
        raise ExerciseNotDone("another")

    names = [name for other in earlier for name in COURSE.exercise(other).objects]
    functions = [name for name in names if name not in needed and not name.rpartition(".")[2][0].isupper()]
    with install(dict.fromkeys(functions, raises)):
        report = check(id, slice_exercise(COURSE, id).reference_cell)
    assert report.passed, str(report)


def test_a_program_by_its_text():
    """Types, options, numbers and several results; a group for each equation, or of so many."""
    program = written("x:float32[2,3] n:int64[]", "y = mul x n", "s = sum y axis=1 keepdims=False", "return s 3.0 x")
    assert [v.type for v in program.inputs] == ["float32[2,3]", "int64[]"]
    assert [(each.op, dict(each.options)) for each in program.equations] == [
        ("mul", {}),
        ("sum", {"axis": 1, "keepdims": False}),
    ]
    assert program.outputs == [program.equations[1].output, 3.0, program.inputs[0]]
    assert all(isinstance(group, Group) for group in groups_of(program))
    assert [len(group.equations) for group in groups_of(program)] == [1, 1]
    assert [len(group.equations) for group in groups_of(program, 2)] == [2]
