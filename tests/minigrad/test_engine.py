"""The engine of tensors: backward passes, graphs, changes in place, hooks, and the specification beside it."""

import gc
import re
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad import autodiff, engine, exercises, functions, tensor_functions
from minigrad.backward import changes, steps
from minigrad.errors import FunctionError, GraphError
from minigrad.functions import Function

INF, NAN = float("inf"), float("nan")


def leaf(*values, **options):
    return mg.tensor(list(values), requires_grad=True, **options)


@pytest.fixture(params=["quick", "readable"])
def walk(request):
    """Run a test with the quick walk, and again with the specification in `autodiff`."""
    with mg.backend("numba" if request.param == "quick" else "python"):
        yield request.param


# --- what the seeds of the course say ------------------------------------------------------------------------


def test_numbers_of_the_seeds(walk):
    """The printed examples of the documents that the course grew from, with their right values."""
    x = mg.arange(4, dtype=mg.float32).requires_grad_(True)
    y = 2 * mg.dot(x, x)
    assert y.item() == 28.0
    y.backward()
    assert x.grad.tolist() == [0.0, 4.0, 8.0, 12.0]

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = x * y + x.sum()
    assert z.tolist() == [6.0, 11.0]
    z.sum().backward()
    assert x.grad.tolist() == [5.0, 6.0]
    assert y.grad.tolist() == [1.0, 2.0]

    x = leaf(2.0, 3.0)
    (first,) = mg.autograd.grad((x**3).sum(), x, create_graph=True)
    assert first.tolist() == [12.0, 27.0]
    (second,) = mg.autograd.grad(first.sum(), x)
    assert second.tolist() == [12.0, 18.0]

    x = mg.randn(2, 3, 4, requires_grad=True)
    y = x.permute(2, 0, 1)
    assert y.shape == (4, 2, 3)
    upstream = mg.randn(4, 2, 3)
    y.backward(upstream)
    assert x.grad.equal(upstream.permute(1, 2, 0))
    assert not np.array_equal(x.grad.numpy(), upstream.numpy().reshape(2, 3, 4))


def test_the_matrix_example_gives_166(walk):
    """sum((X W)^2) of the appendix: its forward value 166, its gradients by the two matrix products."""
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = mg.tensor([[1.0, 0.0], [2.0, 1.0]], requires_grad=True)
    h = x @ w
    loss = (h**2).sum()
    assert h.tolist() == [[5.0, 2.0], [11.0, 4.0]]
    assert loss.item() == 166.0
    loss.backward()
    assert np.allclose(w.grad.numpy(), x.detach().numpy().T @ (2 * h.detach().numpy()))
    assert np.allclose(x.grad.numpy(), 2 * h.detach().numpy() @ w.detach().numpy().T)


# --- graphs of all forms -------------------------------------------------------------------------------------


def test_gradients_of_diamonds_add_up(walk):
    """A value used along several paths receives the sum of their gradients."""
    x = leaf(3.0)
    a = x * x
    b = a * 2.0 + a * x + x
    b.sum().backward()
    assert x.grad.tolist() == [4 * 3.0 + 3 * 9.0 + 1]


def test_gradients_add_up_over_passes(walk):
    """A second pass adds to the gradient that is there, and the first gradient's memory is nobody else's."""
    x = leaf(1.0, 2.0)
    upstream = mg.tensor([10.0, 20.0])
    (x * 1.0).backward(upstream)
    first = x.grad
    (x + 0.0).backward(upstream)
    assert x.grad.tolist() == [20.0, 40.0]
    assert upstream.tolist() == [10.0, 20.0]
    a, b = leaf(1.0), leaf(2.0)
    (a + b).backward()
    a.grad.fill_(7.0)
    assert b.grad.tolist() == [1.0]
    assert first.shape == (2,)


def test_expanded_gradients_can_be_changed(walk):
    """The gradient of a sum is a full array, each element with a place of its own."""
    x = mg.zeros(2, 3, requires_grad=True)
    x.sum().backward()
    x.grad[0, 0] = 5.0
    assert x.grad.tolist() == [[5.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_deep_graphs_need_no_recursion():
    """Fifty thousand operations in a row are differentiated, and freed."""
    x = leaf(1.0, dtype=mg.float64)
    y = x
    for _ in range(50_000):
        y = y + 1e-3
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y
    gc.collect()


def test_wide_graphs():
    """A value used a thousand times receives a thousand gradients."""
    x = leaf(2.0, dtype=mg.float64)
    parts = [x * float(i) for i in range(1000)]
    mg.stack(parts).sum().backward()
    assert x.grad.tolist() == [499500.0]


def test_gradients_are_summed_over_repeated_axes(walk):
    """An input that was broadcast gets the sum over all places where its elements were used."""
    a = mg.ones(3, 1, requires_grad=True)
    b = mg.ones(2, 1, 4, requires_grad=True)
    c = mg.tensor(1.0, requires_grad=True)
    upstream = mg.tensor(np.arange(24.0, dtype=np.float32).reshape(2, 3, 4))
    (a * b + c).backward(upstream)
    wanted = upstream.numpy()
    assert np.allclose(a.grad.numpy(), wanted.sum((0, 2)).reshape(3, 1))
    assert np.allclose(b.grad.numpy(), wanted.sum(1, keepdims=True))
    assert np.allclose(c.grad.numpy(), wanted.sum())


@pytest.mark.parametrize("size", [3, 5_000, 50_000])
def test_large_tensors_differentiate_as_small_ones(size):
    """Above and below the sizes where compiled and fused loops take over, gradients are those of the formula."""
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=size), rng.normal(size=size), rng.normal(size=size)
    a, b, c = (mg.tensor(v, requires_grad=True) for v in (x, y, 0.5))
    ((a * b + c).sigmoid() * mg.exp(-a)).backward(mg.tensor(w))
    s = 1 / (1 + np.exp(-(x * y + 0.5)))
    assert np.allclose(a.grad.numpy(), w * np.exp(-x) * (s * (1 - s) * y - s))
    assert np.allclose(b.grad.numpy(), w * np.exp(-x) * s * (1 - s) * x)
    assert np.allclose(c.grad.numpy(), (w * np.exp(-x) * s * (1 - s)).sum())


@pytest.mark.parametrize("size", [3, 5_000, 50_000])
@pytest.mark.full("graphs of fifty thousand numbers", share=4)
def test_paths_that_meet_leave_other_gradients_alone(walk, size):
    """Where a sum hands one gradient to two inputs, what one of them receives besides is not added to the other's."""
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=size), rng.normal(size=size)
    a, b = (mg.tensor(np.ones(size), requires_grad=True) for _ in range(2))
    before = a * 2.0  # made before the sum: its gradient arrives later
    ((a + b) * mg.tensor(u) + before * mg.tensor(v)).sum().backward()
    assert np.allclose(a.grad.numpy(), u + 2.0 * v)
    assert np.allclose(b.grad.numpy(), u)


KEYS = [
    (0, ...),
    slice(1, 4),
    (slice(None, None, 2), 1),
    (Ellipsis, None, slice(1)),
    np.array([2, 2, 0]),
    (np.array([0, 4]), np.array([1, 1])),
    (3, 2, ...),
    (),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chosen", [*([each] for each in range(len(KEYS))), [*range(len(KEYS))] * 3], ids=str)
def test_gradients_of_parts_that_overlap_add_up(walk, dtype, chosen):
    """Parts of every kind, in any order, each with a gradient of its own. A zero has no sign: it is a sum."""
    rng = np.random.default_rng(0)
    x, wanted = mg.tensor(rng.normal(size=(5, 3)).astype(dtype), requires_grad=True), np.zeros((5, 3), dtype)
    parts, starts = [], []
    for number in rng.permutation(chosen):
        parts.append(x[KEYS[number]])
        starts.append(np.array(rng.integers(0, 2, parts[-1].shape) * -1.0, dtype))
        np.add.at(wanted, KEYS[number], starts[-1])
    (found,) = mg.autograd.grad(parts, x, [mg.tensor(start) for start in starts])
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), wanted)
    np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(wanted))


@pytest.mark.parametrize("at_once", [False, True])
def test_a_loop_over_rows_makes_zeros_once(monkeypatch, at_once):
    """Every further row is added to the gradient that is there: the time of a loop grows with the rows."""
    made = []
    forward = tensor_functions.IndexAdd.forward
    monkeypatch.setattr(
        tensor_functions.IndexAdd, "forward", lambda *given, **o: made.append(1) or forward(*given, **o)
    )
    x = mg.ones(50, 3, requires_grad=True)
    rows = list(x) if at_once else (x[i] for i in range(50))
    sum(row * float(i) for i, row in enumerate(rows)).sum().backward()
    assert x.grad.tolist() == [[float(i)] * 3 for i in range(50)]
    assert len(made) == 1


def test_a_part_is_not_added_to_a_gradient_that_others_hold(walk):
    """A sum hands one array to both inputs; a start and what a hook keeps belong to others."""
    a, b = mg.zeros(2, requires_grad=True), mg.zeros(2, requires_grad=True)
    x, y = a * 1.0, b * 1.0
    row = x[0]
    both = x + y
    start = mg.tensor([10.0, 20.0])
    kept = []
    both.register_hook(kept.append)
    mg.autograd.backward([row, both], [mg.tensor(5.0), start])
    assert a.grad.tolist() == [15.0, 20.0] and b.grad.tolist() == [10.0, 20.0]
    assert start.tolist() == [10.0, 20.0] and kept[0].tolist() == [10.0, 20.0]
    x = a * 1.0
    row = x[1]
    mg.autograd.grad([x, row], a, [start, mg.tensor(5.0)])
    assert start.tolist() == [10.0, 20.0]
    row = a[1]
    (found,) = mg.autograd.grad(row + a.sum(), a)  # the gradient of a sum is one number, repeated by a stride of 0
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("in_rows", [True, False])
def test_a_part_is_not_added_to_a_repeated_gradient(walk, in_rows):
    """The gradient of a sum along an axis looks at that of the result: in rows or not, it is another's memory."""
    x, w = mg.zeros(2, 4, 3, requires_grad=True), mg.zeros(4, 3, requires_grad=True)
    part, total = x[0], x.sum(0)
    start = mg.ones(4, 3) if in_rows else mg.ones(3, 4).T
    kept = []
    total.register_hook(kept.append)
    mg.autograd.backward([total + w, part], [start, mg.full((4, 3), 7.0)])
    assert x.grad.tolist() == [[[8.0] * 3] * 4, [[1.0] * 3] * 4]
    assert all(np.all(each.numpy() == 1.0) for each in (w.grad, start, *kept))
    x.sum(0).backward(start)
    x.grad.mul_(2.0)  # no elements that share memory
    assert np.all(start.numpy() == 1.0)
    y = mg.zeros(2, 4, 3, requires_grad=True)
    y.sum(0).backward(start)
    y.grad.mul_(2.0)
    assert np.all(y.grad.numpy() == 2.0) and np.all(start.numpy() == 1.0)


@pytest.mark.parametrize("kind", [bytearray, bytes])
def test_a_part_is_not_added_to_memory_of_another_library(walk, kind):
    """A rule may return an array over memory that NumPy does not own: it is read only."""
    ones = np.ones(6, np.float32).tobytes()
    memory = kind(ones)

    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, d_output):
            return mg.from_numpy(np.ndarray((2, 3), np.float32, memory))

    x = mg.zeros(2, 3, requires_grad=True)
    row = x[1]
    mg.autograd.backward([row, Constant.apply(x)], [mg.full((3,), 5.0), mg.zeros(2, 3)])
    assert x.grad.tolist() == [[1.0] * 3, [6.0] * 3] and memory == ones
    x = mg.zeros(2, 3, requires_grad=True)
    Constant.apply(x).sum().backward()
    x.grad.zero_()
    assert memory == ones


def test_a_rule_of_ones_own_is_used_for_every_part(walk):
    """`add_back` belongs to the rule of `Index`; a rule in its place has none, and serves each part."""

    class Reversed(tensor_functions.Index):
        @staticmethod
        def backward(ctx, d_output):
            return tensor_functions.Index.backward(ctx, d_output * -1.0)

    x = mg.zeros(2, 3, requires_grad=True)
    (Reversed.apply(x, key=(0, ...)).sum() + Reversed.apply(x, key=(1, ...)).sum()).backward()
    assert x.grad.tolist() == [[-1.0] * 3] * 2


def test_quick_rules_are_the_rules():
    """Every quick twin of a rule returns what the rule in `functions` returns."""
    rng = np.random.default_rng(1)
    for function in list(steps.rules):
        n = 2 if function in (functions.Add, functions.Sub, functions.Mul, functions.Div) else 1
        inputs = [mg.tensor(rng.uniform(0.5, 2.0, 3), requires_grad=True) for _ in range(n)]
        out = function.apply(*inputs)
        d = rng.normal(size=3)
        quick = steps.step_on_arrays(out, d)
        rule = steps.rules.pop(function)
        try:
            slow = steps.step_on_arrays(out, d)
        finally:
            steps.rules[function] = rule
        assert all(np.allclose(q, s) for q, s in zip(quick, slow, strict=True)), function


# --- what can be asked of a backward pass --------------------------------------------------------------------


def test_a_gradient_is_needed_for_several_elements(walk):
    """Only a tensor of one element can do without `gradient`, which must have the tensor's shape."""
    x = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match=r"shape \(2,\) has no single gradient"):
        (x * 2).backward()
    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) for a tensor of shape \(2,\)"):
        (x * 2).backward(mg.ones(3))
    (x * 2).backward([1.0, 10.0])
    assert x.grad.tolist() == [2.0, 20.0]


def test_a_freed_graph_says_so(walk):
    """After a backward pass the graph is gone, unless it was to be kept."""
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(GraphError, match=r"freed by an earlier backward pass.*retain_graph=True"):
        y.backward()
    assert x.grad.tolist() == [12.0]


def test_the_memory_of_a_freed_graph_is_given_back():
    """Inputs of a result are let go by its backward pass."""
    x = leaf(1.0, 2.0)
    middle = x * 2.0
    y = (middle * middle).sum()
    gone = weakref.ref(middle)
    del middle
    assert gone() is not None
    y.backward()
    assert gone() is None


def test_constants_cannot_be_differentiated():
    """A tensor that depends on nothing that requires gradients says so."""
    with pytest.raises(GraphError, match="depends on none that requires gradients"):
        mg.ones(1).backward()
    x = leaf(1.0)
    with mg.no_grad():
        y = x * 2
    assert not y.requires_grad
    with pytest.raises(GraphError, match="computed under no_grad"):
        y.backward()
    with mg.no_grad(), mg.enable_grad():
        assert (x * 2).requires_grad


def test_detach_cuts_the_graph():
    """What is computed from a detached tensor leaves the tensor's gradient alone."""
    x = leaf(3.0)
    (x * x.detach()).sum().backward()
    assert x.grad.tolist() == [3.0]
    assert x.data.requires_grad is False


def test_autograd_grad_leaves_grads_alone(walk):
    """grad returns gradients of leaves and of results on the way, and changes no `grad`."""
    x, y = leaf(2.0), leaf(5.0)
    middle = x * y
    out = middle * middle
    d_middle, d_x = mg.autograd.grad(out, [middle, x])
    assert d_middle.tolist() == [20.0]
    assert d_x.tolist() == [100.0]
    assert x.grad is None
    assert y.grad is None


def test_autograd_grad_of_unused_inputs(walk):
    """An input that the result does not depend on is an error, or None where that is allowed."""
    x, y = leaf(2.0), leaf(5.0)
    with pytest.raises(GraphError, match="no output depends on input 1"):
        mg.autograd.grad(x * 2, [x, y])
    assert mg.autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None
    with pytest.raises(GraphError, match="input 0 does not require gradients"):
        mg.autograd.grad(x * 2, [mg.ones(1)])


def test_several_outputs_add_up(walk):
    """autograd.grad and autograd.backward take several results with a gradient each."""
    x = leaf(2.0)
    outs = [x * x, x * 3.0]
    (g,) = mg.autograd.grad(outs, x, [mg.tensor([10.0]), mg.tensor([100.0])], retain_graph=True)
    assert g.tolist() == [340.0]
    mg.autograd.backward(outs, [mg.tensor([1.0]), None])
    assert x.grad.tolist() == [7.0]


def test_hooks_see_and_replace_gradients(walk):
    """A hook is called once with the complete gradient, may return another, and can be removed."""
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 3.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    handle = y.register_hook(lambda g: g * 10.0)
    (y + y).sum().backward()
    assert seen == [[2.0, 2.0]]
    assert x.grad.tolist() == [60.0, 60.0]
    handle.remove()
    x.grad = None
    x.register_hook(lambda g: -g)
    (x * 3.0).sum().backward()
    assert x.grad.tolist() == [-3.0, -3.0]


def test_results_can_keep_their_gradient(walk):
    """retain_grad keeps the gradient of a result, as leaves have theirs."""
    x = leaf(1.0, 2.0)
    y = x * 3.0
    assert not y.retains_grad
    y.retain_grad()
    (y * y).sum().backward()
    assert y.retains_grad
    assert y.grad.tolist() == [6.0, 12.0]


def test_the_graph_can_be_looked_at():
    """grad_fn names the step, next_functions lead to the leaves, is_leaf tells them."""
    x, y = leaf(1.0), leaf(2.0)
    z = x * y + 1.0
    assert repr(z.grad_fn) == "<AddBackward0>"
    (product, _), (constant, _) = z.grad_fn.next_functions
    assert product.name() == "MulBackward0"
    assert constant is None
    assert product.next_functions[0][0].variable is x
    assert x.grad_fn is None
    assert x.is_leaf
    assert x.is_leaf()
    assert not z.is_leaf
    assert z.history.last_fn is functions.Add
    assert z.parents[0].grad_fn == product
    z.backward()
    with pytest.raises(GraphError, match="freed"):
        _ = z.grad_fn.next_functions


def test_second_derivatives_of_everything_recorded(walk):
    """With create_graph the gradients are results too: d^3/dx^3 of x^4 is 24 x."""
    x = leaf(2.0, dtype=mg.float64)
    y = (x * x * x * x).sum()
    for wanted in (32.0, 48.0, 48.0):
        (y,) = mg.autograd.grad(y, x, create_graph=True)
        assert y.tolist() == [wanted]
        y = y.sum()


def test_backward_with_create_graph_gives_gradients_that_can_be_differentiated(walk):
    """After backward(create_graph=True) the gradient of a leaf has a graph of its own."""
    x = leaf(2.0, 3.0, dtype=mg.float64)
    (x**3).sum().backward(create_graph=True)
    gradient, x.grad = x.grad, None
    assert gradient.requires_grad
    gradient.sum().backward()
    assert x.grad.tolist() == [12.0, 18.0]


def test_forward_mode_along_the_graph():
    """jvp is the Jacobian times a vector, and has derivatives itself."""
    x = leaf(1.0, 2.0, dtype=mg.float64)
    y = (x * x).sum() * x
    v = mg.tensor([3.0, -1.0], dtype=mg.float64)
    assert np.allclose(mg.autograd.jvp(y, x, v).detach().numpy(), [2 * 3.0 - 4.0 + 15.0, 2 * 6.0 - 8.0 - 5.0])
    with pytest.raises(GraphError, match="does not depend"):
        mg.autograd.jvp(y, leaf(1.0), mg.ones(1))


@pytest.mark.parametrize("make", [lambda x: x @ mg.ones(2), lambda x: x.sum(1), lambda x: x.max(1)[0], lambda x: -x[0]])
def test_a_constant_result_is_nobodys_view(walk, make):
    """What was computed from constants can be changed in place by what is recorded, whatever its array looks at."""
    result, x = make(mg.ones(2, 2)), leaf(1.0, 2.0)
    result += x
    result.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_the_gradients_to_start_from_stay_as_they_are(walk, create_graph, recorded):
    """A result that others were computed from collects gradients beside the one it starts with, not into it."""
    x = leaf(1.0, 2.0)
    middle = x * 3.0
    starts = [mg.tensor([10.0, 20.0], requires_grad=recorded), mg.tensor([1.0, 1.0], requires_grad=recorded)]
    (gradient,) = mg.autograd.grad((middle, middle * middle), x, starts, create_graph=create_graph)
    assert gradient.tolist() == [48.0, 96.0]
    assert [start.tolist() for start in starts] == [[10.0, 20.0], [1.0, 1.0]]
    kept = x.contiguous()  # a leaf: x itself
    (gradient,) = mg.autograd.grad((kept, x * 2.0), x, starts, create_graph=create_graph)
    assert gradient.tolist() == [12.0, 22.0] and starts[0].tolist() == [10.0, 20.0]


# --- changes in place ----------------------------------------------------------------------------------------


def test_changes_in_place_compute_and_record():
    """Every method with an underscore changes the values where they are, with the right gradients."""
    x = leaf(0.5, 2.0, dtype=mg.float64)
    w = leaf(3.0, 4.0, dtype=mg.float64)
    y = x * 1.0
    memory = y.detach().numpy()
    before = y * 10.0
    y.mul_(w)
    y += w
    y.sigmoid_()
    after = y
    (before + after).sum().backward()
    s = 1 / (1 + np.exp(-(np.array([0.5, 2.0]) * [3.0, 4.0] + [3.0, 4.0])))
    assert np.allclose(memory, s)
    assert np.allclose(x.grad.numpy(), 10.0 + s * (1 - s) * [3.0, 4.0])
    assert np.allclose(w.grad.numpy(), s * (1 - s) * (np.array([0.5, 2.0]) + 1.0))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda y: y.add_(1.0, alpha=3.0), [4.5, 5.0]),
        (lambda y: y.sub_(1.0), [0.5, 1.0]),
        (lambda y: y.div_(2.0), [0.75, 1.0]),
        (lambda y: y.pow_(2), [2.25, 4.0]),
        (lambda y: y.neg_(), [-1.5, -2.0]),
        (lambda y: y.exp_(), np.exp([1.5, 2.0])),
        (lambda y: y.sqrt_(), np.sqrt([1.5, 2.0])),
        (lambda y: y.tanh_(), np.tanh([1.5, 2.0])),
        (lambda y: y.relu_(), [1.5, 2.0]),
        (lambda y: y.clamp_(max=1.75), [1.5, 1.75]),
        (lambda y: y.zero_(), [0.0, 0.0]),
        (lambda y: y.fill_(3.0), [3.0, 3.0]),
        (lambda y: y.copy_(mg.tensor([7.0, 8.0])), [7.0, 8.0]),
        (lambda y: y.masked_fill_(y > 1.75, 0.0), [1.5, 0.0]),
    ],
)
def test_each_change_in_place_is_its_function(change, wanted):
    """The values are those of the function, and gradcheck holds for what follows."""
    start = np.array([1.5, 2.0])
    y = mg.tensor(start)
    assert change(y) is y
    assert np.allclose(y.numpy(), wanted)

    def changed(x):
        y = x * 1.0
        change(y)
        return y * x

    assert mg.gradcheck(changed, mg.tensor(start, requires_grad=True))
    assert mg.gradgradcheck(changed, mg.tensor(start, requires_grad=True))


def test_assignment_is_recorded():
    """x[key] = value moves the gradient to the value, and nothing reaches what was overwritten."""
    x, v = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2.0
    y[1:2] = v
    y[0] = 7.0
    (y * mg.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.tolist() == [7.0, 5.0, 6.0]
    assert x.grad.tolist() == [0.0, 0.0, 200.0]
    assert v.grad.tolist() == [10.0]
    buffer = mg.zeros(3)
    buffer[1] = v[0] * 2.0
    buffer.sum().backward()
    assert v.grad.tolist() == [12.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: leaf(1.0).add_(1.0), "a leaf that requires gradients cannot be changed in place"),
        (lambda: leaf(1.0, 2.0)[0].add_(1.0), "a leaf that requires gradients cannot be changed in place"),
        (lambda: (zeros := mg.zeros(2, 1), zeros.detach().add_(leaf(1.0).sum())), "view of another"),
    ],
)
def test_changes_that_differentiation_cannot_allow(make, message):
    """Leaves are not changed in place, nor by way of a view, nor constants that do not know of their view."""
    with pytest.raises(GraphError, match=message):
        make()


def test_wrong_changes_in_place():
    """A change keeps shape and type, and elements that share their memory cannot be changed."""
    with pytest.raises(ValueError, match=r"result has shape \(2, 2\)"):
        mg.ones(2).add_(mg.ones(2, 2))
    with pytest.raises(TypeError, match="cannot be kept in int64"):
        mg.arange(2).mul_(0.5)
    with pytest.raises(ValueError, match="share their memory"):
        mg.ones(1).expand(3).add_(1.0)


def test_values_that_backward_needs_are_watched(walk):
    """If a saved value was changed, even through a view or NumPy's sharing tensor, backward refuses and says which."""
    x = leaf(1.0, 2.0)
    y = x * 3.0
    z = y * y
    with mg.no_grad():
        y[0] = 100.0
    with pytest.raises(GraphError, match=r"Mul needs a value of shape \(2,\) that was changed in place"):
        z.sum().backward()
    assert x.grad is None
    w = leaf(1.0, 2.0)
    out = (w * w).sum()
    with mg.no_grad():
        w.sub_(0.5)
    with pytest.raises(GraphError, match="changed in place"):
        out.backward()


def test_a_change_is_seen_through_a_repeated_view(walk):
    """An expanded view looks at its tensor's memory, whatever the layout."""
    for made in (lambda a: a.unsqueeze(0), lambda a: a.T.unsqueeze(0)):
        a, v = mg.ones(3, 3), mg.ones(2, 3, 3, requires_grad=True)
        y = (v * made(a).expand(2, 3, 3)).sum()
        a.mul_(5.0)
        with pytest.raises(GraphError, match="changed in place"):
            y.backward()


def test_values_that_backward_does_not_need_may_change():
    """A sum needs no values, and exp needs only its output."""
    x = leaf(1.0, 2.0)
    y = x + 1.0
    z = y + 1.0
    e = (y + 0.0).exp()
    with mg.no_grad():
        y.zero_()
    (z + e).sum().backward()
    assert np.allclose(x.grad.numpy(), 1.0 + np.exp([2.0, 3.0]))


def test_memory_of_changes_is_forgotten():
    """The note of a change goes when the memory goes."""
    x = mg.ones(3)
    x.add_(1.0)
    key = id(changes.owner_of(x._array))
    assert key in changes.modified
    del x
    gc.collect()
    assert key not in changes.modified


def test_data_can_be_replaced():
    """Assigning data gives a leaf other values, of its own type, without a record."""
    x = leaf(1.0, 2.0)
    x.data = mg.tensor([3.0, 4.0], dtype=mg.float64)
    assert x.tolist() == [3.0, 4.0]
    assert x.dtype == mg.float32
    with pytest.raises(ValueError, match=r"needs a tensor of shape \(2,\)"):
        x.data = mg.ones(3)
    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) for a tensor of shape \(2,\)"):
        x.grad = mg.ones(3)
    with pytest.raises(TypeError, match="a gradient is a Tensor or None, not float"):
        x.grad = 1.0


# --- functions of the user ------------------------------------------------------------------------------------


class Cube(Function):
    """x^3, with a rule in tensors."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, d):
        (x,) = ctx.saved_tensors
        return d * 3.0 * x * x


def test_functions_of_the_user_work_as_in_pytorch(walk):
    """forward and backward are given tensors; the rule is differentiated again."""
    x = leaf(1.0, 2.0, dtype=mg.float64)
    (Cube.apply(x) * mg.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 120.0]
    assert mg.gradgradcheck(Cube.apply, x.detach().requires_grad_())


def test_a_function_may_save_its_output():
    """A saved output is known as the result itself, to higher derivatives too."""

    class Exponential(Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, d):
            (out,) = ctx.saved_tensors
            return d * out

    assert mg.gradgradcheck(Exponential.apply, leaf(0.5, dtype=mg.float64))


def test_broken_functions_say_what_is_wrong():
    """The number of gradients, and what forward returns, are checked with the function's name."""

    class TwoForOne(Cube):
        @staticmethod
        def backward(ctx, d):
            return d, d

    class Nothing(Cube):
        @staticmethod
        def forward(ctx, x):
            return None

    with pytest.raises(FunctionError, match=r"TwoForOne\.backward returned 2 derivatives for 1 inputs"):
        TwoForOne.apply(leaf(1.0)).backward()
    with pytest.raises(FunctionError, match=r"Nothing\.forward returned NoneType"):
        Nothing.apply(leaf(1.0))
    with pytest.raises(TypeError, match="Cube takes 1 inputs, got 2"):
        Cube.apply(leaf(1.0), leaf(1.0))


def test_an_error_in_a_rule_leaves_the_graph_usable():
    """Running out of memory halfway changes no gradient and frees nothing."""
    fails = [True]

    class OutOfMemory(Cube):
        @staticmethod
        def backward(ctx, d):
            if fails:
                raise MemoryError("no room")
            return Cube.backward(ctx, d)

    x, y = leaf(2.0), leaf(1.0)
    out = (OutOfMemory.apply(x) + y * y).sum()
    with pytest.raises(MemoryError):
        out.backward()
    assert x.grad is None
    assert y.grad is None
    fails.clear()
    out.backward()
    assert x.grad.tolist() == [12.0]
    assert y.grad.tolist() == [2.0]


# --- students' functions ---------------------------------------------------------------------------------------


def test_rules_for_numbers_differentiate_tensors():
    """A student's rule of lesson 02 is what tensors use, small and large, to second order."""
    calls = []

    class Sigmoid:
        @staticmethod
        def forward(ctx, a):
            out = 1.0 / (1.0 + np.exp(-a))
            ctx.save_for_backward(a)
            return float(out)

        @staticmethod
        def backward(ctx, d_output):
            calls.append(type(d_output).__name__)
            (a,) = ctx.saved_values
            s = functions.sigmoid(a)
            return d_output * s * (1.0 - s)

    with exercises.install({"functions.Sigmoid": type("Sigmoid", (), dict(vars(Sigmoid)))}):
        for size in (3, 60_000):
            x = mg.tensor(np.linspace(-2, 2, size), requires_grad=True)
            x.sigmoid().sum().backward()
            s = 1 / (1 + np.exp(-x.detach().numpy()))
            assert np.allclose(x.grad.numpy(), s * (1 - s))
        assert "Symbol" in calls  # traced, for the large one
        assert mg.gradgradcheck(lambda x: x.sigmoid(), mg.tensor([0.3, -1.0], dtype=mg.float64, requires_grad=True))


def test_a_students_engine_differentiates_tensors():
    """With backpropagate, topological_sort or chain_rule replaced, tensors use the student's."""
    calls = []

    def backpropagate(variable, deriv):
        calls.append("backpropagate")
        derivatives = {variable.unique_id: deriv}
        for node in autodiff.topological_sort(variable):
            d = derivatives[node.unique_id]
            if node.is_leaf():
                node.accumulate_derivative(d)
            else:
                for parent, d_parent in node.chain_rule(d):
                    if parent.unique_id in derivatives:
                        derivatives[parent.unique_id] += d_parent
                    else:
                        derivatives[parent.unique_id] = d_parent

    x = leaf(1.0, 2.0)
    with exercises.install({"autodiff.backpropagate": backpropagate}):
        a = x * x
        (a + a + x).sum().backward()
    assert calls == ["backpropagate"]
    assert x.grad.tolist() == [5.0, 9.0]


def test_gradients_on_demand_go_by_a_students_engine():
    """autograd.grad and autograd.backward are made of the one backpropagate that there is."""
    calls = []

    def backpropagate(variable, deriv):
        calls.append([node.unique_id for node in autodiff.topological_sort(variable)])
        library(variable, deriv)

    library = autodiff.backpropagate
    x, y = leaf(2.0), leaf(5.0)
    with exercises.install({"autodiff.backpropagate": backpropagate}):
        middle = x * x
        (first,) = mg.autograd.grad(middle * x * y, x, create_graph=True)
        (second,) = mg.autograd.grad(first, x)
        mg.autograd.backward([x * 3.0, x * x * y])
    assert (first.tolist(), second.tolist()) == ([60.0], [60.0])
    assert (x.grad.tolist(), y.grad.tolist()) == ([23.0], [4.0])
    assert len(calls) == 3
    assert id(y) not in calls[0]  # nobody asked for its gradient


def test_unbroadcast_is_called_where_it_is_replaced():
    """The engine sums gradients by the student's function while it is installed."""
    calls = []

    def unbroadcast(gradient, shape):
        calls.append(("unbroadcast", gradient.shape, tuple(shape)))
        return engine_unbroadcast(gradient, shape)

    engine_unbroadcast = engine.unbroadcast
    x = leaf(1.0, 2.0)
    with exercises.install({"engine.unbroadcast": unbroadcast}):
        (x * mg.ones(3, 2)).sum().backward()
    assert ("unbroadcast", (3, 2), (2,)) in calls
    assert x.grad.tolist() == [3.0, 3.0]


def test_gradcheck_finds_a_wrong_rule():
    """A rule that is wrong by one part in two thousand is caught, and the element named."""

    class Wrong(Cube):
        @staticmethod
        def backward(ctx, d):
            (x,) = ctx.saved_tensors
            return d * 3.003 * x * x

    x = leaf(1.0, 2.0, dtype=mg.float64)
    with pytest.raises(
        mg.errors.GradcheckError, match=r"the gradient of input 0 is wrong in 2 of 2 elements: at \(1,\)"
    ):
        mg.gradcheck(Wrong.apply, x, rtol=1e-4)
    assert mg.gradcheck(Wrong.apply, x, rtol=1e-4, raise_exception=False) is False
    with pytest.raises(TypeError, match="float32; differences need float64"):
        mg.gradcheck(Cube.apply, leaf(1.0))
    with pytest.raises(ValueError, match="none of the inputs requires gradients"):
        mg.gradcheck(Cube.apply, mg.ones(1, dtype=mg.float64))


def rule_with(values):
    """Return the identity with a rule that gives these numbers, times the upstream gradient."""

    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, d):
            return d * mg.tensor(values, dtype=mg.float64)

    return Broken.apply


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [NAN, NAN],
            r"wrong in 2 of 2 elements: backward gives nan for 2 of them, first at \(0,\), where central diff",
        ),
        (
            [1.0, NAN],
            r"wrong in 1 of 2 elements: backward gives nan for 1 of them, first at \(1,\), where central diff",
        ),
        ([INF, NAN], r"wrong in 2 of 2 elements: backward gives nan for 1 of them, first at \(1,\)"),
        ([1.0, INF], r"wrong in 1 of 2 elements: at \(1,\) backward gives -?inf, central differences"),
        ([-INF, INF], r"wrong in 2 of 2 elements: at \(0,\) backward gives -?inf, central differences"),
    ],
)
def test_gradcheck_says_where_nan_and_infinities_stand(values, message):
    """A rule that gives no number fails the check, by the check's own error."""
    x = leaf(1.0, 2.0, dtype=mg.float64)
    with pytest.raises(mg.errors.GradcheckError, match=message):
        mg.gradcheck(rule_with(values), x)
    assert not mg.gradcheck(rule_with(values), x, raise_exception=False)


@pytest.mark.parametrize("size", [1, 2, 4, 5])
@pytest.mark.parametrize("wrong", [NAN, 0.5])
def test_gradcheck_says_what_the_differences_are_multiplied_by(size, wrong):
    """The slope of the identity is 1: the number in the message is that of the upstream gradient which it names."""
    x = leaf(*[1.0] * size, dtype=mg.float64)
    with pytest.raises(mg.errors.GradcheckError) as caught:
        mg.gradcheck(rule_with([wrong] * size), x)
    said = re.search(
        r" at \((\d),\).*differences(?: give)? (\S+); both are for an upstream gradient of (.*)$", str(caught.value)
    )
    drawn, _, usual = said[3].partition(" instead of ")
    assert usual == ("1" if size == 1 else "ones")
    if size <= 4:
        upstream = [float(number) for number in drawn.split(", ")]
        assert float(said[2]) == pytest.approx(upstream[int(said[1])], rel=1e-4)
    else:
        assert drawn == "random numbers"


def test_gradcheck_of_a_function_that_is_nan():
    """Where differences are nan nothing is proved, be the gradient nan too; both are named."""
    with pytest.raises(mg.errors.GradcheckError, match=r"backward gives nan for 1 of them, first at \(1,\)"):
        mg.gradcheck(lambda x: x * mg.tensor([1.0, NAN], dtype=mg.float64), leaf(1.0, 2.0, dtype=mg.float64))
    at_the_edge = leaf(2.0, 0.0, dtype=mg.float64)  # half of each difference is outside
    with pytest.raises(
        mg.errors.GradcheckError, match=r"central differences give nan for 1 of them, first at \(1,\), where backward"
    ):
        mg.gradcheck(lambda x: x.masked_fill(x < 0, NAN), at_the_edge)
    with pytest.raises(mg.errors.GradcheckError, match="nan"):
        mg.gradgradcheck(rule_with([NAN, 1.0]), leaf(1.0, 2.0, dtype=mg.float64))


def test_gradcheck_of_nothing_and_of_a_number():
    """Tensors without elements have no wrong ones, and a tensor without axes has the place ()."""
    assert mg.gradcheck(lambda x: x * 2.0, mg.zeros(0, 3, dtype=mg.float64, requires_grad=True))
    with pytest.raises(mg.errors.GradcheckError, match=r"nan for 1 of them, first at \(\)"):
        mg.gradcheck(rule_with(NAN), mg.tensor(1.0, dtype=mg.float64, requires_grad=True))


def test_gradcheck_sees_wrong_orders_of_elements():
    """A backward that puts elements in a wrong order is caught: the upstream gradient is random, not ones."""

    class WrongPermute(Function):
        @staticmethod
        def forward(ctx, x):
            return x.T

        @staticmethod
        def backward(ctx, d):
            return d.contiguous().view(*reversed(d.shape))

    with pytest.raises(mg.errors.GradcheckError):
        mg.gradcheck(WrongPermute.apply, mg.randn(2, 3, dtype=mg.float64, requires_grad=True))


def test_a_first_gradient_is_kept_as_a_copy():
    """What happens to the memory of a gradient afterwards does not reach the leaf's."""
    leaf, gradient = mg.zeros(3, requires_grad=True), mg.ones(3)
    engine.accumulate_grad(leaf, gradient)
    gradient.fill_(7.0)
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_further_gradient_leaves_the_earlier_one_as_it_was():
    """Who holds what `.grad` was before still has its values."""
    leaf = mg.zeros(3, requires_grad=True)
    engine.accumulate_grad(leaf, mg.ones(3))
    earlier = leaf.grad
    engine.accumulate_grad(leaf, mg.full((3,), 2.0))
    assert (earlier.tolist(), leaf.grad.tolist()) == ([1.0] * 3, [3.0] * 3)


@pytest.mark.parametrize("backend", ["numba", "python"])
def test_a_pass_through_a_view_does_not_hide_that_it_is_stale(backend):
    """A view that an earlier pass went through, or another path of the same one, is refused as before."""
    with mg.backend(backend):
        x = leaf(1.0, 2.0)
        base = x * 1.0
        view = base[:]
        before = view * 3.0
        base.mul_(2.0)
        before.sum().backward(retain_graph=True)
        assert x.grad.tolist() == [3.0, 3.0]
        for result in (view * 5.0, before + view * 5.0, view * 5.0 + before):
            with pytest.raises(GraphError, match="take the view again after the change"):
                result.sum().backward(retain_graph=True)
