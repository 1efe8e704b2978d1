"""What a user of PyTorch takes for granted: programs that give the same values, types and gradients in both."""

import importlib.util
import operator
import re
import threading

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad.errors import GraphError, IndexingError

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed: nothing to compare with"
)


def plain(value):
    """Return type, shape and values of a tensor of either library; anything else as it is."""
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, mg.Tensor) or type(value).__module__ == "torch":
        array = np.asarray(value.detach())
        return str(array.dtype), array.shape, np.round(array.astype(float), 4).tolist()
    return value


def same(program):
    """Run a program in both libraries; it is given the library and returns values."""
    assert plain(program(mg)) == plain(program(torch))


def leaf(m, *shape):
    return m.ones(*shape, requires_grad=True)


# --- changes in place, and views ----------------------------------------------------------------------------


def elements_of_a_result(m):
    a = leaf(m, 3)
    y = a * 2
    y[0] += 1
    y[1:] *= a[1:]
    y[2] -= a[0] * 3
    (y * m.tensor([1.0, 2.0, 3.0])).sum().backward()
    return y, a.grad


def elements_of_a_constant(m):
    a = leaf(m, 2, 3)
    out = m.zeros(2, 3)
    for i in range(2):
        out[i] += a[i] * (i + 1)
        out[i][0] += a[i, 1]
    (out * out).sum().backward()
    return out, out.requires_grad, a.grad


def views_of_views(m):
    a = leaf(m, 2, 3)
    y = a * 2
    y.T[0] *= 3
    y.view(-1)[1] += a.sum()
    v = y.view(3, 2).T[0]
    v.mul_(3).add_(1)
    (y * y).sum().backward()
    return y, v, a.grad


def a_view_changed_goes_on(m):
    a = leaf(m, 2, 3)
    y = a * 2
    v = y[0]
    v += 1
    v[0] = 7.0
    ((v * 2).sum() + y.sum()).backward()
    return y, v, a.grad


def selected_elements(m):
    a = leaf(m, 3)
    y = a * 2
    y[y > 0] += 1
    y[[0, 2]] *= 2
    z = y[[0, 2]]
    z += 1
    (y.sum() + z.sum()).backward()
    return y, z, a.grad


def twice_through_a_change(m):
    a = leaf(m, 2)
    y = a * a
    y[0] += a[1] * 3
    (g,) = m.autograd.grad((y * y).sum(), a, create_graph=True)
    return g, m.autograd.grad(g.sum(), a)


@needs_torch
@pytest.mark.parametrize(
    "program",
    [
        elements_of_a_result,
        elements_of_a_constant,
        views_of_views,
        a_view_changed_goes_on,
        selected_elements,
        twice_through_a_change,
    ],
)
def test_a_part_is_changed_in_place_by_way_of_the_whole(program):
    """``y[0] += 1`` is recorded, for parts of results and of constants, views of views, and copies by arrays."""
    same(program)


@needs_torch
def test_a_part_is_changed_in_place_on_the_python_backend():
    """The specification of backward gives the same gradients through changed views."""
    with mg.backend("python"):
        same(elements_of_a_result)
        same(views_of_views)


def test_a_view_taken_before_a_change_is_not_used_after_it():
    """Its values change with the base, its history does not: an error, where the gradient would be wrong in silence."""
    a = leaf(mg, 3)
    x = a * 1
    view = x[0:2]
    x.mul_(2)
    with pytest.raises(GraphError, match=r"a view of shape \(2,\) was used after"):
        view.sum().backward()
    with pytest.raises(GraphError, match=r"a view of shape \(\) was used after"):
        view[0].backward()
    with pytest.raises(GraphError, match="was used after"):
        view += 1
    x[0:2].sum().backward()
    assert a.grad.tolist() == [2.0, 2.0, 0.0]


@needs_torch
def test_a_view_used_before_a_change_keeps_its_gradient():
    """What was computed from a view before its base was changed belongs to the old values."""

    def program(m):
        a = leaf(m, 3)
        y = a * 2
        before = y[0] + 3
        y[0] += 1
        y[0] += before
        y.sum().backward()
        return y, a.grad

    same(program)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda x: x.__setitem__(0, None), TypeError, "assignment: None is neither a tensor nor numbers"),
        (lambda x: x.__setitem__(0, "a"), TypeError, "assignment: 'a' is neither a tensor nor numbers"),
        (lambda x: x.__setitem__(5, 1.0), IndexingError, r"assignment: cannot index shape \(3,\)"),
        (lambda x: x.__setitem__(slice(0, 2), mg.ones(3)), ValueError, r"assignment to a tensor of shape \(3,\)"),
        (lambda x: x.copy_(mg.ones(2)), ValueError, r"copy_ to a tensor of shape \(3,\)"),
    ],
)
def test_assignments_that_cannot_be(change, error, message):
    """Each error names the operation and the shape, and nothing is written."""
    x = mg.ones(3)
    with pytest.raises(error, match=message):
        change(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


# --- functions of users -------------------------------------------------------------------------------------


def scaled(m):
    class Scaled(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, factor=2.0, mode=None):
            ctx.save_for_backward(x, y)
            ctx.factor = factor
            return x * y * factor

        @staticmethod
        def backward(ctx, d):
            x, y = ctx.saved_tensors
            return d * y * ctx.factor, d * x * ctx.factor, None, None

    return Scaled


OUR_NAMES = ("Index", "Permute", "View", "Expand", "Sum", "ToDevice", "Mul", "IndexPut")
PARTS = {
    "rows": (lambda m, x: x[1:], lambda m, d: m.cat([m.zeros(1, 2), d])),
    "columns first": (lambda m, x: x.permute(1, 0), lambda m, d: d.permute(1, 0)),
    "one axis": (lambda m, x: x.view(6), lambda m, d: d.contiguous().view(3, 2)),
    "the same": (lambda m, x: x, lambda m, d: d),
    "a copy": (lambda m, x: x.clone(), lambda m, d: d),
}


def named(m, name, part):
    """Return a user's Function of that name, which returns a part of its input."""
    forward, backward = PARTS[part]
    members = {"forward": lambda ctx, x: forward(m, x), "backward": lambda ctx, d: backward(m, d)}
    return type(name, (m.autograd.Function,), {name: staticmethod(rule) for name, rule in members.items()})


@needs_torch
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", OUR_NAMES)
def test_a_function_of_a_user_may_have_any_name(name, part):
    """Its name decides nothing: values, gradients and errors are those of PyTorch, in views that are changed too."""

    def through(m, *changes):
        a = m.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        base = a * 2.0
        view = named(m, name, part).apply(base)
        for change in changes:
            change(base, view)
        (view * view).sum().backward()
        return view, a.grad

    def outcome(m, *changes):
        try:
            return plain(through(m, *changes))
        except (GraphError, RuntimeError):  # minigrad's and PyTorch's word for it
            return "refused"

    for changes in (
        (),
        (lambda base, view: view.mul_(3.0),),
        (lambda base, view: view.view(-1).mul_(3.0) if part in ("rows", "one axis") else None,),
        (lambda base, view: base.mul_(3.0),),
    ):
        assert outcome(mg, *changes) == outcome(torch, *changes)


def test_a_view_made_by_a_user_is_not_changed_in_place():
    """The tensor it looks at would not know of the change: the error names the function, and nothing is written."""
    a = leaf(mg, 3, 2)
    base = a * 2.0
    view = named(mg, "Halves", "rows").apply(base)
    with pytest.raises(GraphError, match=r"mul_: this tensor is a view that Halves\.forward returned"):
        view.mul_(3.0)
    assert base.tolist() == [[2.0, 2.0]] * 3


@needs_torch
@pytest.mark.parametrize("rest", [(3.0, None), (3.0, "text"), (np.float64(3.0), [1, 2]), (3.0,), ()])
def test_functions_of_users_take_what_is_no_tensor(rest):
    """None, text and lists are inputs without gradients, and arguments left out may get the derivative None."""

    def first(m):
        x, y = leaf(m, 2), leaf(m, 2)
        scaled(m).apply(x, y, *rest).sum().backward()
        return x.grad, y.grad

    def second(m):
        x = leaf(m, 2)
        (g,) = m.autograd.grad(scaled(m).apply(x, x * 2, *rest).sum(), x, create_graph=True)
        return m.autograd.grad((g * g).sum(), x)

    same(first)
    same(second)
    with mg.backend("python"):
        same(first)


@needs_torch
def test_gradients_beside_a_number_of_numpy():
    """A factor that is a number of NumPy's is a constant, in `autograd.grad` as in `backward`."""

    def program(m):
        x = leaf(m, 2)
        return m.autograd.grad((x * np.float64(2.0) * x).sum(), x)

    same(program)


# --- recording ----------------------------------------------------------------------------------------------


def test_no_grad_is_of_one_thread():
    """A thread that computes without recording, or walks back, leaves the others recording."""
    entered, done = threading.Event(), threading.Event()

    def without():
        with mg.no_grad():
            entered.set()
            done.wait(10)

    thread = threading.Thread(target=without)
    thread.start()
    try:
        assert entered.wait(10)
        assert (leaf(mg, 1) * 2).requires_grad
    finally:
        done.set()
        thread.join()


def test_no_grad_decorates_with_and_without_parentheses():
    """``@no_grad`` is ``@no_grad()``."""
    x = leaf(mg, 1)
    assert not mg.no_grad(lambda: (x * 2).requires_grad)()
    assert not mg.no_grad()(lambda: (x * 2).requires_grad)()
    assert (x * 2).requires_grad


# --- types, bounds, texts -----------------------------------------------------------------------------------

FORMULAS = [
    lambda m: m.tensor([1, 2]) ** m.tensor([1, 2]),
    lambda m: 2 ** m.tensor([1, 2]),
    lambda m: m.tensor([1, 2]).pow_(3),
    lambda m: m.tensor([1, -2]).relu(),
    lambda m: m.tensor([1, -2]).relu_(),
    lambda m: m.tensor([-1, 2, 3]).clamp(min=0),
    lambda m: m.tensor([-1, 2, 3]).clamp(max=2),
    lambda m: m.tensor([-1, 2, 3]).clamp_(min=0),
    lambda m: m.where(m.tensor([True, False]), 1.0, 0.0),
    lambda m: list(m.tensor([True, False]).min(0)),
    lambda m: list(m.tensor(3.0).max(0)),
    lambda m: m.tensor(3.0).argmax(0),
    lambda m: m.zeros(0, 3).softmax(0),
    lambda m: m.zeros(0, 3).log_softmax(0),
    lambda m: m.zeros(0, 3).logsumexp(0),
    lambda m: f"{m.tensor(2.5):.1f} {m.tensor(3):d} {m.tensor(2.5)}",
]


@needs_torch
@pytest.mark.parametrize("formula", FORMULAS)
def test_values_and_types(formula):
    """Integers stay integers, numbers of Python have the default type, an empty axis is no error, 0-d formats."""
    same(formula)


OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt)


@needs_torch
@pytest.mark.parametrize("data", [[1, 2], [True, False], [1.0, 2.0], 1, True, 1.0])
@pytest.mark.parametrize("number", [np.float32(2.5), np.float64(2.5), np.int64(2), np.int32(2), np.bool_(True)])
def test_numbers_of_numpy_count_as_pythons(data, number):
    """They widen no type of their kind: float64 of NumPy's with integers gives the default type, on either side."""

    def program(m):
        x = m.tensor(data)
        return [
            f(*pair)
            for tensor in (x, x.float(), x.double())
            for pair in ((tensor, number), (number, tensor))
            for f in OPERATORS
            if f is not operator.sub or tensor.dtype != m.bool  # which PyTorch does not subtract
        ]

    same(program)
    with mg.backend("python"):
        same(program)


@needs_torch
@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x.clamp(3.0, 4.0),
        lambda m, x: m.where(x > 0, 0.0, x),
        lambda m, x: m.maximum(x, m.tensor(3.0)),
        lambda m, x: m.stack([x, x]).std(),
        lambda m, x: m.stack([x, x, x, x * 3]).reshape(2, 2).std(1).sum(),
    ],
)
def test_a_gradient_of_zero_is_a_gradient(function):
    """What does not move a result has the gradient 0, not none and not nan: where bounds hold, where values agree."""

    def program(m):
        x = m.tensor(2.0, requires_grad=True)
        function(m, x).backward()
        return x.grad

    same(program)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mg.ones(2) + np.ones(2), TypeError, "Add: an operand is a tensor or a number, not numpy.ndarray"),
        (lambda: np.ones(2) * mg.ones(2), TypeError, "Mul: an operand is a tensor or a number, not numpy.ndarray"),
        (lambda: mg.ones(2) @ np.ones(2), TypeError, "matmul: the other factor must be a Tensor, not numpy.ndarray"),
        (lambda: mg.ones(4).narrow(0, 3, 2), IndexingError, r"narrow: 2 slices from 3 on, but axis 0 of \(4,\)"),
        (lambda: mg.ones(2, 2).gather(1, mg.tensor([0])), ValueError, r"gather: shape \(2, 2\) with an index"),
        (lambda: mg.cat([mg.ones(1), 1.0]), TypeError, "cat: joins tensors, not float"),
    ],
)
def test_what_cannot_be_is_said(make, error, message):
    """The error names the operation and the rule; nothing is cut short or repeated in silence."""
    with pytest.raises(error, match=message):
        make()


def test_what_the_documentation_says_is_left_out(root):
    """Whatever is added to the library leaves that list."""
    text = (root / "docs" / "library" / "pytorch.md").read_text(encoding="utf-8")
    names = re.findall(r"`(\w+)`", text.split("\n## What is left out\n")[1].split("\n## ")[0])
    assert len(names) > 20
    places = (mg, mg.Tensor, mg.nn, mg.nn.functional, mg.optim, mg.optim.lr_scheduler)
    assert [name for name in names if any(hasattr(place, name) for place in places)] == []


@needs_torch
@pytest.mark.parametrize(
    ("program", "error"),
    [
        (lambda m: m.tensor([1.5]).int(), None),
        (lambda m: leaf(m, 2).sign().sum().backward(), GraphError),
        (lambda m: m.nn.functional.mse_loss(m.ones(2, 1), m.ones(2, 3)).item(), ValueError),
        (lambda m: m.ones(2) * np.ones(2), TypeError),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:__array_wrap__")
def test_what_the_documentation_says_differs(program, error):
    """PyTorch answers each of these; here three are refused, and the fourth has another type."""
    theirs = program(torch)
    if error is None:
        assert (str(program(mg).dtype), str(theirs.dtype)) == ("int64", "torch.int32")
    else:
        with pytest.raises(error):
            program(mg)


def test_integers_do_not_widen_a_layer_or_a_loss():
    """Integer inputs and targets take the floating type of what they meet."""
    assert mg.linear(mg.ones(2, 3).long(), leaf(mg, 4, 3)).dtype == mg.float32
    assert mg.nn.functional.mse_loss(leaf(mg, 3), mg.tensor([1, 2, 3])).dtype == mg.float32
