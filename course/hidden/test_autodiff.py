"""Hidden tests of the engine: one step of the chain rule, the order of the walk, and the walk itself."""

import functools
import random

import pytest

from autograder import expect, pictures

chain_rule = functools.partial(pytest.mark.exercise, "autodiff.chain_rule")
topological_sort = functools.partial(pytest.mark.exercise, "autodiff.topological_sort")
backpropagate = functools.partial(pytest.mark.exercise, "autodiff.backpropagate")

PAIRS = "autodiff.chain_rule: 'Pairs of an input and its derivative, in the order of the inputs'"
ORDER = "lesson 03, 'An order that works': Every variable stands behind all variables computed from it."
ONCE = "autodiff.topological_sort: 'All non-constant variables that it depends on, itself first, each exactly once.'"

PRODUCT = {"x * y": [("x", None), ("y", None)]}
CUBE = {"square": [("x", None), ("x", None)], "square * x": [("square", None), ("x", None)]}

CHAIN = {"a": [("x", 2.0)], "b": [("a", 3.0)], "c": [("b", 5.0)], "z": [("c", 7.0)]}
DIAMOND = {"y": [("x", 2.0)], "a": [("y", 3.0)], "b": [("y", 5.0)], "z": [("a", 7.0), ("b", 11.0)]}
SHORT_AND_LONG = {"a": [("x", 2.0)], "b": [("a", 3.0)], "a * b": [("a", 30.0), ("b", 10.0)]}
WITH_CONSTANTS = {"a": [("c", None), ("x", 2.0)], "z": [("a", 3.0), ("c", None), ("y", 5.0)]}


# --- autodiff.chain_rule ------------------------------------------------------------------------------------


@chain_rule(group="one_step", because=PAIRS)
def test_pairs_of_a_product(student):
    """A product gives two pairs: each input, then the derivative in it."""

    def observe(mg, a, b):
        x, y = mg.Scalar(a, name="x"), mg.Scalar(b, name="y")
        return [[getattr(v, "name", "a number"), float(d)] for v, d in mg.autodiff.chain_rule(x * y, 1.0)]

    seen = student(observe, 3.0, 5.0)
    expect(
        seen,
        [["x", 5.0], ["y", 3.0]],
        hint="the first derivative belongs to the first input; each pair begins with the input",
        misconception="inputs-in-reverse",
        example="chain_rule(x * y, 1.0) at x = 3, y = 5",
        picture=lambda: pictures.graph(PRODUCT, dict(seen), {"x": 5.0, "y": 3.0}, word="gets"),
    )


@chain_rule(group="one_step", because="lesson 02, 'One step back': the function multiplies d_output by its own slopes")
def test_upstream_reaches_the_function(student):
    """The derivative of the result, whatever it is, goes into the function's rule."""

    def observe(mg, a, b, d):
        x, y = mg.Scalar(a), mg.Scalar(b)
        return [float(derivative) for _, derivative in mg.autodiff.chain_rule(x * y, d)]

    seen = student(observe, 3.0, 5.0, -2.5)
    expect(
        seen,
        [-12.5, -7.5],
        hint="hand d_output to the function's rule",
        misconception="upstream-forgotten",
        example="chain_rule(x * y, -2.5) at x = 3, y = 5",
        picture=lambda: pictures.graph(
            PRODUCT, dict(zip("xy", seen, strict=True)), {"x": -12.5, "y": -7.5}, word="gets"
        ),
    )


@chain_rule(group="one_step", because="autodiff.chain_rule: 'returns a tuple with one derivative for each input'")
def test_any_number_of_inputs(student):
    """Functions of one and of three inputs give one and three pairs."""

    def observe(mg, a):
        class Volume(mg.Function):
            @staticmethod
            def forward(ctx, x, y, z):
                ctx.save_for_backward(x, y, z)
                return x * y * z

            @staticmethod
            def backward(ctx, d_output):
                x, y, z = ctx.saved_values
                return d_output * y * z, d_output * x * z, d_output * x * y

        x, y, z = mg.Scalar(a, name="x"), mg.Scalar(a + 1.0, name="y"), mg.Scalar(a + 2.0, name="z")
        steps = []
        for result in (-x, Volume.apply(x, y, z)):
            try:
                pairs = list(mg.autodiff.chain_rule(result, 2.0))
            except (TypeError, ValueError, IndexError) as error:
                of_numbers = ("itera", "subscriptable", "unpack", "shorter", "longer", "len()", "index")
                if not any(words in str(error) for words in of_numbers):
                    raise  # an error of another kind
                return type(error).__name__
            steps.append([[getattr(v, "name", "a number"), float(d)] for v, d in pairs])
        return steps

    expect(
        student(observe, 2.0),
        [[["x", -2.0]], [["x", 24.0], ["y", 16.0], ["z", 12.0]]],
        hint="_backward always returns a tuple; backward returns a bare number where there is one input",
        misconception="bare-backward",
        example="chain_rule(-x, 2.0) and chain_rule(volume, 2.0), where volume = x * y * z is one function; at x = 2, y = 3, z = 4",
    )


@chain_rule(
    group="one_step", because="lesson 02, 'One step back': In x * x it does, and there are two pairs, both with x."
)
def test_an_input_used_twice(student):
    """x * x gives two pairs, both with x; adding them up is the business of the caller."""

    def observe(mg, a):
        x = mg.Scalar(a, name="x")
        return [[getattr(v, "name", "a number"), float(d)] for v, d in mg.autodiff.chain_rule(x * x, 2.0)]

    expect(
        student(observe, 3.0),
        [["x", 6.0], ["x", 6.0]],
        hint="a dictionary keeps one entry for each key; a list keeps both pairs",
        misconception="pairs-merged",
        example="chain_rule(x * x, 2.0) at x = 3",
    )


@chain_rule(group="higher", because="lesson 02, 'One step back': Pass derivatives on as they are.")
def test_derivatives_stay_variables(student):
    """Where the backward pass is recorded, the derivatives are Scalars and can be differentiated again."""

    def observe(mg, a):
        x = mg.Scalar(a)
        (x * x * x).backward(create_graph=True)
        first, x.grad = x.grad, None
        if not isinstance(first, mg.Scalar):
            return "a float"
        try:
            first.backward()
        except mg.errors.GraphError:
            return "GraphError"
        return x.grad

    seen = student(observe, 2.0)
    is_unrecorded = seen == "GraphError"
    expect(
        seen,
        12.0,
        hint="backward gets the saved numbers; _backward gives it the saved Scalars where the pass is recorded"
        if is_unrecorded
        else "what comes back is a plain number, which has no graph: pass on what the function's rule gives, as it is",
        misconception="rule-asked-unrecorded" if is_unrecorded else "derivative-made-float",
        example="(x * x * x).backward(create_graph=True), then x.grad.backward(), at x = 2",
    )


@chain_rule(group="constants", because="autodiff.chain_rule: 'without the constants'")
def test_constants_are_left_out(student):
    """A constant input gets no pair."""

    def observe(mg, a):
        x = mg.Scalar(a, name="x")
        pairs = mg.autodiff.chain_rule(x * 3.0, 2.0)
        return [["x" if v is x else "another", float(d)] for v, d in pairs]

    expect(
        student(observe, 5.0),
        [["x", 6.0]],
        hint="ask each input whether it is_constant()",
        misconception="constants-kept",
        example="chain_rule(x * 3.0, 2.0) at x = 5",
    )


@chain_rule(group="constants", because="lesson 02, 'One step back': Pair first, filter afterwards.")
def test_a_constant_in_front(student):
    """A constant in front does not shift the derivatives: each stays with its own input."""

    def observe(mg, a):
        x = mg.Scalar(a, name="x")
        results = mg.functions.Mul.apply(3.0, x), 3.0 - x
        return [[float(d) for v, d in mg.autodiff.chain_rule(result, 2.0) if v is x] for result in results]

    expect(
        student(observe, 5.0),
        [[6.0], [-2.0]],
        hint="drop the constant together with its derivative: pair first, filter afterwards",
        misconception="filtered-before-pairing",
        example="chain_rule(3.0 * x, 2.0) and chain_rule(3.0 - x, 2.0), at x = 5",
    )


@chain_rule(
    group="constants",
    because="autodiff.Variable.chain_rule: 'Return each input that is not constant, with its derivative.'",
)
def test_results_are_kept(student):
    """An input that is itself a result gets its pair: it is no constant, although it is no leaf."""

    def observe(mg, a):
        x = mg.Scalar(a, name="x")
        square = x * x
        square.name = "square"
        return [[getattr(v, "name", "a number"), float(d)] for v, d in mg.autodiff.chain_rule(square * x, 1.0)]

    seen = student(observe, 3.0)
    expect(
        seen,
        [["square", 3.0], ["x", 9.0]],
        hint="is_leaf() is false for a result, but the derivative still has to pass through it",
        misconception="only-leaves-kept",
        example="chain_rule(square * x, 1.0) with square = x * x, at x = 3",
        picture=lambda: pictures.graph(
            CUBE, {"square": "nothing", "x": "nothing", **dict(seen)}, {"square": 3.0, "x": 9.0}, word="gets"
        ),
    )


# --- autodiff.topological_sort ------------------------------------------------------------------------------


def out_of_place(order, inputs):
    """Say which variables come before one that was computed from them, for an order and each result's inputs."""
    place = {name: i for i, name in enumerate(order)}
    return [
        f"{x} before {result}"
        for result, used in inputs.items()
        for x in used
        if x in place and result in place and place[x] < place[result]
    ]


def formulas(inputs):
    """Say how each variable of a graph was computed."""
    return "; ".join(f"{name} = f({', '.join(used)})" for name, used in inputs.items())


def sort_by_name(mg, inputs, leaves, constants):
    """Probe: build stand-ins from each result's inputs, sort the last result, and return the names in order."""
    from minigrad.checks import standins

    nodes = {name: standins.leaf(name) for name in leaves}
    nodes.update({name: standins.constant(name) for name in constants})
    for name, used in inputs.items():
        nodes[name] = standins.result(name, *[(nodes[x], 1.0) for x in used])
    return [node.name for node in mg.autodiff.topological_sort(nodes[list(inputs)[-1]])]


@topological_sort(group="order", because="autodiff.topological_sort: 'itself first'")
def test_result_first(student):
    """On a chain the result comes first and the leaf last."""
    chain = {"a": ["x"], "b": ["a"], "c": ["b"]}
    seen = student(sort_by_name, chain, ["x"], [])
    expect(
        seen,
        ["c", "b", "a", "x"],
        hint="derivatives flow from the result to the leaves, so the result comes first",
        misconception="leaves-first",
        example=formulas(chain),
        picture=lambda: pictures.order(chain, seen),
    )


@topological_sort(group="order", because=ORDER)
def test_short_and_long_way(student):
    """A variable that is reached by a short and by a long way comes after the long way."""
    graph = {"a": ["x"], "b": ["a"], "z": ["a", "b"]}
    seen = student(sort_by_name, graph, ["x"], [])
    expect(
        seen,
        ["z", "b", "a", "x"],
        hint="z = a * b with b = 3 a: a stands next to z, but b, which was computed from a, must come first",
        example=formulas(graph),
        picture=lambda: pictures.order(graph, seen),
        misconception="breadth-first-order",
    )


@topological_sort(group="order", because=ORDER)
def test_diamond_order(student):
    """Where two ways meet, the meeting point comes after both."""
    graph = {"a": ["x"], "b": ["x"], "z": ["a", "b"]}
    order = student(sort_by_name, graph, ["x"], [])
    expect(
        [sorted(order), out_of_place(order, graph)],
        [["a", "b", "x", "z"], []],
        hint="put a variable down when everything behind it is done, not when you first meet it, and turn the list round",
        example=formulas(graph),
        picture=lambda: pictures.order(graph, order),
        misconception="pre-order",
    )


@topological_sort(
    group="order",
    because="lesson 03, 'An order that works': mark a variable as met when you come to it, not when you write it on a list of things to do",
)
def test_many_graphs(student):
    """The order works for graphs of any shape."""
    rng = random.Random(7)
    for size in (4, 6, 9, 14, 20):
        names = [f"v{i}" for i in range(size)]
        graph = {names[i]: rng.sample(names[:i], min(i, rng.randint(1, 4))) for i in range(2, size)}
        graph["z"] = names[2:]
        order = student(sort_by_name, graph, names[:2], [])
        expect(
            [sorted(order), out_of_place(order, graph)],
            [sorted([*names, "z"]), []],
            hint="a variable that waits on your stack may be needed deeper down first: mark it when you come to it, "
            "not when you put it on the stack",
            misconception="marked-too-early",
            example=formulas(graph),
            picture=functools.partial(pictures.order, graph, order),
        )


@topological_sort(
    group="order", because="autodiff.Variable.unique_id: 'A number that no other variable of the graph has.'"
)
def test_ids_say_nothing_about_order(student):
    """The order follows the graph, whatever the unique ids are."""

    def observe(mg, ids):
        from minigrad.checks import standins

        node = standins.leaf("v0")
        node.unique_id = ids[0]
        for i, unique_id in enumerate(ids[1:], 1):
            node = standins.result(f"v{i}", (node, 2.0))
            node.unique_id = unique_id
        return [node.name for node in mg.autodiff.topological_sort(node)]

    expect(
        student(observe, [40, 10, 30, 50, 20]),
        ["v4", "v3", "v2", "v1", "v0"],
        hint="ids tell variables apart; they do not say which was made first",
        example="v1 = f(v0); v2 = f(v1); v3 = f(v2); v4 = f(v3), with the ids 40, 10, 30, 50, 20",
        misconception="sorted-by-id",
    )


@topological_sort(group="sharing", because=ONCE)
def test_each_variable_once(student):
    """A variable that is used several times is listed once."""
    graph = {"a": ["x", "x"], "b": ["a", "x"], "c": ["a", "b"], "z": ["c", "a", "c"]}
    order = student(sort_by_name, graph, ["x"], [])
    expect(
        sorted(order),
        ["a", "b", "c", "x", "z"],
        hint="remember which variables you have been to, by their unique_id",
        example=formulas(graph),
        picture=lambda: pictures.order(graph, order),
        misconception="listed-twice",
    )


@topological_sort(group="sharing", because="lesson 03, 'An order that works': Constants are left out.")
def test_no_constants(student):
    """Constants are not part of the order."""
    graph = {"a": ["x", "two"], "z": ["three", "a"]}
    seen = student(sort_by_name, graph, ["x"], ["two", "three"])
    expect(
        seen,
        ["z", "a", "x"],
        hint="leave out what is_constant(): no derivative is wanted there",
        example=f"{formulas(graph)}, with the constants two and three",
        picture=lambda: pictures.order(graph, seen, ["two", "three"]),
        misconception="constants-included",
    )


@topological_sort(
    group="sharing", because="lesson 03, 'An order that works': Two variables of the same value are two variables"
)
def test_equal_values_are_two_variables(student):
    """Variables are told apart by their id, not by their value."""

    def observe(mg, value):
        x, y = mg.Scalar(value, name="x"), mg.Scalar(value, name="y")
        z = x * y
        z.name = "z"
        return sorted(node.name for node in mg.autodiff.topological_sort(z))

    expect(
        student(observe, 1.0),
        ["x", "y", "z"],
        hint="`x in a_list` compares with ==, and Scalars of equal value are ==; keep a set of unique_id",
        example="z = x * y, with x and y both 1",
        misconception="compared-by-value",
    )


@topological_sort(group="sharing", because="autodiff.topological_sort: 'All non-constant variables that it depends on'")
def test_each_call_starts_afresh(student):
    """A second call gives the same order as the first."""

    def observe(mg, times):
        from minigrad.checks import standins

        x = standins.leaf("x")
        z = standins.result("z", (x, 2.0))
        return [[node.name for node in mg.autodiff.topological_sort(z)] for _ in range(times)]

    expect(
        student(observe, 3),
        [["z", "x"]] * 3,
        hint="a default argument such as seen=set() is made once and remembered from call to call",
        example="z = f(x), sorted three times",
        misconception="memory-between-calls",
    )


@topological_sort(
    group="depth", because="autodiff.topological_sort: 'The graph may be deeper than Python's recursion limit.'"
)
def test_deep_chain(student):
    """A chain of 10,000 steps is sorted."""

    def observe(mg, depth):
        from minigrad.checks import standins

        first = node = standins.leaf("x")
        for _ in range(depth):
            node = standins.result("a", (node, 1.0))
        try:
            order = list(mg.autodiff.topological_sort(node))
        except RecursionError:
            return "RecursionError"
        return [len(order), order[0] is node, order[-1] is first]

    expect(
        student(observe, 10_000),
        [10_001, True, True],
        hint="a function that calls itself for each input stops at about 1,000; keep a list of what is still to do",
        example="a chain of 10,000 variables",
        misconception="recursive-sort",
    )


# --- autodiff.backpropagate ---------------------------------------------------------------------------------


@backpropagate(group="chains", because="autodiff.backpropagate: 'other variables store nothing'")
def test_only_leaves_store(student):
    """50 -> 100 -> 300: the leaf receives 6, the results on the way store nothing."""

    def observe(mg, slopes):
        from minigrad.checks import standins

        nodes = [standins.leaf("x")]
        for slope in slopes:
            nodes.append(standins.result("a", (nodes[-1], slope)))
        mg.autodiff.backpropagate(nodes[-1], 1.0)
        return [node.derivative for node in nodes]

    seen = student(observe, [2.0, 3.0])
    expect(
        seen,
        [6.0, None, None],
        hint="accumulate_derivative is for leaves; what passes through a result is only handed on",
        example="z = f(a), a = f(x), with the slopes 3 and 2",
        picture=lambda: pictures.graph(
            {"a": [("x", 2.0)], "z": [("a", 3.0)]},
            dict(zip("xaz", seen, strict=True)),
            {"x": 6.0, "a": None, "z": None},
            word="stored",
        ),
        misconception="stored-at-results",
    )


@backpropagate(group="chains", because="autodiff.backpropagate: 'The derivative to start from, usually 1.0.'")
def test_start(student):
    """All derivatives are multiplied by the one to start from."""

    def observe(mg, start):
        from minigrad.checks import standins

        x = standins.leaf("x")
        z = standins.result("z", (standins.result("a", (x, 2.0)), 3.0))
        mg.autodiff.backpropagate(z, start)
        return x.derivative

    seen = student(observe, -2.5)
    expect(
        seen,
        -15.0,
        hint="begin with deriv at the result, not with 1.0",
        example="z = f(a), a = f(x), with the slopes 3 and 2; start: -2.5",
        picture=lambda: pictures.graph({"a": [("x", 2.0)], "z": [("a", 3.0)]}, {"x": seen}, {"x": -15.0}),
        misconception="start-ignored",
        when={6.0: ("start-ignored", "6 is the answer for a start of 1.0; this one started from -2.5")},
    )


@backpropagate(group="chains", because="lesson 02, 'Slopes multiply': along a chain the slopes multiply.")
def test_slopes_multiply(student):
    """Along a chain of slopes 2, 3, 5 and 7 the leaf receives 210."""

    def observe(mg, slopes):
        from minigrad.checks import standins

        x = node = standins.leaf("x")
        for slope in slopes:
            node = standins.result("a", (node, slope))
        mg.autodiff.backpropagate(node, 1.0)
        return x.derivative

    seen = student(observe, [2.0, 3.0, 5.0, 7.0])
    expect(
        seen,
        210.0,
        hint="each variable's chain_rule gets the derivative that has arrived at that variable",
        example="a chain with the slopes 2, 3, 5, 7",
        picture=lambda: pictures.graph(CHAIN, {"x": seen}, {"x": 210.0}),
        misconception="start-used-everywhere",
    )


@backpropagate(group="chains", because="autodiff.backpropagate: 'Compute the derivative of a result in every leaf'")
def test_leaf_alone(student):
    """A leaf differentiated by itself receives the start."""

    def observe(mg, start):
        from minigrad.checks import standins

        x = standins.leaf("x")
        try:
            mg.autodiff.backpropagate(x, start)
        except Exception as error:
            return type(error).__name__
        return x.derivative

    expect(
        student(observe, 2.0),
        2.0,
        hint="the result may itself be a leaf: treat it like any other variable of the order",
        example="backpropagate(x, 2.0), where x is a leaf",
        misconception="result-is-never-leaf",
    )


@backpropagate(
    group="paths",
    because="lesson 03, 'Two paths': the derivatives that come out are added to those that the inputs have collected",
)
def test_diamond_sum(student):
    """Derivatives that reach a variable along two paths are added."""

    def observe(mg, slopes):
        from minigrad.checks import standins

        x = standins.leaf("x")
        y = standins.result("y", (x, slopes[0]))
        a, b = standins.result("a", (y, slopes[1])), standins.result("b", (y, slopes[2]))
        mg.autodiff.backpropagate(standins.result("z", (a, slopes[3]), (b, slopes[4])), 1.0)
        return x.derivative

    seen = student(observe, [2.0, 3.0, 5.0, 7.0, 11.0])
    expect(
        seen,
        152.0,
        hint="each path gives its part: add to what has already arrived instead of replacing it",
        example="y = f(x) with slope 2; a = f(y) with 3, b = f(y) with 5; z = f(a, b) with 7 and 11",
        picture=lambda: pictures.graph(DIAMOND, {"x": seen}, {"x": 152.0}),
        misconception="gradient-overwritten",
    )


@backpropagate(group="paths", because="lesson 03, 'Two paths': Even x * x has two paths, from x to the product")
def test_the_same_input_twice(student):
    """x * x hands x two derivatives in one step, and both count."""

    def observe(mg, a):
        x = mg.Scalar(a)
        mg.autodiff.backpropagate(x * x, 1.0)
        return float(x.grad)

    seen = student(observe, 3.0)
    expect(
        seen,
        6.0,
        hint="chain_rule may name an input twice; a dictionary of its pairs loses one",
        example="x * x at x = 3",
        picture=lambda: pictures.graph({"x * x": [("x", 3.0), ("x", 3.0)]}, {"x": seen}, {"x": 6.0}),
        misconception="pairs-in-a-dict",
    )


@backpropagate(
    group="paths",
    because="lesson 03, 'An order that works': 60 instead of 120: half of the derivative arrived at a after a had handed on.",
)
def test_short_and_long_path(student):
    """A variable hands on its derivative only when all of it has arrived."""

    def observe(mg, value):
        x = mg.Scalar(value)
        a = x * 2.0
        b = a * 3.0
        mg.autodiff.backpropagate(a * b, 1.0)
        return float(x.grad)

    seen = student(observe, 5.0)
    expect(
        seen,
        120.0,
        hint="two parts reach a, from the product and from b: add them, and let a hand on when both are there, in the order of topological_sort",
        example="a * b with a = 2 x and b = 3 a, at x = 5",
        picture=lambda: pictures.graph(SHORT_AND_LONG, {"x": seen}, {"x": 120.0}),
        misconception="breadth-first-order",
    )


@backpropagate(group="paths", because="lesson 03, 'Two paths': Every variable is asked once, with the whole sum.")
def test_each_variable_is_asked_once(student):
    """In a ladder of diamonds each result takes one step back, however many paths lead through it."""

    def observe(mg, rungs):
        from minigrad.checks import standins

        x = node = standins.leaf("x")
        results = []
        for _ in range(rungs):
            a, b = standins.result("a", (node, 1.0)), standins.result("b", (node, 1.0))
            node = standins.result("z", (a, 1.0), (b, 1.0))
            results += [a, b, node]
        mg.autodiff.backpropagate(node, 1.0)
        return [x.derivative, max(len(each.received) for each in results)]

    expect(
        student(observe, 6),
        [64.0, 1],
        hint="following every path by itself doubles the work at each diamond; add up first, then hand on once",
        example="six diamonds in a row: z = f(a, b), a = f(y), b = f(y), y = ...; all slopes are 1",
        misconception="path-by-path",
    )


@backpropagate(
    group="paths", because="lesson 03, 'Two paths': accumulate_derivative adds to what an earlier pass has left."
)
def test_a_second_pass_adds(student):
    """A leaf keeps what earlier passes gave it, and the next pass adds to that."""

    def observe(mg, first, second):
        x = mg.Scalar(10.0)
        grads = []
        for slope in (first, second):
            mg.autodiff.backpropagate(x * slope, 1.0)
            grads.append(float(x.grad))
        return grads

    expect(
        student(observe, 2.0, 3.0),
        [2.0, 5.0],
        hint="leave it to accumulate_derivative, which adds, instead of setting the derivative yourself",
        example="backpropagate(2 x, 1.0), then backpropagate(3 x, 1.0): x.grad after each",
        misconception="leaf-overwritten",
    )


@backpropagate(
    group="paths",
    because="autodiff.Variable.chain_rule: 'Return each input that is not constant, with its derivative.'",
)
def test_constants_in_the_graph(student):
    """Constants among the inputs do not disturb who receives which derivative."""

    def observe(mg, slopes):
        from minigrad.checks import standins

        x, y = standins.leaf("x"), standins.leaf("y")
        a = standins.result("a", (standins.constant("c"), 9.0), (x, slopes[0]))
        z = standins.result("z", (a, slopes[1]), (standins.constant("c"), 9.0), (y, slopes[2]))
        try:
            mg.autodiff.backpropagate(z, 1.0)
        except (KeyError, TypeError) as error:
            return type(error).__name__
        return [x.derivative, y.derivative]

    seen = student(observe, [2.0, 3.0, 5.0])
    expect(
        seen,
        [6.0, 5.0],
        hint="take the variables from chain_rule's pairs; parents lists the constants as well",
        example="z = f(a, c, y), a = f(c, x), where c is a constant",
        picture=lambda: pictures.graph(
            WITH_CONSTANTS, dict(zip("xy", seen, strict=True)), {"x": 6.0, "y": 5.0}, constants=["c"]
        ),
        misconception="zipped-with-parents",
    )


@backpropagate(group="higher", because="lesson 02, 'One step back': Pass derivatives on as they are.")
def test_recorded_pass(student):
    """With create_graph the derivatives are Scalars: the second derivative of x^3 + x^2 at 2 is 14."""

    def observe(mg, a):
        x = mg.Scalar(a)
        try:
            (x * x * x + x * x).backward(create_graph=True)
            first, x.grad = x.grad, None
            if not isinstance(first, mg.Scalar):
                return "a float"
            first.backward()
        except (TypeError, mg.errors.GraphError) as error:
            return type(error).__name__
        return float(x.grad)

    expect(
        student(observe, 2.0),
        14.0,
        hint="what comes back is a plain number, which has no graph: add and pass on what arrives, as it is",
        example="(x * x * x + x * x).backward(create_graph=True), then x.grad.backward(), at x = 2",
        misconception="derivative-made-float",
    )


@backpropagate(group="depth", because="lesson 03, 'As deep as it gets': nothing in the engine calls itself.")
def test_deep_graph(student):
    """A chain of 10,000 steps is differentiated."""

    def observe(mg, depth):
        from minigrad.checks import standins

        x = node = standins.leaf("x")
        for slope in [1.0] * (depth - 3) + [-0.75, 2.5, 1.25]:
            node = standins.result("a", (node, slope))
        try:
            mg.autodiff.backpropagate(node, 3.0)
        except RecursionError:
            return "RecursionError"
        return x.derivative

    expect(
        student(observe, 10_000),
        -7.03125,
        hint="loop over the order of topological_sort instead of calling backpropagate again for each input",
        example="a chain of 10,000 variables",
        misconception="recursive-backward",
    )
