"""The visible checks name the mistake: what a known-wrong answer gives meets the hint that was written for it."""

import pytest
from visible import COURSE, check, references

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE
from minigrad.errors import ExerciseNotDone
from minigrad.exercises import install

HINTS = [
    ("operators.backs", "divided-by-slope", "divided by the slope; multiply instead"),
    ("operators.backs", "inv-sign-lost", "its slope is negative"),
    ("operators.backs", "upstream-forgotten", "the slope alone"),
    ("functions.arithmetic", "forward-computes-slope", "is the derivative at 4"),
    ("functions.arithmetic", "mul-derivatives-swapped", "these two are swapped"),
    ("functions.arithmetic", "neg-sign-lost", "the sign is missing"),
    ("functions.arithmetic", "upstream-forgotten", "the same for every d_output"),
    ("functions.elementary", "log-saved-output", "did forward save its output instead of a?"),
    ("functions.elementary", "power-rule-for-exp", "here a is the exponent"),
    ("functions.elementary", "relu-asks-upstream", "a decides, not d_output"),
    ("functions.elementary", "relu-slope-at-zero", "at a = 0 nothing passes"),
    ("functions.elementary", "saved-outside-ctx", "the class is shared by all calls"),
    ("functions.elementary", "sigmoid-slope-from-input", "put sigmoid(a) in its place"),
    ("functions.elementary", "upstream-forgotten", "the same for every d_output"),
    ("scalar.record", "all-inputs-asked", "one variable among the inputs is enough"),
    ("scalar.record", "another-context", "not the one that forward was given"),
    ("scalar.record", "bare-forward", "call function._forward"),
    ("scalar.record", "comparisons-recorded", "ask function.differentiable"),
    ("scalar.record", "constants-recorded", "where no input is a variable"),
    ("scalar.record", "inputs-copied", "a copy is another variable"),
    ("scalar.record", "leaf-instead-of-constant", "a number that you chose"),
    ("scalar.record", "no-grad-ignored", "ask is_grad_enabled()"),
    ("scalar.record", "nothing-remembered", "set result.history"),
    ("scalar.record", "numbers-as-variables", "Scalar(7.0) is a variable"),
    ("scalar.record", "numbers-left-out", "keep the number among the inputs"),
    ("scalar.record", "one-context-for-all", "make a new Context in each call"),
    ("scalar.Arithmetic", "difference-without-history", "the value alone has no history"),
    ("scalar.Arithmetic", "number-on-the-left-refused", "asks x.__rmul__(3.0)"),
    ("scalar.Arithmetic", "product-without-history", "the value alone has no history"),
    ("scalar.Arithmetic", "subtraction-reversed", "this is 7 - 10"),
    ("autodiff.chain_rule", "bare-backward", "backward returns a bare number"),
    ("autodiff.chain_rule", "constants-kept", "ask each input whether it is_constant()"),
    ("autodiff.chain_rule", "filtered-before-pairing", "pair first, filter afterwards"),
    ("autodiff.chain_rule", "pairs-merged", "one entry for each key"),
    ("autodiff.is_sort", "asked-once", "sort a graph again"),
    ("autodiff.is_sort", "chains-and-diamonds-only", "by a short way and by a longer one"),
    ("autodiff.is_sort", "compared-with-one-order", "several orders of a graph are right"),
    ("autodiff.is_sort", "missing-not-noticed", "compare with all that you can reach"),
    ("autodiff.is_sort", "no-constants", "put some into your graphs"),
    ("autodiff.is_sort", "one-side-only", "exchange the inputs of your graph"),
    ("autodiff.is_sort", "shallow-graphs-only", "a chain of some thousand"),
    ("autodiff.is_sort", "twice-not-noticed", "which a set of ids does not see"),
    ("autodiff.topological_sort", "breadth-first-order", "a breadth-first walk"),
    ("autodiff.topological_sort", "compared-by-value", "compare by unique_id"),
    ("autodiff.topological_sort", "leaves-first", "turn the list round"),
    ("autodiff.topological_sort", "listed-twice", "leave it if its unique_id was met"),
    ("autodiff.topological_sort", "memory-between-calls", "a default argument seen=set()"),
    ("autodiff.topological_sort", "pre-order", "when it was first met"),
    ("autodiff.topological_sort", "recursive-sort", "your order is right, and that is most of the points"),
    ("autodiff.backpropagate", "breadth-first-order", "not breadth first"),
    ("autodiff.backpropagate", "gradient-overwritten", "add to what has arrived already"),
    ("autodiff.backpropagate", "leaf-overwritten", "accumulate_derivative, which adds"),
    ("autodiff.backpropagate", "path-by-path", "how often a was asked"),
    ("autodiff.backpropagate", "start-ignored", "begin with deriv"),
    ("autodiff.backpropagate", "stored-at-results", "accumulate_derivative for leaves only"),
    ("mlp.Linear", "bias-forgotten", "the biases are missing"),
    ("mlp.Linear", "computed-on-floats", "no way leads back to a parameter"),
    ("mlp.Linear", "parameters-not-registered", "never found, and never trained"),
    ("mlp.Linear", "weights-transposed", "the first number of weight_i_j names the input"),
    ("mlp.SGD", "learning-rate-forgotten", "the step is lr * grad"),
    ("mlp.SGD", "step-keeps-graph", "leaves a history"),
    ("mlp.SGD", "uphill", "go the other way"),
    ("mlp.SGD", "zero-instead-of-none", "None says that there is no gradient"),
    ("mlp.SGD", "zeroed-on-the-box", "parameter.value.grad"),
    ("timing.measure", "a-hundred-calls", "begin with one call in a round"),
    ("timing.measure", "always-seven-rounds", "as many rounds as asked"),
    ("timing.measure", "clock-read-at-each-call", "before and after a round only"),
    ("timing.measure", "mean-of-the-rounds", "follows the longest round"),
    ("timing.measure", "no-warm-up", "that is the first call"),
    ("timing.measure", "one-call-in-each-round", "shorter than a tick"),
    ("timing.measure", "one-round-ends-the-search", "long by chance"),
    ("timing.measure", "shortest-round", "that is the shortest round"),
]


@pytest.mark.parametrize(("id", "mistake", "words"), HINTS, ids=[f"{id}/{mistake}" for id, mistake, _ in HINTS])
@pytest.mark.full("every mistake of a lesson is checked", share=4)
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


STACK = """
def topological_sort(variable):
    order, met, stack = [], set(), [(variable, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif not node.is_constant() and node.unique_id not in met:
            met.add(node.unique_id)
            stack.append((node, True))
            stack += [(each, False) for each in node.parents]
    return order[::-1]
"""
RECURSIVE = """
def topological_sort(variable):
    order, met = [], set()
    def visit(node):
        if node.unique_id not in met and not node.is_constant():
            met.add(node.unique_id)
            for each in node.parents:
                visit(each)
            order.append(node)
    visit(variable)
    return order{turned}
"""


def hints_of(id, answer):
    return [result.hint for result in check(id, answer).results if not result.passed]


def test_a_stack_that_lets_a_variable_in_twice():
    """The hint speaks of the stack, and not of an order that is right but for the repetition."""
    assert check("autodiff.topological_sort", STACK).passed
    twice = STACK.replace(" and node.unique_id not in met", "")
    assert any("when you take a variable" in hint for hint in hints_of("autodiff.topological_sort", twice))


def test_most_of_the_points_are_for_a_right_order():
    """A recursive sort is told that it has them only if its order is right."""
    (hint,) = hints_of("autodiff.topological_sort", RECURSIVE.format(turned="[::-1]"))
    assert hint.startswith("your order is right")
    wrong = hints_of("autodiff.topological_sort", RECURSIVE.format(turned=""))
    assert not any("order is right" in hint for hint in wrong) and "mend the order" in wrong[-1]


def test_a_right_answer_that_is_called_wrongly():
    """An error in another answer sends there, and back where that one passes: it may get what it does not take."""
    wrong = reference("derivatives.gradient").replace("*vals, arg", "vals, arg")
    failed = check("derivatives.gradient", reference("derivatives.central_difference") + wrong).results[0]
    assert failed.hint.startswith('That is in central_difference, another exercise: `check("derivatives.central_diff')
    assert failed.hint.endswith("If that passes, look at what you hand to it.")


def test_weights_that_are_not_registered_are_named():
    """No check of a layer speaks of old values where its weights were never made parameters of it."""
    answer = reference("mlp.Linear").replace('parameter(f"weight_{i}_{j}")', "Parameter(Scalar(rng.random()))")
    failed = [each for each in check("mlp.Linear", answer).results if each.reason]
    assert len(failed) > 3 and not any("still in use" in each.hint for each in failed)
    assert sum(each.reason.startswith("the layer has no parameter weight_0_0") for each in failed) == 2


RING = references("14_many_workers")["workers.ring"]
AGAIN = "        part = worker.receive()\n        parts[(worker.rank - back) % worker.workers] = part"
OF_A_RING = {
    "the part before": (
        ("parts[worker.rank - 1]", "parts[worker.rank - 2]"),
        ("parts[worker.rank - back]", "parts[(worker.rank - back - 1) % worker.workers]"),
        {0: "begin with part rank - 1, one further on", 1: "each worker ends with the other's part"},
    ),
    "the part of the next": (
        ("parts[worker.rank - 1]", "parts[worker.rank]"),
        ("parts[worker.rank - back]", "parts[(worker.rank - back + 1) % worker.workers]"),
        {0: "begin with part rank - 1, one further back", 1: "each worker ends with the other's part"},
    ),
    "a round too few": (
        ("range(2, worker.workers + 1)", "range(2, worker.workers)"),
        {0: "a round is missing", 1: "a round is missing", 3: "reduce_scatter has 2 rounds here"},
    ),
    "a round too many": (
        ("    return np.concatenate", "    worker.send(part)\n    worker.receive()\n    return np.concatenate"),
        {3: "all_gather has 4 rounds here"},
    ),
    "nothing is added": (
        ("worker.receive() + parts[worker.rank - back]", "worker.receive()"),
        {0: "what is received is not added to", 1: "what is received is not added to"},
    ),
    "the same numbers each time": (
        ("parts[worker.rank - back]", "parts[worker.rank - 1]"),
        dict.fromkeys((0, 1), "what is received is of the part before: add your numbers of that part"),
    ),
    "parts the other way round": (
        ("parts[worker.rank - back]", "parts[(worker.rank + back) % worker.workers]"),
        {0: "what is received is of the part before: add your numbers of that part"},
    ),
    "the own part again": (
        (AGAIN, "        parts[(worker.rank - back) % worker.workers] = worker.receive()"),
        {2: "send on what has just been received"},
    ),
    "the other way round": (
        ("(worker.rank - back) % worker.workers] = part", "(worker.rank + back) % worker.workers] = part"),
        {2: "it is that of rank - 1 in the first round, of rank - 2 in the second"},
    ),
    "whole arrays": (
        ("worker.send(total)\n", "worker.send(np.tile(total, worker.workers))\n"),
        ("worker.receive() +", "worker.receive()[: len(parts[worker.rank - back])] +"),
        {3: "one part in each message, no whole array"},
    ),
}


@pytest.mark.parametrize("slip", OF_A_RING)
def test_a_ring_that_is_wrong(slip):
    """Each check that fails names this slip: which part, which round, what is sent on."""
    *changes, hints = OF_A_RING[slip]
    answer = RING
    for old, new in changes:
        assert old in answer
        answer = answer.replace(old, new)
    results = check("workers.ring", answer).results
    told = {number: result.hint for number, result in enumerate(results) if not result.passed}
    assert told.keys() == hints.keys()
    assert [(told[number], words) for number, words in hints.items() if words not in told[number]] == []


@pytest.mark.parametrize("endless", [False, True])
def test_the_sort_that_calls_itself_is_named(endless):
    """Where backpropagate fails because topological_sort is nested too deeply, that one is named."""
    sort = RECURSIVE.format(turned="[::-1]")
    if endless:
        sort = sort.replace("node.unique_id not in met", "True").replace("visit(each)", "visit(node)")
    failed = [
        r for r in check("autodiff.backpropagate", sort + reference("autodiff.backpropagate")).results if r.reason
    ]
    assert failed
    assert {each.reason for each in failed} == {"topological_sort calls itself too deeply (RecursionError)"}
    assert all('`check("autodiff.topological_sort")` says more' in each.hint for each in failed)


LAYER = """
class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]
        self.kept = [[each{value} for each in row] for row in (*self.weights, self.biases)]

    def forward(self, inputs):
        *rows, biases = self.kept
        return [sum((x * row[j] for x, row in zip(inputs, rows)), bias) for j, bias in enumerate(biases)]
"""


def test_a_layer_with_values_of_its_own():
    """The hint says that training replaces the values which the layer has kept."""
    beside = LAYER.replace("{value}", ".value")
    assert any("ask for it at every call of forward" in hint for hint in hints_of("mlp.Linear", beside))
    instead = LAYER.replace("{value}", "").replace("(rng.random() - 0.5)))", "(rng.random() - 0.5))).value")
    assert any("keep the Parameter itself" in hint for hint in hints_of("mlp.Linear", instead))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("reduce(mul, 1.0)(values)", "reduce(mul, values, 1)"), ("reduce(mul, 1.0)(values)", "reduce(mul, values)"),
     ("reduce(add, 0.0)(values)", "reduce(add, values, 0)"), ("map(neg)(values)", "map(neg, values)")],
)  # fmt: skip
def test_folds_as_those_of_python(right, wrong):
    """`reduce(mul, values, 1)` is what functools would take: the hint says what the course's own functions take."""
    answer = reference("operators.folds")
    assert right in answer, answer
    assert any("not those of Python and functools" in hint or "a function came back" in hint
               for hint in hints_of("operators.folds", answer.replace(right, wrong)))  # fmt: skip


def reference(id):
    """The right answer to an exercise."""
    return slice_exercise(COURSE, id).reference_cell


def sgd(step):
    """An answer to mlp.SGD with this body of the loop in step."""
    return f"""
class SGD:
    def __init__(self, parameters, lr=0.5):
        self.parameters, self.lr = parameters, lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.value.grad = None

    def step(self):
        for parameter in self.parameters:
            {step}
"""


LINEAR = """
class Linear(Module):
    def __init__(self, in_size, out_size, rng):
        super().__init__()

        def parameter(name):
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        {start}

    def forward(self, inputs):
        {forward}
"""
START = """self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]"""
FORWARD = (
    "return [functions.dot([w[j].value for w in self.weights], inputs, b.value) for j, b in enumerate(self.biases)]"
)

SORT = """
def topological_sort(variable):
    order, seen, stack = [], set(), [(variable, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node.unique_id not in seen and not node.is_constant():
            seen.add(node.unique_id)
            stack += [(node, True), *((parent, False) for parent in node.parents)]
    {end}
"""
WALK = """
def backpropagate(variable, deriv):
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d = derivatives[node.unique_id]
        if node.is_leaf():
            LEAF
            continue
        for parent, part in STEP:
            derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + part
"""
KEPT = "derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + part"
ACCUMULATE, STEP = "node.accumulate_derivative(d)", "node.chain_rule(d)"
INLINE = (
    "[(p, x) for p, x in zip(node.history.inputs, node.history.last_fn._backward(node.history.ctx, d)) "
    "if not p.is_constant()]"
)
SLIPS = {
    "sorted, but reversed in place": (
        "autodiff.topological_sort",
        SORT.format(end="return order.reverse()"),
        "order.reverse() gives None",
    ),
    "gradient of the box": (
        "mlp.SGD",
        sgd("parameter.update(Scalar(parameter.value.data - self.lr * parameter.grad))"),
        ".value",
    ),
    "a float for a Scalar": (
        "mlp.SGD",
        sgd("parameter.update(parameter.value.data - self.lr * (parameter.value.grad or 0.0))"),
        "Scalar(...)",
    ),
    "computed with the boxes": (
        "mlp.Linear",
        LINEAR.format(start=START, forward=FORWARD.replace("w[j].value", "w[j]")),
        "ask it for its .value",
    ),
    "a name misspelt": (
        "mlp.Linear",
        LINEAR.format(start=START.replace("weight_", "w_"), forward=FORWARD),
        "as parameter(name) returned",
    ),
    "no weights": ("mlp.Linear", LINEAR.format(start="pass", forward="return []"), "as many rows as inputs"),
    "a flat list of weights": (
        "mlp.Linear",
        LINEAR.format(start='self.weights = [parameter("weight_0_0")] * in_size', forward="return []"),
        "as many rows as inputs",
    ),
    "leaves get nothing": (
        "autodiff.backpropagate",
        WALK.replace("LEAF", "pass").replace("STEP", "node.chain_rule(d)"),
        "x has received nothing",
    ),
    "added to what is not there": (
        "autodiff.backpropagate",
        WALK.replace("LEAF", ACCUMULATE).replace(KEPT, "derivatives[parent.unique_id] += part").replace("STEP", STEP),
        "begin with 0.0",
    ),
    "no gradient": (
        "mlp.SGD",
        sgd("parameter.update(Scalar(parameter.value.data - self.lr * parameter.value.grad))"),
        "`.grad` is None: skip that parameter",
    ),
    "Python's own division": (
        "functions.arithmetic",
        reference("functions.arithmetic").replace("operators.inv(a)", "1.0 / a"),
        "call it, as lesson 00 wrote it",
    ),
    "Python's own logarithm": (
        "functions.elementary",
        reference("functions.elementary").replace("operators.log(a)", "math.log(a)"),
        "call them instead of math",
    ),
    "the method asked by the function": (
        "autodiff.chain_rule",
        "def chain_rule(variable, d_output):\n    return variable.chain_rule(d_output)",
        "by yourself",
    ),
    "backward without return": (
        "functions.arithmetic",
        "".join(
            f"class {name}(Function):\n"
            f"    @staticmethod\n    def forward(ctx, *a):\n        ctx.save_for_backward(*a)\n"
            f"    @staticmethod\n    def backward(ctx, d_output):\n        d_output * 2.0\n"
            for name in ("Mul", "Neg", "Inv")
        ),
        "is a `return` missing?",
    ),
    "backward with numbers of NumPy's": (
        "functions.arithmetic",
        "import numpy as np\n"
        + "".join(
            f"class {name}(Function):\n"
            f"    @staticmethod\n    def forward(ctx, *a):\n        return np.float32(a[0])\n"
            f"    @staticmethod\n    def backward(ctx, d_output):\n        return np.float32(d_output)\n"
            for name in ("Mul", "Neg", "Inv")
        ),
        "backward returns a float for each input",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_are_explained(slip):
    """A slip that would end in an error somewhere inside is explained by a hint."""
    id, answer, words = SLIPS[slip]
    report = check(id, answer)
    assert any(words in result.hint for result in report.results if not result.passed), str(report)
    assert not any("minigrad/checks" in result.reason for result in report.results)


def test_one_reason_is_said_once():
    """An entry that is not there is named without its number, which differs from check to check by chance."""
    text = str(check(*SLIPS["added to what is not there"][:2]))
    assert text.count("KeyError: there is no entry for a variable, in your line `derivatives[parent.unique_id]") == 1
    assert "6 more checks fail for the same reason." in text


@pytest.mark.parametrize("kept", [KEPT, "derivatives[parent.unique_id] += part"])
def test_an_order_that_does_not_work(kept):
    """A topological_sort that goes forwards is named as the fault; one that works, or is not used, is not."""
    walk = WALK.replace("LEAF", ACCUMULATE).replace("STEP", STEP).replace(KEPT, kept)
    forwards = check("autodiff.backpropagate", SORT.format(end="return order") + walk)
    hint = 'mend topological_sort first: `check("autodiff.topological_sort")` says more'
    assert [result.hint for result in forwards.results] == [hint] * 7
    assert "gives x, a, b, z, expected z, b, a, x" in forwards.results[0].reason
    assert forwards.results[0].call == "backpropagate(z, 10.0), with z made of a, a made of x"
    for sort, text in (
        (SORT.format(end="return order[::-1]"), walk),
        (SORT.format(end="return order"), walk.replace("in topological_sort", "in autodiff.topological_sort")),
    ):
        report = check("autodiff.backpropagate", sort + text)
        assert report.passed == (kept == KEPT)
        assert "topological_sort" not in "".join(result.hint for result in report.results)
        assert all(result.call.startswith("backpropagate(") for result in report.results if not result.passed)


@pytest.mark.parametrize("step", ["node.chain_rule(d)", "autodiff.chain_rule(node, d)", "chain_rule(node, d)", INLINE])
def test_every_way_to_ask_for_a_step_counts(step):
    """backpropagate may ask the variable, the function in autodiff, or the history."""
    report = check("autodiff.backpropagate", WALK.replace("LEAF", ACCUMULATE).replace("STEP", step))
    assert report.passed, str(report)


def test_a_step_of_an_exercise_still_to_do():
    """Where chain_rule is another exercise to do, stand-ins take the step; a name imported before is explained."""
    cut = "def chain_rule(variable, d_output):\n    raise ExerciseNotDone('autodiff.chain_rule')\n"
    answer = WALK.replace("LEAF", ACCUMULATE)
    with install({"autodiff.chain_rule": _cut}):
        assert check("autodiff.backpropagate", answer.replace("STEP", "autodiff.chain_rule(node, d)")).passed
    cut = f"from minigrad.errors import ExerciseNotDone\n{cut}"
    report = check("autodiff.backpropagate", cut + answer.replace("STEP", "chain_rule(node, d)"))
    assert "write `variable.chain_rule(d_output)`" in report.results[0].hint


def _cut(variable, d_output):
    raise ExerciseNotDone("autodiff.chain_rule")


@pytest.mark.parametrize(
    ("id", "mistake", "title"),
    [
        ("functions.arithmetic", "inv-sign-lost", "Every derivative is multiplied by d_output."),
        ("functions.elementary", "log-saved-output", "Every derivative is multiplied by d_output."),
        ("functions.elementary", "power-rule-for-exp", "Two calls keep their saved values apart."),
        ("autodiff.topological_sort", "leaves-first", "Constants are left out."),
    ],
)
def test_one_mistake_is_not_held_against_another_fact(id, mistake, title):
    """A wrong slope, for example, is multiplied by d_output all the same."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert {result.title: result.passed for result in report.results}[title]
    assert not report.passed


def test_a_step_that_hands_over_a_result():
    """A new value made by Scalar arithmetic, which Parameter refuses, is explained instead of shown as an error."""
    answer = sgd("parameter.update(parameter.value - self.lr * (parameter.value.grad or 0.0))")
    hints = [result.hint for result in check("mlp.SGD", answer).results if not result.passed]
    assert any("compute with .data, then make a Scalar of it" in hint for hint in hints)
