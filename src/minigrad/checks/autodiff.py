"""Visible tests of the engine, on graphs of stand-ins whose derivatives are given as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from minigrad import autodiff, exercises
from minigrad.checks.blaming import blaming, called_by
from minigrad.checks.expectation import Expectation, expect, hinting
from minigrad.checks.observed import unwatched
from minigrad.checks.runner import visible
from minigrad.checks.standins import Node, constant, leaf, result
from minigrad.errors import ExerciseNotDone

STEP = "02 'One step back'"
ORDER = "03 'An order that works'"
PATHS = "03 'Two paths'"


def step(student: SimpleNamespace, z: Node, d_output: float = 1.0) -> Any:
    """Take one step back, and return the pairs as [name, derivative]."""
    vars(z)["chain_rule"] = in_a_circle
    try:
        found = student.chain_rule(z, d_output)
        if not isinstance(found, Iterable) or isinstance(found, str):
            return found
        pairs = [pair if isinstance(pair, tuple | list) else (pair,) for pair in found]
    except TypeError as error:
        if "float" not in str(error):
            raise
        hint = "_backward returns a tuple for any number of inputs; backward returns a bare number where there is one"
        raise Expectation(error, None, f"raised TypeError: {error}", hint, None) from error
    return [[x.name if isinstance(x, Node) else x for x in pair] for pair in pairs]


def in_a_circle(d_output: object) -> Any:
    """Refuse the variable's own method, which in the library asks the very function that is to be written."""
    hint = "take the step by yourself: variable.history.last_fn._backward(variable.history.ctx, d_output)"
    raise Expectation(None, None, "variable.chain_rule asks this function, and this function asks it", hint, None)


@visible("autodiff.chain_rule", section=STEP)
def one_input(student: SimpleNamespace) -> None:
    """A function of one input gives one pair: the input and its derivative."""
    z = result("z", (leaf("x"), 5.0))
    meanings = {((5.0, "x"),): "the input comes first, its derivative second"}
    expect(step(student, z), [["x", 5.0]], hint="return [(input, derivative)]", when=meanings)


@visible("autodiff.chain_rule", section=STEP)
def two_inputs(student: SimpleNamespace) -> None:
    """A function of two inputs gives two pairs, in the order of the inputs."""
    z = result("z", (leaf("x"), 5.0), (leaf("y"), 3.0))
    meanings = {
        (("x", 3.0), ("y", 5.0)): "the derivatives have changed places",
        (("y", 3.0), ("x", 5.0)): "the order is that of history.inputs",
    }
    seen = step(student, z)
    expect(seen, [["x", 5.0], ["y", 3.0]], hint="zip(history.inputs, derivatives) pairs them", when=meanings)


@visible("autodiff.chain_rule", section="02 'Slopes multiply'")
def upstream(student: SimpleNamespace) -> None:
    """The derivative from above goes into the function's rule."""
    z = result("z", (leaf("x"), 5.0), (leaf("y"), 3.0))
    meanings = {(("x", 5.0), ("y", 3.0)): "these are the slopes alone: hand d_output, 10 here, to _backward"}
    expect(step(student, z, 10.0), [["x", 50.0], ["y", 30.0]], when=meanings)


@visible("autodiff.chain_rule", section=STEP)
def same_input_twice(student: SimpleNamespace) -> None:
    """An input that is used twice gives two pairs."""
    x = leaf("x")
    meanings = {
        (("x", 3.0),): "one of two pairs is lost: a dictionary keeps one entry for each key",
        (("x", 6.0),): "they are added up already; leave that to the caller",
    }
    seen = step(student, result("z", (x, 3.0), (x, 3.0)))
    expect(seen, [["x", 3.0], ["x", 3.0]], hint="one pair for each place in history.inputs", when=meanings)


@visible("autodiff.chain_rule", section=STEP)
def constants_left_out(student: SimpleNamespace) -> None:
    """Constants get no pair, and leave the others' derivatives where they belong."""
    z = result("z", (constant("c"), 7.0), (leaf("x"), 2.0))
    meanings = {
        (("c", 7.0), ("x", 2.0)): "c is a constant: ask each input whether it is_constant()",
        (("x", 7.0),): "x has got the derivative that belongs to the constant: pair first, filter afterwards",
    }
    expect(step(student, z), [["x", 2.0]], hint="leave out the constants", when=meanings)


@visible("autodiff.chain_rule", section=STEP)
def results_kept(student: SimpleNamespace) -> None:
    """An input that is itself a result is kept: the derivative has to pass through it."""
    a = result("a", (leaf("x"), 2.0))
    meanings: Mapping[Any, str] = {(("y", 3.0),): "a is no leaf, but no constant either"}
    seen = step(student, result("z", (a, 5.0), (leaf("y"), 3.0)))
    expect(seen, [["a", 5.0], ["y", 3.0]], hint="only constants are left out", when=meanings)


def names(order: object) -> list[str]:
    """Return the names of the variables in an order."""
    if order is None:
        hint = "is a `return` missing? order.reverse() gives None, too: it turns the list round where it is"
        raise Expectation(None, None, "got None, expected a list of variables", hint, None)
    if not isinstance(order, Iterable):
        hint = "return a list of variables"
        raise Expectation(order, None, f"got a {type(order).__name__}, expected a list of variables", hint, None)
    return [str(getattr(node, "name", node)) for node in order]


TWICE = (
    "{name} is in the list {count} times. What waits on a stack may be pushed again by another user: when you take a "
    "variable, leave it if its unique_id was met, and remember the id before you go on"
)


def expect_once(seen: list[str]) -> None:
    """Expect no variable twice in an order; all have names of their own."""
    for name in seen:
        if (count := seen.count(name)) > 1:
            reason = f"got {', '.join(seen)}, expected each variable once"
            raise Expectation(seen, None, reason, TWICE.format(name=name, count=count), None)


@visible("autodiff.topological_sort", section=ORDER)
def chain(student: SimpleNamespace) -> None:
    """The result comes first, the leaf last."""
    a = result("a", (leaf("x"), 1.0))
    seen = names(student.topological_sort(result("z", (a, 1.0))))
    meanings = {("x", "a", "z"): "this is the way forward; derivatives travel the other way: turn the list round"}
    expect(seen, ["z", "a", "x"], hint="begin with the variable that was given", when=meanings)


@visible("autodiff.topological_sort", section=ORDER)
def every_user_before_its_inputs(student: SimpleNamespace) -> None:
    """Every variable comes after the variables computed from it."""
    a = result("a", (leaf("x"), 2.0))
    b = result("b", (a, 3.0))
    meanings = {
        ("z", "a", "b", "x"): "layer by layer, a comes before b, although b was computed from a: a breadth-first walk "
        "turns to a before all of its derivative has arrived",
        ("z", "a", "x", "b"): "a was put down, or marked as seen, when it was first met: mark it when its turn comes, "
        "put it down when everything behind it is done, and turn the list round at the end",
        ("x", "a", "b", "z"): "this is the way forward: turn the list round",
    }
    seen = names(student.topological_sort(result("z", (a, 30.0), (b, 10.0))))
    expect_once(seen)
    expect(seen, ["z", "b", "a", "x"], hint="b was computed from a, so b must come before a", when=meanings)


@visible("autodiff.topological_sort", section=ORDER)
def meeting_point(student: SimpleNamespace) -> None:
    """Where two ways meet, the meeting point comes after both, and only once."""
    x = leaf("x")
    a, b = result("a", (x, 1.0)), result("b", (x, 1.0))
    seen = names(student.topological_sort(result("z", (a, 1.0), (b, 1.0))))
    expect_once(seen)
    lost = "every variable that is no constant has its place in the list"
    expect(sorted(seen), ["a", "b", "x", "z"], hint=lost)
    meanings = {"z": "the result comes first, x last: turn the list round"}
    expect(seen[-1], "x", hint="x must wait for both a and b", when=meanings)


@visible("autodiff.topological_sort", section=ORDER)
def equal_values(student: SimpleNamespace) -> None:
    """Two variables of the same value are two variables."""
    x = leaf("x")
    a, b = result("a", (x, 1.0), is_alike=True), result("b", (x, 1.0), is_alike=True)
    seen = names(student.topological_sort(result("z", (a, 1.0), (b, 1.0))))
    hint = "a and b have the same value, and `==` compares values, as `in` does for a list: compare by unique_id"
    expect(sorted({"a", "b"} & set(seen)), ["a", "b"], hint=hint)


@visible("autodiff.topological_sort", section=ORDER)
def no_constants(student: SimpleNamespace) -> None:
    """Constants are left out."""
    a = result("a", (leaf("x"), 1.0), (constant("two"), 1.0))
    seen = names(student.topological_sort(result("z", (constant("three"), 1.0), (a, 1.0))))
    found = [name for name in seen if name in ("two", "three")]
    expect(found, [], hint="no derivative is wanted in a constant: ask is_constant()")
    expect(sorted(seen), ["a", "x", "z"], hint="leave out the constants, and nothing else")


@visible("autodiff.topological_sort", section=ORDER)
def called_again(student: SimpleNamespace) -> None:
    """A second call gives the same order again."""
    z = result("z", (leaf("x"), 1.0))
    first = names(student.topological_sort(z))
    hint = "is something remembered from the first call, such as a default argument seen=set()?"
    expect(names(student.topological_sort(z)), first, hint=hint)
    expect(sorted(first), ["x", "z"])


@visible("autodiff.topological_sort", section="03 'As deep as it gets'")
def deep(student: SimpleNamespace) -> None:
    """A chain of 5,000 variables is sorted, too."""
    node = leaf("x")
    for _ in range(4_999):
        node = result("a", (node, 1.0))
    try:
        seen = student.topological_sort(node)
    except RecursionError:
        reason = "the sort calls itself more often than Python allows (RecursionError)"
        raise Expectation(None, None, reason, ALMOST if is_right(student) else UNSORTED, None) from None
    expect(len(names(seen)), 5_000, of="the number of variables in the order")


ALMOST = (
    "your order is right, and that is most of the points. The section named below turns a sort that calls itself into "
    "a loop with a list of what is still to do"
)
UNSORTED = "mend the order of small graphs first, by the checks above; the section named below is about deep ones"


def is_right(student: SimpleNamespace) -> bool:
    """Return whether an answer sorts a small graph."""
    a = result("a", (leaf("x"), 2.0), (constant("two"), 1.0))
    try:
        with unwatched():
            order = student.topological_sort(result("z", (a, 30.0), (result("b", (a, 3.0)), 10.0)))
        return names(order) == list("zbax")
    except Exception:  # whatever it is, another check says it
        return False


def _in_layers(variable: Any, step: int = 1) -> list[Any]:
    """Order a graph layer by layer, which is wrong where ways have different lengths."""
    order, seen, queue = [], {variable.unique_id}, [variable]
    while queue:
        order.append(queue.pop(0))
        for parent in list(order[-1].parents)[::step]:
            if parent.unique_id not in seen and not parent.is_constant():
                seen.add(parent.unique_id)
                queue.append(parent)
    return order


def _counted(variable: Any, inputs: Callable[[Any], list[Any]] = lambda node: list(node.parents)) -> list[Any]:
    """Order a graph by counting uses."""
    uses, to_do = {variable.unique_id: 0}, [variable]
    while to_do:
        for parent in inputs(to_do.pop()):
            if parent.unique_id not in uses:
                to_do.append(parent)
            uses[parent.unique_id] = uses.get(parent.unique_id, 0) + 1
    order, ready = [], [variable]
    while ready:
        order.append(ready.pop())
        for parent in inputs(order[-1]):
            uses[parent.unique_id] -= 1
            if not uses[parent.unique_id]:
                ready.append(parent)
    return order


def _varying(node: Any) -> list[Any]:
    return [parent for parent in node.parents if not parent.is_constant()]


def _by_counts(variable: Any) -> list[Any]:
    return _counted(variable, _varying)


def _by_counts_mirrored(variable: Any) -> list[Any]:
    return _counted(variable, lambda node: _varying(node)[::-1])


def _judged(student: SimpleNamespace, sort: Callable[[Any], list[Any]], *, passes: bool, hint: str) -> None:
    of = f"the verdict on a {'right' if passes else 'wrong'} sort"
    expect(bool(student.is_sort(sort, leaf, constant, result)), passes, hint=hint, of=of)


HUNT = "03 'A hunt'"


@visible("autodiff.is_sort", section=HUNT)
def right_sorts_pass(student: SimpleNamespace) -> None:
    """Two right sorts pass, which put the inputs of a variable in different orders."""
    hint = "several orders of a graph are right: ask where each variable stands, and not for one order"
    _judged(student, _by_counts, passes=True, hint=hint)
    _judged(student, _by_counts_mirrored, passes=True, hint=hint)


@visible("autodiff.is_sort", section=HUNT)
def wrong_orders_are_refused(student: SimpleNamespace) -> None:
    """An order turned round is refused, and a breadth-first walk that begins with the first or with the last input."""
    _judged(student, lambda z: _by_counts(z)[::-1], passes=False, hint="this sort puts the leaves first")
    hint = "a breadth-first walk is right unless a variable is reached by a short way and by a longer one"
    _judged(student, _in_layers, passes=False, hint=hint)
    hint = "this breadth-first walk turns to the last input first: exchange the inputs of your graph"
    _judged(student, lambda z: _in_layers(z, -1), passes=False, hint=hint)


@visible("autodiff.is_sort", section=HUNT)
def wrong_members_are_refused(student: SimpleNamespace) -> None:
    """A list without its last variable, with one twice, or with constants is refused."""
    hint = "this sort loses the last variable: compare with all that you can reach from the result"
    _judged(student, lambda z: _by_counts(z)[:-1] or [z], passes=False, hint=hint)
    hint = "this sort lists its last variable twice, which a set of ids does not see"
    _judged(student, lambda z: [*_by_counts(z), _by_counts(z)[-1]], passes=False, hint=hint)
    hint = "this sort lists constants: put some into your graphs"
    _judged(student, _counted, passes=False, hint=hint)


@visible("autodiff.is_sort", section=HUNT)
def calls(student: SimpleNamespace) -> None:
    """A sort that is right in its first call only is refused, and so is one that raises RecursionError."""
    listed: set[int] = set()

    def remembering(variable: Any) -> list[Any]:
        order = [node for node in _by_counts(variable) if node.unique_id not in listed]
        listed.update(node.unique_id for node in order)
        return order

    _judged(student, remembering, passes=False, hint="this sort forgets nothing between calls: sort a graph again")

    def recursive(variable: Any) -> list[Any]:
        order: dict[int, Any] = {}

        def visit(node: Any) -> None:
            for parent in _varying(node):
                if parent.unique_id not in order:
                    visit(parent)
            order[node.unique_id] = node

        visit(variable)
        return list(order.values())[::-1]

    hint = "this sort calls itself: try a chain of some thousand variables, and catch RecursionError"
    with hinting(hint, RecursionError, message="the sort calls itself more often than Python allows"):
        _judged(student, recursive, passes=False, hint=hint)


NOTHING = "x has received nothing: hand what arrives at a leaf to its accumulate_derivative"
FIRST = (
    "nothing has been kept for that variable yet, so nothing can be added to it: begin with 0.0, by get(key, 0.0) or "
    "defaultdict(float); the variable that was given begins with deriv"
)


def walk(student: SimpleNamespace, z: Node, deriv: float = 1.0) -> None:
    """Let the student's engine go back from a stand-in. Both ways of asking for a step work."""
    # `autodiff.chain_rule` may still be an exercise to do; the stand-ins can take the step by themselves.
    with exercises.install({"autodiff.chain_rule": lambda variable, d_output: variable.chain_rule(d_output)}):
        try:
            with hinting(FIRST, KeyError, message="there is no entry for a variable"):
                student.backpropagate(z, deriv)
        except ExerciseNotDone as error:
            if error.exercise != "autodiff.chain_rule":
                raise
            hint = "write `variable.chain_rule(d_output)`: the method asks for whatever the library has at that time"
            reason = "the name chain_rule means what was imported above, before your own was put into the library"
            raise Expectation(None, None, reason, hint, None) from error


def wrong_order(student: SimpleNamespace) -> Expectation | None:
    """Return the fault if an answer walks in an order that its topological_sort has wrong."""
    order = order_of(student.backpropagate)
    if order in (["z", "b", "a", "x"], []):
        return None
    reason = f"it walks in the order of topological_sort, which gives {', '.join(order)}, expected z, b, a, x"
    hint = 'mend topological_sort first: `check("autodiff.topological_sort")` says more'
    return Expectation(order, None, reason, hint, None)


def order_of(backpropagate: Any) -> list[str]:
    """Return the order of a small graph by the answer's topological_sort, or nothing if it calls none or fails."""
    sort = called_by(backpropagate, "topological_sort", autodiff)
    a = result("a", (leaf("x"), 2.0))
    z = result("z", (a, 30.0), (result("b", (a, 3.0)), 10.0))
    try:
        return names(sort(z)) if sort else []
    except Exception:  # whatever it is, the check of topological_sort explains it
        return []


@visible("autodiff.backpropagate", section="02 'Slopes multiply'")
@blaming(wrong_order)
def product_of_slopes(student: SimpleNamespace) -> None:
    """Along a chain the slopes multiply, beginning with deriv."""
    x = leaf("x")
    z = result("z", (result("a", (x, 2.0)), 3.0))
    walk(student, z, 10.0)
    meanings = {
        6.0: "6 = 2 * 3 is the answer for a start of 1.0; begin with deriv, 10 here",
        20.0: "each step back takes what has arrived at that variable, not deriv again",
        5.0: "slopes along a chain multiply",
        None: NOTHING,
    }
    expect(x.derivative, 60.0, hint="2 * 3 * 10", when=meanings)


@visible("autodiff.backpropagate", section=PATHS)
@blaming(wrong_order)
def leaves_only(student: SimpleNamespace) -> None:
    """50 -> 100 -> 300: the leaf stores 6.0, the results on the way store nothing."""
    x = leaf("x")
    a = result("a", (x, 2.0))
    z = result("z", (a, 3.0))
    walk(student, z)
    expect(
        [x.derivative, a.derivative, z.derivative],
        [6.0, None, None],
        hint="call accumulate_derivative for leaves only; keep the others' derivatives in a dictionary",
        when={(None, None, None): NOTHING},
    )


@visible("autodiff.backpropagate", section=PATHS)
@blaming(wrong_order)
def two_paths(student: SimpleNamespace) -> None:
    """Derivatives that arrive along two paths are added up."""
    x = leaf("x")
    y = result("y", (x, 2.0))
    a, b = result("a", (y, 3.0)), result("b", (y, 5.0))
    walk(student, result("z", (a, 7.0), (b, 11.0)))
    lost = "one of the two paths is lost: add to what has arrived already instead of replacing it"
    expect(x.derivative, 152.0, hint="2 * (3 * 7 + 5 * 11)", when={42.0: lost, 110.0: lost, None: NOTHING})


@visible("autodiff.backpropagate", section=PATHS)
@blaming(wrong_order)
def one_step_two_paths(student: SimpleNamespace) -> None:
    """An input that is used twice in one step gets both derivatives."""
    x = leaf("x")
    walk(student, result("z", (x, 3.0), (x, 4.0)))
    lost = "the pairs of one step may name a variable twice, and both count"
    expect(x.derivative, 7.0, hint="3 + 4", when={3.0: lost, 4.0: lost, None: NOTHING})


@visible("autodiff.backpropagate", section=ORDER)
@blaming(wrong_order)
def short_and_long_path(student: SimpleNamespace) -> None:
    """A variable hands on its derivative when all of it has arrived, and once."""
    x = leaf("x")
    a = result("a", (x, 2.0))
    b = result("b", (a, 3.0))
    walk(student, result("z", (a, 7.0), (b, 10.0)))
    meanings = {
        14.0: "a handed on what it had from z before b's part arrived: walk in the order of topological_sort, not "
        "breadth first",
        60.0: "the part along b has replaced the part that came straight from z: add them",
        None: NOTHING,
    }
    expect(x.derivative, 74.0, hint="2 * (7 + 3 * 10)", when=meanings)
    never = "a was not asked at all: `a.chain_rule(d_output)` takes the step"
    asked = "this is how often a was asked for a step back; add up first, then take one step"
    expect(len(a.received), 1, hint=asked, when={0: never}, of="the number of steps back through a")


@visible("autodiff.backpropagate", section=PATHS)
@blaming(wrong_order)
def second_pass_adds(student: SimpleNamespace) -> None:
    """A second pass adds to what the leaf has: 2.0 and then 3.0 make 5.0."""
    x = leaf("x")
    for slope in (2.0, 3.0):
        walk(student, result("z", (x, slope)))
    replaced = "the first pass was replaced: hand derivatives to accumulate_derivative, which adds"
    expect(x.derivative, 5.0, hint="accumulate_derivative adds", when={3.0: replaced, None: NOTHING})


@visible("autodiff.backpropagate", section="03 'As deep as it gets'")
@blaming(wrong_order)
def deep_chain(student: SimpleNamespace) -> None:
    """A chain of 5,000 variables is differentiated, too."""
    x = node = leaf("x")
    for _ in range(4_999):
        node = result("a", (node, 1.0))
    walk(student, node, 2.0)
    expect(x.derivative, 2.0, when={None: NOTHING})
