"""Hidden tests of functions that return derivatives: gradients, Jacobians, second derivatives, recomputation."""

import functools
import math

import numpy as np
import pytest

from autograder import expect

grad = functools.partial(pytest.mark.exercise, "functional.grad")
jacobians = functools.partial(pytest.mark.exercise, "functional.jacfwd")
hvp = functools.partial(pytest.mark.exercise, "functional.hvp")
checkpoint = functools.partial(pytest.mark.exercise, "functional.checkpoint")

ONCE = "functional.vjp: 'The function f is called once'"


# --- functional.grad ----------------------------------------------------------------------------------------


@grad(group="values", because="functional.vjp: 'returns a tuple with the gradient in each argument'")
def test_taken_back(student):
    """A cotangent is taken back to every argument."""

    def observe(mg, x, y, cotangent):
        value, back = mg.functional.vjp(lambda x, y: x * y + x.sin(), mg.tensor(x), mg.tensor(y))
        found = back(mg.tensor(cotangent))
        return [value.tolist(), type(found).__name__, [each.tolist() for each in found]]

    x, y, c = np.array([0.5, 2.0]), np.array([3.0, -1.0]), np.array([10.0, -100.0])
    expect(
        student(observe, x, y, c),
        [(x * y + np.sin(x)).tolist(), "tuple", [(c * (y + np.cos(x))).tolist(), (c * x).tolist()]],
        hint="hand the cotangent to gradients()",
        misconception="cotangent-ignored",
    )


@grad(group="values", because="functional.vjp: 'it may be called again'")
def test_taken_back_twice(student):
    """The same run serves several cotangents, one after the other."""

    def observe(mg, x, cotangents):
        _, back = mg.functional.vjp(lambda x: x * x, mg.tensor(x))
        try:
            return [back(mg.tensor(c))[0].tolist() for c in cotangents]
        except mg.errors.MinigradError as error:
            return type(error).__name__

    x, cotangents = np.array([1.0, 2.0]), [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    expect(
        student(observe, x, cotangents),
        [[2.0, 0.0], [0.0, 4.0]],
        hint="gradients() keeps the record; what lies in a .grad is added to",
        misconception="added-to-the-first",
    )


@grad(group="values", because="functional.vjp: 'Nothing is left in any ``.grad``.'")
def test_arguments_stay_as_they_are(student):
    """The caller's tensors have no new gradient, and ask for none."""

    def observe(mg, x):
        plain, leaf = mg.tensor(x), mg.tensor(x).requires_grad_()
        for each in (plain, leaf):
            mg.functional.grad(lambda a: (a * a).sum())(each)
        left = [each.grad is not None for each in (plain, leaf)]
        return [plain.requires_grad, leaf.requires_grad, *left]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [False, True, False, False],
        hint="fresh(x) is a node of its own: run f on that, and leave x alone",
        misconception="callers-tensor-changed",
    )


@grad(group="values", because=ONCE)
def test_one_run(student):
    """Value and gradient come from one run of the function."""

    def observe(mg, x):
        calls = []

        def f(a):
            calls.append(1)
            return (a * a).sum()

        value, gradient = mg.functional.value_and_grad(f)(mg.tensor(x))
        return [value.item(), gradient.tolist(), len(calls)]

    expect(
        student(observe, np.array([1.0, 2.0, 3.0])),
        [14.0, [2.0, 4.0, 6.0], 1],
        hint="vjp gives the value as well",
        misconception="run-twice",
    )


@grad(group="values", because="functional.vjp: 'The value is `finished`.'")
def test_results_are_constants(student):
    """The results of the outermost function have no history: a training loop does not grow."""

    def observe(mg, x):
        value, gradient = mg.functional.value_and_grad(lambda a: (a * a * a).sum())(mg.tensor(x))
        again, back = mg.functional.vjp(lambda a: a * a, mg.tensor(x))
        results = [value, gradient, again, *back(mg.tensor(x))]
        return [each.requires_grad for each in results]

    expect(
        student(observe, np.array([1.0, 2.0])),
        [False] * 4,
        hint="finished(...) around what is returned",
        misconception="history-kept",
    )


@grad(group="arguments", because="functional.value_and_grad: 'The place of the argument to differentiate in'")
def test_places(student):
    """argnums says which arguments are differentiated in; for a tuple of places a tuple comes back."""

    def observe(mg, a, b, c):
        def f(x, y, z):
            return (x * y * y + z).sum()

        arguments = [mg.tensor(each) for each in (a, b, c)]
        one = [mg.functional.grad(f, argnums=place)(*arguments).tolist() for place in (0, 1)]
        found = mg.functional.grad(f, argnums=(2, 0))(*arguments)
        alone = mg.functional.grad(f, (1,))(*arguments)
        return [one, [each.tolist() for each in found], type(found).__name__, type(alone).__name__]

    a, b, c = np.array([2.0, 3.0]), np.array([5.0, 7.0]), np.array([1.0, 1.0])
    expect(
        student(observe, a, b, c),
        [[[25.0, 49.0], [20.0, 42.0]], [[1.0, 1.0], [25.0, 49.0]], "tuple", "tuple"],
        hint="put the chosen arguments into their places, and leave all others as they are",
        misconception="first-argument-always",
        when={
            (((25.0, 49.0), (20.0, 42.0)), ((1.0, 1.0), (25.0, 49.0)), "tuple", "Tensor"): (
                "tuple-of-one-unpacked",
                "(1,) is a tuple of places, so a tuple comes back",
            )
        },
    )


@grad(
    group="arguments", because="functional.value_and_grad: 'It raises a TypeError if f returns a tensor that has axes.'"
)
def test_a_vector_has_no_gradient(student):
    """A function that returns a vector, be it of one element, is refused."""

    def observe(mg, x):
        seen = []
        for value in (x, x[:1]):
            try:
                seen.append(mg.functional.grad(lambda a: a * a)(mg.tensor(value)).tolist())
            except TypeError:
                seen.append("TypeError")
            except Exception as error:
                seen.append(type(error).__name__)
        return seen

    expect(
        student(observe, np.array([1.0, 2.0, 3.0])),
        ["TypeError", "TypeError"],
        hint="look at value.shape, and raise TypeError unless it is ()",
        misconception="vector-summed",
        when={("TypeError", (2.0,)): ("one-element-accepted", "a tensor of shape (1,) has an axis")},
    )


@grad(group="nested", because="lesson 10, 'Back through a run': a function of a function of a function")
def test_gradients_of_gradients(student):
    """grad(grad(grad(f))) is the third derivative."""

    def observe(mg, x):
        third = mg.functional.grad(mg.functional.grad(mg.functional.grad(lambda a: a**4 + a.sin())))
        try:
            return third(mg.tensor(np.array(x))).item()
        except mg.errors.MinigradError as error:
            return type(error).__name__

    expect(
        student(observe, 2.0),
        48.0 - math.cos(2.0),
        hint="an argument may have a history of an outer derivative: fresh(x) keeps it",
        misconception="history-cut",
    )


@grad(group="nested", because="functional.vjp: 'on nodes of its own: one for each argument, by `fresh`'")
def test_nodes_of_its_own(student):
    """An inner derivative counts its own argument only, also where the outer one has the same tensor."""

    def observe(mg, x):
        grad = mg.functional.grad

        def product(a):
            return a * grad(lambda b: a * b)(a)

        def trap(a):
            return a * grad(lambda b: a + b)(mg.tensor(np.array(1.0)))

        return [grad(product)(mg.tensor(np.array(x))).item(), grad(trap)(mg.tensor(np.array(x))).item()]

    expect(
        student(observe, 3.0),
        [6.0, 1.0],
        hint="fresh(x) also for an x that has a history: else the inner run differentiates in the outer one's node",
        misconception="outer-node-taken",
        example="d/dx [x * d/dy (x y)], taken at y = x = 3; and d/dx [x * d/dy (x + y)]",
    )


@grad(group="special", because="functional.gradients: 'zeros for an input that y does not depend on'")
def test_an_argument_without_influence(student):
    """An argument that plays no part has a gradient of zeros, in its shape and dtype."""

    def observe(mg, x, y):
        try:
            found = mg.functional.grad(lambda a, b: (a * a).sum(), (0, 1))(mg.tensor(x), mg.tensor(y))
            constant = mg.functional.grad(lambda a: mg.tensor(np.array(7.0)))(mg.tensor(x))
        except mg.errors.MinigradError as error:
            return type(error).__name__
        return [[None if each is None else [each.tolist(), str(each.dtype)] for each in found], constant.tolist()]

    expect(
        student(observe, np.array([1.0, 2.0]), np.array([[1.0, 1.0]])),
        [[[[2.0, 4.0], "float64"], [[[0.0, 0.0]], "float64"]], [0.0, 0.0]],
        hint="gradients() gives zeros where autograd.grad gives None",
        misconception="none-in-place-of-zeros",
    )


# --- functional.jacfwd --------------------------------------------------------------------------------------


@jacobians(
    group="values",
    because="functional.jacfwd: 'For vectors of m and n elements it is a matrix of m rows and n columns.'",
)
def test_matrix(student):
    """Of three numbers that become two: the Jacobian has two rows and three columns, in both modes."""

    def observe(mg, x, weights):
        w = mg.tensor(weights)

        def f(a):
            return w @ (a * a.sum())

        x = mg.tensor(x)
        return [mg.functional.jacfwd(f)(x).tolist(), mg.functional.jacrev(f)(x).tolist()]

    x, w = np.array([1.0, 2.0, 4.0]), np.array([[1.0, -1.0, 2.0], [0.5, 3.0, 1.0]])
    right = (w @ (np.eye(3) * x.sum() + x[:, None])).tolist()
    expect(
        student(observe, x, w),
        [right, right],
        hint="a run with Duals gives a column, a pass backwards gives a row",
        misconception="columns-laid-as-rows",
    )


@jacobians(group="values", because="functional.jacrev: 'one run, and a pass for each element of y'")
def test_every_row(student):
    """Each row has the slopes of one result, and no sum over results."""

    def observe(mg, x):
        x = mg.tensor(x)
        return [
            mg.functional.jacfwd(lambda a: a.sin() * a)(x).tolist(),
            mg.functional.jacrev(lambda a: a * a)(x).tolist(),
        ]

    x = np.array([0.5, 2.0])
    expect(
        student(observe, x),
        [np.diag(np.cos(x) * x + np.sin(x)).tolist(), np.diag(2.0 * x).tolist()],
        hint="one unit vector at a time, and the results stacked",
        misconception="one-pass-for-all",
    )


@jacobians(group="passes", because="functional.jacfwd: 'a run with Duals for each element of x'")
def test_runs_of_forward_mode(student):
    """jacfwd runs the function once for each element of x, on Duals, whatever number of results there is."""

    def observe(mg, x, weights):
        w, seen = mg.tensor(weights), []

        def f(a):
            seen.append(type(a).__name__)
            return w @ (a * a)

        total = mg.functional.jacfwd(f)(mg.tensor(x)).sum().item()
        return [seen.count("Dual"), len(seen), total]

    expect(
        student(observe, np.array([1.0, 2.0]), np.ones((5, 2))),
        [2, 2, 30.0],
        hint="dual.jvp, once for each unit vector of x",
        misconception="reverse-mode-twice",
    )


@jacobians(group="passes", because="functional.jacrev: 'one run, and a pass for each element of y'")
def test_runs_of_reverse_mode(student):
    """jacrev runs the function once."""

    def observe(mg, x):
        seen = []

        def f(a):
            seen.append(type(a).__name__)
            return a * a

        mg.functional.jacrev(f)(mg.tensor(x))
        row = mg.functional.jacrev(lambda a: (a * a).sum().view(1))(mg.tensor(x))
        return [seen.count("Dual"), len(seen), row.view(-1).tolist()]

    expect(
        student(observe, np.array([1.0, 2.0, 3.0])),
        [0, 1, [2.0, 4.0, 6.0]],
        hint="call vjp once, and back() for each unit vector of y",
        misconception="run-for-each-row",
    )


@jacobians(group="shapes", because="functional.jacfwd: 'a tensor of shape (*y.shape, *x.shape)'")
def test_shapes(student):
    """A number's Jacobian has the shape of x; that of a matrix has the axes of y, then those of x."""

    def observe(mg, x):
        x = mg.tensor(x)
        functions = [lambda a: (a * a).sum(), lambda a: a * a.sum()]
        both = [(mg.functional.jacfwd(f)(x), mg.functional.jacrev(f)(x)) for f in functions]
        both.append((mg.functional.jacfwd(functions[1])(x[0, 2:]), mg.functional.jacrev(functions[1])(x[0, 2:])))
        return [[[list(j.shape), j.sum().item()] for j in pair] for pair in both]

    x = np.arange(1.0, 7.0).reshape(2, 3)
    number, matrix, one = [[2, 3], 42.0], [[2, 3, 2, 3], 252.0], [[1, 1], 6.0]
    expect(
        student(observe, x),
        [[number, number], [matrix, matrix], [one, one]],
        hint="stack, and then view(*y.shape, *x.shape)",
        misconception="vectors-only",
    )


@jacobians(group="special", because="functional.jacfwd: 'and of x's dtype'")
def test_double_precision(student):
    """The Jacobian has x's dtype, also where a result does not move."""

    def observe(mg, x):
        x = mg.tensor(x)
        constant = mg.tensor(np.array([5.0, 6.0]))
        found = [
            mode(f)(x)
            for mode in (mg.functional.jacfwd, mg.functional.jacrev)
            for f in (lambda a: a * a, lambda a: constant)
        ]
        return [[str(each.dtype), each.tolist()] for each in found]

    x = np.array([1.0 / 3.0, 2.0 / 3.0])
    square, still = ["float64", np.diag(2.0 * x).tolist()], ["float64", [[0.0, 0.0], [0.0, 0.0]]]
    expect(
        student(observe, x),
        [square, still, square, still],
        hint="unit_vectors gives directions of the right dtype",
        misconception="single-precision",
        tolerance=1e-12,
    )


# --- functional.hvp -----------------------------------------------------------------------------------------


@hvp(group="products", because="functional.hvp: 'How fast the gradient of f moves when x moves with v'")
def test_product_with_a_vector(student):
    """The Hessian times a vector, with slopes of one element in another."""

    def observe(mg, x, v):
        return mg.functional.hvp(lambda a: (a**3).sum() + a[0] * a[1] * a[2], mg.tensor(x), mg.tensor(v)).tolist()

    x, v = np.array([1.0, 2.0, -1.0]), np.array([1.0, 0.0, 10.0])
    table = np.diag(6.0 * x) + np.array([[0.0, x[2], x[1]], [x[2], 0.0, x[0]], [x[1], x[0], 0.0]])
    expect(
        student(observe, x, v),
        (table @ v).tolist(),
        hint="take v back through the gradient: vjp of grad(f)",
        misconception="rows-summed-first",
        when={
            tuple((3.0 * x**2 + np.array([-2.0, -1.0, 2.0])) * v): (
                "gradient-times-vector",
                "this is the gradient times v",
            )
        },
    )


@hvp(group="products", because="functional.hvp: 'The number of runs of f does not depend on how many elements x has.'")
def test_without_the_hessian(student):
    """For sixty elements f is not run more often than for two."""

    def observe(mg, n):
        def runs(size):
            calls, passes = [], []

            def f(a):
                calls.append(1)
                if getattr(a, "requires_grad", False):
                    a.register_hook(lambda d: passes.append(1))
                return (a * a * a).sum()

            mg.functional.hvp(f, mg.tensor(np.ones(size)), mg.tensor(np.ones(size)))
            return [len(calls), len(passes)]

        return runs(2) == runs(n)

    expect(
        student(observe, 60),
        True,
        hint="one pass back through the gradient; the table of all second derivatives is not needed",
        misconception="table-first",
    )


@hvp(group="table", because="functional.hessian: 'It returns a tensor of shape (*x.shape, *x.shape).'")
def test_all_second_derivatives(student):
    """The Hessian of a sum of squares is 2 I, and a product has slopes beside the diagonal."""

    def observe(mg, x):
        functions = [lambda a: (a * a).sum(), lambda a: a[0] * a[1] * a[2]]
        return [mg.functional.hessian(f)(mg.tensor(x)).tolist() for f in functions]

    x = np.array([1.0, 2.0, 3.0])
    expect(
        student(observe, x),
        [np.diag([2.0, 2.0, 2.0]).tolist(), [[0.0, 3.0, 2.0], [3.0, 0.0, 1.0], [2.0, 1.0, 0.0]]],
        hint="the Jacobian of the gradient",
        misconception="diagonal-alone",
        when={
            (
                ((2.0, 0.0, 0.0), (0.0, 4.0, 0.0), (0.0, 0.0, 6.0)),
                ((6.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 2.0)),
            ): (
                "gradient-on-the-diagonal",
                "this is the gradient, laid along the diagonal; the slope of 2x is 2",
            )
        },
    )


@hvp(
    group="bend",
    because="functional.largest_bend: 'Each step makes v one long and replaces it by the Hessian times v.'",
)
def test_many_steps(student):
    """After a hundred steps with a bend of 2000 the numbers are still numbers."""

    def observe(mg, v):
        def f(a):
            return 1000.0 * a[0] * a[0] + a[1] * a[1] + 3.0 * a[2] * a[2]

        return float(mg.functional.largest_bend(f, mg.tensor(np.zeros(3)), mg.tensor(v), 200))

    expect(
        student(observe, np.array([1.0, 1.0, 1.0])),
        2000.0,
        hint="divide v by its length in every step; else it grows by 2000 each time",
        misconception="never-made-shorter",
        tolerance=1e-6,
    )


@hvp(group="bend", because="functional.largest_bend: 'Along a direction that bends downwards it is negative.'")
def test_downwards(student):
    """Where the strongest bend is downwards, the number is negative."""

    def observe(mg, v):
        def f(a):
            return a[0] * a[0] - 4.0 * a[1] * a[1]

        return float(mg.functional.largest_bend(f, mg.tensor(np.zeros(2)), mg.tensor(v), 60))

    expect(
        student(observe, np.array([3.0, 1.0])),
        -8.0,
        hint="the sum of v * (H v), not the length of H v",
        misconception="length-taken",
        tolerance=1e-6,
    )


@hvp(group="bend", because="functional.largest_bend: 'for the v of length 1 of the last step'")
def test_one_step(student):
    """With one step it is the bend along the direction that was given."""

    def observe(mg, x, v):
        def f(a):
            return a[0] ** 3 / 6.0 + a[1] ** 3 / 6.0

        found = [mg.functional.largest_bend(f, mg.tensor(x), mg.tensor(v), steps) for steps in (1, 2)]
        return [each if isinstance(each, float) else type(each).__name__ for each in found]

    v = np.array([3.0, 4.0])
    expect(
        student(observe, np.array([2.0, 10.0]), v),
        [(9.0 * 2.0 + 16.0 * 10.0) / 25.0, (36.0 * 2.0 + 1600.0 * 10.0) / 1636.0],
        hint="make v one long first, multiply, and take the sum of v * (H v) for this v",
        misconception="one-step-ahead",
        tolerance=1e-6,
    )


# --- functional.checkpoint ----------------------------------------------------------------------------------


@checkpoint(group="values", because="functional.checkpoint: 'A function with the same values and derivatives.'")
def test_same_values(student):
    """Value and gradients in all arguments are those of the function, for any upstream gradient."""

    def observe(mg, x, y, upstream, before, after):
        factor = [before]

        def f(a, b):
            return (a * b + (a * a).sum()) * factor[0]

        a, b = mg.tensor(x).requires_grad_(), mg.tensor(y).requires_grad_()
        result = mg.functional.checkpoint(f)(a, b)
        factor[0] = after  # seen by a new run alone; a count of the runs could be forged
        (result * mg.tensor(upstream)).sum().backward()
        found = [None if each.grad is None else each.grad.tolist() for each in (a, b)]
        return [result.tolist(), *found]

    x, y, u, before, after = np.array([1.0, 2.0]), np.array([3.0, -5.0]), np.array([10.0, 1.0]), 2.0, 3.0
    expect(
        student(observe, x, y, u, before, after),
        [(before * (x * y + 5.0)).tolist(), (after * (u * y + 2.0 * x * 11.0)).tolist(), (after * u * x).tolist()],
        hint="hand d_output to the pass back through the new run; the function's factor is 3 by then, and was 2",
        misconception="upstream-ignored",
    )


@checkpoint(group="memory", because="functional.checkpoint: 'Nothing that f computes on the way stays in memory.'")
def test_nothing_is_kept(student):
    """Of ten pieces of ten layers, no more than two pieces' layers are kept at any time."""

    def observe(mg, x, before, after):
        alive, most, factor = [0], [0], [before]

        class Kept:
            def __init__(self):
                alive[0] += 1
                most[0] = max(most[0], alive[0])

            def __del__(self):
                alive[0] -= 1

        class Half(mg.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.kept, ctx.factor = Kept(), factor[0]
                return a * factor[0]

            @staticmethod
            def backward(ctx, d_output):
                return d_output * ctx.factor

        def piece(a):
            for _ in range(10):
                a = Half.apply(a)
            return a

        a = mg.tensor(x).requires_grad_()
        result, layers = a, mg.functional.checkpoint(piece)
        for _ in range(10):
            result = layers(result)
        factor[0] = after  # seen by new runs alone
        result.sum().backward()
        return [most[0] <= 20, a.grad.tolist()]

    expect(
        student(observe, np.array([1.0, 2.0]), 0.5, 2.0),
        [True, [2.0**100] * 2],
        hint="forward saves the arguments alone; the run that is differentiated is a new one, in backward",
        misconception="everything-kept",
    )


@checkpoint(group="memory", because="functional.checkpoint: 'and computes f again when a gradient is asked for'")
def test_computed_twice(student):
    """The function is run once on the way there, and once more on the way back."""

    def observe(mg, x, factors):
        calls, left = [], list(factors)

        def f(a, b):
            calls.append(1)
            return (a * b).sum() * left.pop(0)

        a, b = mg.tensor(x).requires_grad_(), mg.tensor(x).requires_grad_()
        result = mg.functional.checkpoint(f)(a, b)
        there = len(calls)
        result.backward()
        return [there, len(calls), result.item(), a.grad.tolist(), b.grad.tolist()]

    x, factors = np.array([1.0, 2.0]), [2.0, 7.0, 11.0]
    expect(
        student(observe, x, factors),
        [1, 2, 10.0, (7.0 * x).tolist(), (7.0 * x).tolist()],
        hint="one vjp in backward gives the gradients in all arguments; each run of the function has a factor of its own",
        misconception="run-for-each-argument",
    )


@checkpoint(group="special", because="functional.checkpoint: 'A function with the same values and derivatives.'")
def test_second_derivatives(student):
    """The gradient of a checkpointed function can be differentiated."""

    def observe(mg, x, before, after):
        factors, values = [before], []

        def f(a):
            factor = factors.pop() if factors else after  # the first run has a factor of its own
            return (a * a * a).sum() * factor

        def once(a):
            value, gradient = mg.functional.value_and_grad(mg.functional.checkpoint(f))(a)
            values.append(value.item())
            return (gradient * a).sum()

        try:
            return [mg.functional.grad(once)(mg.tensor(x)).tolist(), values]
        except mg.errors.MinigradError as error:
            return type(error).__name__

    x, before, after = np.array([1.0, 2.0]), 2.0, 5.0
    expect(
        student(observe, x, before, after),
        [(after * 9.0 * x**2).tolist(), [before * 9.0]],
        hint="compute with the saved tensors as they are: detach() cuts them off an outer derivative",
        misconception="history-cut",
    )
