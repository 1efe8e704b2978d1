"""The engine: orders, paths that meet, deep graphs, freed and interrupted graphs, and the switch for recording."""

import gc
import math
import random
import sys
import threading
import weakref

import pytest

from minigrad import Function, Scalar, autodiff, enable_grad, exercises, functions, no_grad
from minigrad.autodiff import Context, History, is_grad_enabled
from minigrad.checks import standins
from minigrad.errors import GraphError

DEEP = 100_000


# --- graphs -------------------------------------------------------------------------------------------------


def test_paths_that_meet_are_summed(engine):
    """In a diamond, both paths contribute."""
    x = Scalar(2.0)
    a, b = x * 3.0, x * x
    (a * b + a).backward()
    assert x.grad == 3 * 3 * 4 + 3


def test_a_tower_of_diamonds(engine):
    """Each of 40 diamonds doubles the derivative; no node is visited once for each of the 2^40 paths."""
    x = Scalar(1.0)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    assert x.grad == 2.0**40


def test_a_node_is_visited_after_all_of_its_users(engine):
    """A short and a long path to one node: its derivative is complete before it is handed on."""
    x = Scalar(1.5)
    shared = x * x
    long = shared
    for _ in range(10):
        long = long * 1.5 + shared
    (shared * long).backward()

    def f(v):
        s = v * v
        t = s
        for _ in range(10):
            t = t * 1.5 + s
        return s * t

    h = 1e-6
    assert x.grad == pytest.approx((f(1.5 + h) - f(1.5 - h)) / (2 * h), rel=1e-8)


def test_a_wide_graph(engine):
    """One leaf used 20,000 times, and 20,000 leaves used once."""
    x = Scalar(3.0)
    leaves = [Scalar(float(i)) for i in range(20_000)]
    total = sum((leaf * x for leaf in leaves), Scalar(0.0, requires_grad=False))
    total.backward()
    assert x.grad == sum(range(20_000))
    assert [leaf.grad for leaf in leaves] == [3.0] * 20_000
    y = Scalar(1.0)
    functions.dot([y] * 5_000, [2.0] * 5_000).backward()
    assert y.grad == 10_000.0


@pytest.mark.full("a hundred thousand operations in a row", share=12)
@pytest.mark.no_cover  # twice as quick; shorter chains run the same lines
@pytest.mark.parametrize("operation", ["add", "mul", "neg", "dot", "user"])
def test_deep_chains(operation, engine):
    """100,000 operations in a row: forward, backward and the end of the graph's life need no recursion."""

    class Copy(Function):
        """The identity."""

        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, d_output):
            return d_output

    step = {
        "add": lambda y, x: y + x,
        "mul": lambda y, x: y * 1.0,
        "neg": lambda y, x: -y,
        "dot": lambda y, x: functions.dot([y], [1.0]),
        "user": lambda y, x: Copy.apply(y),
    }[operation]
    depth = DEEP if engine == "fast" and operation != "user" else DEEP // 5
    assert sys.getrecursionlimit() < depth
    x = Scalar(1.0)
    y = x
    for _ in range(depth):
        y = step(y, x)
    y.backward(retain_graph=random.Random(operation).random() < 0.5)
    assert x.grad == (depth + 1.0 if operation == "add" else 1.0)
    del y
    gc.collect()


@pytest.mark.no_cover
def test_100_000_operations_in_the_specification():
    """The readable engine has no recursion limit either."""
    x = Scalar(1.0)
    y = x
    for _ in range(DEEP):
        y = y * 1.0
    with exercises.install({}):
        y.backward()
    assert x.grad == 1.0


def test_deep_second_derivatives(engine):
    """create_graph through 3,000 operations, and back through what it recorded."""
    x = Scalar(1.0001)
    y = x
    for _ in range(3_000):
        y = y * x
    y.backward(create_graph=True)
    first = x.grad
    x.zero_grad()
    first.backward()
    assert first.data == pytest.approx(3001 * 1.0001**3000, rel=1e-9)
    assert x.grad == pytest.approx(3001 * 3000 * 1.0001**2999, rel=1e-9)


# --- the exercises' functions on any variable -----------------------------------------------------------------


def diamond():
    """x -> a, b -> z, with z also made from a constant."""
    x, k = standins.leaf("x"), standins.constant("k")
    a = standins.result("a", (x, 2.0))
    b = standins.result("b", (a, 3.0), (x, 5.0))
    return standins.result("z", (a, 7.0), (b, 11.0), (k, 13.0)), x


def test_topological_sort_orders_any_variables():
    """Users come before what they use, each once; constants are left out."""
    z, x = diamond()
    order = list(autodiff.topological_sort(z))
    assert [node.name for node in order] == ["z", "b", "a", "x"]
    assert list(autodiff.topological_sort(x)) == [x]
    assert list(autodiff.topological_sort(standins.constant("k"))) == []


def test_backpropagate_serves_any_variables():
    """Derivatives are summed before chain_rule is called, once for each variable; only leaves store anything."""
    z, x = diamond()
    a, b, _ = z.parents
    autodiff.backpropagate(z, 10.0)
    assert (z.received, b.received, a.received) == ([10.0], [110.0], [70.0 + 330.0])
    assert x.derivative == 2 * 400 + 5 * 110
    assert (a.derivative, b.derivative, z.derivative) == (None, None, None)


def test_chain_rule_asks_the_last_function():
    """chain_rule pairs each input that is not constant with its derivative, in order."""
    z, _ = diamond()
    pairs = [(node.name, derivative) for node, derivative in autodiff.chain_rule(z, 2.0)]
    assert pairs == [("a", 14.0), ("b", 22.0)]


def test_breadth_first_order_is_not_enough():
    """z = ab with a = 2x, b = 3a at x = 5: 120, where an order by distance from z gives 60."""

    def breadth_first(variable):
        order, queue, seen = [], [variable], {variable.unique_id}
        while queue:
            node = queue.pop(0)
            order.append(node)
            for parent in node.parents:
                if parent.unique_id not in seen and not parent.is_constant():
                    seen.add(parent.unique_id)
                    queue.append(parent)
        return order

    def careless(variable, deriv):
        waiting = {variable.unique_id: deriv}
        for node in autodiff.topological_sort(variable):
            d_output = waiting.pop(node.unique_id, 0.0)
            if node.is_leaf():
                node.accumulate_derivative(d_output)
                continue
            for parent, d in node.chain_rule(d_output):
                waiting[parent.unique_id] = waiting.get(parent.unique_id, 0.0) + d

    def slope():
        x = Scalar(5.0)
        a = x * 2.0
        z = a * (a * 3.0)
        z.backward()
        return x.grad

    assert slope() == 120.0
    with exercises.install({"autodiff.topological_sort": breadth_first, "autodiff.backpropagate": careless}):
        assert slope() == 60.0
    assert slope() == 120.0


# --- what backward promises -----------------------------------------------------------------------------------


def test_repeated_backward_adds_up(engine):
    """Each pass adds the same derivative once more; the graph holds no state of the last pass."""
    x = Scalar(3.0)
    y = x * x + x.exp() * 0.0
    for times in (1, 2, 3):
        y.backward()
        assert x.grad == 6.0 * times


def test_two_results_of_one_graph(engine):
    """Backward from one result does not disturb another that shares variables with it."""
    x = Scalar(3.0)
    shared = x * x
    left, right = shared * 2.0, shared + x
    left.backward()
    right.backward()
    left.backward()
    assert x.grad == 12.0 + 7.0 + 12.0


def test_backward_from_the_middle(engine):
    """A variable in the middle can be differentiated by itself."""
    x = Scalar(3.0)
    middle = x * x
    (middle * 10.0).backward()
    middle.backward()
    assert x.grad == 66.0


def test_backward_of_a_leaf(engine):
    """The derivative of a variable in itself is 1."""
    x = Scalar(3.0)
    x.backward()
    x.backward(2)
    assert x.grad == 3.0


@pytest.mark.parametrize("name", ["add", "exp", "dot", "power"])
def test_a_freed_graph_says_whose_it_was(name, engine):
    """After retain_graph=False a second backward names the operation and says what to do."""
    x = Scalar(2.0)
    out = {
        "add": lambda: x + x,
        "exp": lambda: x.exp(),
        "dot": lambda: functions.dot([x, x], [x, 1.0]),
        "power": lambda: x ** Scalar(2.0),
    }[name]()
    out.backward(retain_graph=False)
    before = x.grad
    operation = {"add": "Add", "exp": "Exp", "dot": "Dot", "power": "Pow"}[name]
    message = rf"graph of this {operation} was freed by backward\(retain_graph=False\); compute the result again"
    for again in (
        out.backward,
        lambda: out.backward(create_graph=True),
        lambda: (out * 2.0).backward(),
        lambda: out.history,
        lambda: out.parents,
    ):
        with pytest.raises(GraphError, match=message):
            again()
    assert x.grad == before


def test_freeing_reaches_shared_parts_and_lets_memory_go(engine):
    """Results behind a freed one are freed too, and what they saved is let go."""

    class Watched(Function):
        """Saves something that can be watched."""

        @staticmethod
        def forward(ctx, a):
            ctx.big = set()
            alive.append(weakref.ref(ctx))
            return a

        @staticmethod
        def backward(ctx, d_output):
            return d_output

    alive = []
    x = Scalar(2.0)
    shared = Watched.apply(x) * 3.0
    out = shared + x
    out.backward(retain_graph=False)
    gc.collect()
    assert [ref() for ref in alive] == [None]
    with pytest.raises(GraphError, match="Mul"):
        shared.backward()
    assert x.grad == 4.0
    x.backward()


def test_a_graph_dies_with_its_last_reference(engine):
    """Nothing but the user's own references keeps a graph alive, before and after backward."""

    class Watched(Scalar):
        """Can be referred to weakly, unlike a Scalar."""

    for backward in (False, True):
        leaf = Watched(1.0)
        ref = weakref.ref(leaf)
        y = (leaf * 2.0 + 1.0).exp()
        if backward:
            y.backward()
        del leaf
        assert ref() is not None
        del y
        gc.collect()
        assert ref() is None


@pytest.mark.parametrize("kind", ["constant", "detached", "no_grad", "comparison"])
def test_backward_needs_a_variable(kind, engine):
    """backward of something that depends on no variable says so."""
    x = Scalar(1.0)
    with no_grad():
        unrecorded = x * 2.0
    value = {
        "constant": Scalar(2.0, requires_grad=False) * 3.0,
        "detached": (x * 2.0).detach() + 1.0,
        "no_grad": unrecorded * 2.0,
        "comparison": x < 2.0,
    }[kind]
    with pytest.raises(GraphError, match="backward: this Scalar depends on no variable"):
        value.backward()
    assert value.history is None
    assert value.grad is None


@pytest.mark.parametrize("gradient", [2, 2.0, True, Scalar(2.0), Scalar(2.0, requires_grad=False)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_to_start_from(gradient, create_graph, engine):
    """backward takes a number or a Scalar to start from."""
    x = Scalar(3.0)
    (x * x).backward(gradient, create_graph=create_graph)
    assert float(x.grad) == 6.0 * float(gradient)
    assert isinstance(x.grad, Scalar if create_graph else float)


@pytest.mark.parametrize("gradient", ["2", [1.0], 1j])
def test_a_gradient_that_is_no_number(gradient, engine):
    """backward names itself and what it was given."""
    x = Scalar(3.0)
    with pytest.raises(
        TypeError, match=f"backward: gradient must be a number or a Scalar, not {type(gradient).__name__}"
    ):
        (x * x).backward(gradient)


def test_the_starting_gradient_is_differentiated_too(engine):
    """With create_graph, a variable as gradient is part of the recorded pass."""
    x, v = Scalar(3.0), Scalar(5.0)
    (x * x).backward(v, create_graph=True)
    x.grad.backward()
    assert v.grad == 6.0


def test_create_graph_to_third_order(engine):
    """f = x^4 y: gradients of gradients of gradients, and mixed ones."""
    x, y = Scalar(2.0), Scalar(3.0)
    f = x**4 * y
    seen = []
    for _ in range(3):
        x.zero_grad()
        y.zero_grad()
        f.backward(create_graph=True)
        f = x.grad
        seen += [f.data, float(y.grad)]
    assert seen == pytest.approx([96.0, 16.0, 144.0, 32.0, 144.0, 48.0])


def test_plain_backward_after_create_graph(engine):
    """A float gradient is added to a Scalar one."""
    x = Scalar(3.0)
    y = x * x
    y.backward(create_graph=True)
    y.backward()
    assert float(x.grad) == 12.0


def test_create_graph_records_inside_no_grad(engine):
    """create_graph asks for recording, wherever it is called."""
    x = Scalar(3.0)
    y = x**3
    with no_grad():
        y.backward(create_graph=True)
        assert not is_grad_enabled()
    first = x.grad
    x.zero_grad()
    first.backward()
    assert (first.data, x.grad) == (27.0, 18.0)


# --- values changed in place ------------------------------------------------------------------------------------


def test_a_value_changed_after_use_does_not_change_the_derivative(engine):
    """Backward differentiates what was computed, not what stands in .data now."""
    a, b = Scalar(2.0), Scalar(3.0)
    y = a * b
    a.data = 100.0
    y.backward()
    assert (a.grad, b.grad) == (3.0, 2.0)


def test_a_value_changed_after_use_is_refused_under_create_graph(engine):
    """The recorded pass would need the old value as a variable: an error says so."""
    a, b = Scalar(2.0), Scalar(3.0)
    y = a * b
    a.data = 100.0
    with pytest.raises(GraphError, match="changed"):
        y.backward(create_graph=True)
    assert (a.grad, b.grad) == (None, None)


# --- interruptions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_interrupted_pass_leaves_a_graph_that_works(error, engine):
    """A rule that raises in the middle: the next pass gives the right gradients, and other graphs are untouched."""
    fail = [True]

    class Faulty(Function):
        """The identity, whose rule can raise."""

        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, d_output):
            if fail[0]:
                raise error("stopped")
            return d_output

    x, w = Scalar(2.0), Scalar(3.0)
    early = x * w
    inner = Faulty.apply(early * x)
    out = inner * early + inner.exp() * 0.0 + functions.dot([early, x], [inner, w])
    other = early * 5.0
    with pytest.raises(error, match="stopped"):
        out.backward()
    fail[0] = False
    x.zero_grad()
    w.zero_grad()
    other.backward()
    assert (x.grad, w.grad) == (15.0, 10.0)
    x.zero_grad()
    w.zero_grad()
    out.backward()
    seen = (x.grad, w.grad)
    h = 1e-6

    def f(x, w):
        e = x * w
        i = e * x
        return i * e + e * i + x * w

    assert seen == pytest.approx(
        ((f(2 + h, 3) - f(2 - h, 3)) / (2 * h), (f(2, 3 + h) - f(2, 3 - h)) / (2 * h)), rel=1e-7
    )


def test_a_pass_inside_a_rule_on_the_same_variables(engine):
    """A rule that runs a backward pass of its own, through variables of the outer pass, disturbs nothing."""
    x = Scalar(3.0)
    square = x * x
    scaled = square * 1.0

    class Nested(Function):
        """The identity, whose rule differentiates another result of the same variables."""

        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, d_output):
            scaled.backward()
            return d_output

    (Nested.apply(square * 2.0) + square).backward()
    assert x.grad == 6.0 + 12.0 + 6.0


def test_threads_may_share_leaves():
    """Passes at the same time over graphs that share a leaf give what they give one after the other."""
    shared = Scalar(2.0)
    own = [Scalar(float(i)) for i in range(4)]

    def work(leaf):
        for _ in range(10):
            y = leaf
            for _ in range(2_000):
                y = y + shared
            y.backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(leaf,)) for leaf in own]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [leaf.grad for leaf in own] == [10.0] * 4
    assert shared.grad == 4 * 10 * 2_000


def test_threads_take_turns():
    """A pass in another thread, over the same leaf, waits until this one is done; both are complete in the end."""
    shared = Scalar(2.0)
    other = threading.Thread(target=(shared * 3.0).backward)
    waited = []

    class Slow(Function):
        """The identity, whose rule gives the other thread time to finish."""

        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, d_output):
            other.start()
            other.join(0.1)
            waited.append(other.is_alive())
            return d_output

    Slow.apply(shared * shared).backward()
    other.join()
    assert (waited, shared.grad) == ([True], 4.0 + 3.0)


# --- recording --------------------------------------------------------------------------------------------------


def test_no_grad_as_a_context_and_nested(engine):
    """Inside no_grad results are constants; enable_grad switches back on, and each block restores what was."""
    x = Scalar(2.0)
    with no_grad():
        assert not (x * x).requires_grad
        with enable_grad():
            assert (x * x).requires_grad
            with no_grad():
                assert not is_grad_enabled()
            assert is_grad_enabled()
        assert not (functions.dot([x], [x])).requires_grad
        assert not x.exp().requires_grad
    assert is_grad_enabled()
    assert x.requires_grad


def test_no_grad_as_a_decorator(engine):
    """A decorated function computes without recording, at every call, also when it calls itself."""

    @no_grad()
    def power(x, n):
        """Return x to the n."""
        return x if n == 1 else x * power(x, n - 1)

    for _ in range(2):
        out = power(Scalar(2.0), 5)
        assert (out.data, out.requires_grad) == (32.0, False)
    assert is_grad_enabled()
    assert power.__doc__ == "Return x to the n."


def test_no_grad_ends_with_an_exception(engine):
    """An exception inside the block switches recording back on."""
    with pytest.raises(ZeroDivisionError), no_grad():
        raise ZeroDivisionError
    assert is_grad_enabled()


def test_a_result_made_under_no_grad_is_a_constant_leafless_value(engine):
    """It has no history and no parents."""
    with no_grad():
        y = Scalar(2.0) * Scalar(3.0)
    assert (y.history, y.parents, y.is_leaf(), y.is_constant()) == (None, (), False, True)


# --- contexts and histories -------------------------------------------------------------------------------------


def test_a_context_shows_what_was_saved():
    """saved_values and saved_tensors are the saved values; an empty context has none."""
    ctx = Context()
    assert ctx.saved_values == ()
    ctx.save_for_backward(1.0, 2.0)
    assert ctx.saved_values == ctx.saved_tensors == (1.0, 2.0)
    assert repr(ctx) == "Context(saved_values=(1.0, 2.0))"


def test_a_history_is_empty_by_default():
    """History() is the history of a leaf."""
    assert (History().last_fn, History().ctx, tuple(History().inputs)) == (None, None, ())


# --- a MiniTorch student's engine --------------------------------------------------------------------------------


def recursive_sort(variable):
    """Sort by a recursive depth-first search that stops where there is no history."""
    visited, order = set(), []

    def visit(node):
        if node.unique_id in visited or node.history is None:
            return
        visited.add(node.unique_id)
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(variable)
    return order[::-1]


def dictionary_engine(variable, deriv):
    """Keep derivatives in a dictionary by unique_id."""
    derivatives = {variable.unique_id: deriv}
    for node in autodiff.topological_sort(variable):
        d = derivatives[node.unique_id]
        if node.is_leaf():
            node.accumulate_derivative(d)
        else:
            for parent, d_parent in node.chain_rule(d):
                derivatives[parent.unique_id] = derivatives.get(parent.unique_id, 0.0) + d_parent


def last_function_rule(variable, d_output):
    """Ask the last function, and drop the constants."""
    h = variable.history
    assert h is not None
    assert h.last_fn is not None
    assert h.ctx is not None
    return [(i, d) for i, d in zip(h.inputs, h.last_fn._backward(h.ctx, d_output), strict=True) if not i.is_constant()]


def test_an_engine_in_minitorchs_manner_works_when_installed(engine):
    """A recursive search, a dictionary and last_fn._backward give the library's gradients, on older graphs too."""

    def program(x, y):
        a = x * 2.0 + y
        b = a.sigmoid() * x - 3.0 / y
        return functions.dot([a, b], [b, 2.0], x) + b**2 + (a * b).relu() + abs(y)

    x, y = Scalar(0.7), Scalar(-1.2)
    before = program(x, y)
    before.backward()
    wanted = (x.grad, y.grad)
    mine = {
        "autodiff.topological_sort": recursive_sort,
        "autodiff.backpropagate": dictionary_engine,
        "autodiff.chain_rule": last_function_rule,
    }
    with exercises.install(mine):
        for result in (before, program(x, y)):
            x.derivative = y.derivative = None
            result.backward()
            assert (x.derivative, y.derivative) == pytest.approx(wanted, rel=1e-13)


def test_a_recursive_engine_meets_the_recursion_limit():
    """The same engine on a graph of 5,000 operations raises RecursionError, and the graph still works afterwards."""
    x = Scalar(1.0)
    y = x
    for _ in range(5_000):
        y = y * 1.0
    with exercises.install({"autodiff.topological_sort": recursive_sort}), pytest.raises(RecursionError):
        y.backward()
    y.backward()
    assert x.grad == 1.0


def test_infinite_derivatives_pass_through(engine):
    """An infinity on the way stays one, and 0 * inf is nan as IEEE says."""
    x = Scalar(0.0)
    (x.log() * 2.0).backward()
    assert x.grad == math.inf
    y = Scalar(0.0)
    (y.log() * 0.0).backward()
    assert math.isnan(y.grad)
