"""What a user of PyTorch takes for granted: programs that give the same values, types and gradients in both."""

import importlib.util
import operator
import random
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
    names = re.findall(r"`(\w+)`", text.split("\n## What is left out\n")[1].split("taken:\n")[1].split("\n## ")[0])
    assert len(names) > 20
    places = (mg, mg.Tensor, mg.nn, mg.nn.functional, mg.optim, mg.optim.lr_scheduler)
    assert [name for name in names if any(hasattr(place, name) for place in places)] == []


@needs_torch
@pytest.mark.parametrize(
    "program",
    [
        lambda m: m.tensor([True]) - m.tensor([2]),
        lambda m: m.tensor([1, 2]).softmax(0),
        lambda m: m.nn.functional.gelu(m.tensor([1, 2])),
        lambda m: m.nn.functional.mse_loss(m.tensor([1, 2]), m.tensor([1, 2])),
        lambda m: m.ones(2, 2) @ m.ones(2, 2).double(),
        lambda m: m.nn.Linear(2, 1)(m.tensor([1, 2])),
    ],
)
def test_what_pytorch_refuses_and_minigrad_does_not(program):
    """The documentation lists these too."""
    with pytest.raises((RuntimeError, NotImplementedError)):
        program(torch)
    assert isinstance(program(mg), mg.Tensor)


@needs_torch
@pytest.mark.parametrize(
    ("program", "error"),
    [
        (lambda m: leaf(m, 2).sign().sum().backward(), GraphError),
        (lambda m: leaf(m, 2).floor().sum().backward(), GraphError),
        (lambda m: leaf(m, 2).ceil().sum().backward(), GraphError),
        (lambda m: leaf(m, 2).round().sum().backward(), GraphError),
        (lambda m: m.nn.functional.mse_loss(m.ones(2, 1), m.ones(2, 3)).item(), ValueError),
        (lambda m: m.ones(2) * np.ones(2), TypeError),
        (lambda m: m.tensor([2]) ** m.tensor([-2]), ValueError),
        (lambda m: m.ones(2)[..., ...], IndexingError),
        (lambda m: m.ones(2, 3).sum(()), "other shape"),
        (lambda m: m.ones(2, 3).mean([]), "other shape"),
        (lambda m: m.ones(2, 3)[[[0, 1]]], "other shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size", "ignore:__array_wrap__", "ignore:Using a non-tuple")
def test_what_the_documentation_says_differs(program, error):
    """PyTorch answers each of these; here some are refused, and the others have another type or shape."""
    theirs = program(torch)
    if error == "other shape":
        assert program(mg).shape != tuple(theirs.shape)
    else:
        with pytest.raises(error):
            program(mg)


def test_integers_do_not_widen_a_layer_or_a_loss():
    """Integer inputs and targets take the floating type of what they meet; among themselves the default one."""
    assert mg.linear(mg.ones(2, 3).long(), leaf(mg, 4, 3)).dtype == mg.float32
    assert mg.nn.functional.mse_loss(leaf(mg, 3), mg.tensor([1, 2, 3])).dtype == mg.float32
    for loss in (mg.nn.functional.mse_loss, mg.jit(mg.nn.functional.mse_loss)):
        found = loss(mg.tensor([1, 2]), mg.tensor([2, 4]))
        assert (found.item(), found.dtype) == (2.5, mg.float32)


# --- tensors without axes, and empty lists of axes ----------------------------------------------------------

WITHOUT_AXES = [
    *(lambda m, x, dims=dims: x.flip(dims) for dims in ((), [], 0, -1, (0,))),
    lambda m, x: x.permute(()),
    lambda m, x: x.permute([]),
    lambda m, x: x.transpose(0, -1),
    lambda m, x: x.t(),
    lambda m, x: x.squeeze(),
    lambda m, x: x.squeeze(0),
    lambda m, x: x.squeeze(()),
    lambda m, x: x.unsqueeze(-1),
    lambda m, x: x.expand(()),
    lambda m, x: x.expand(2, 1),
    lambda m, x: x.reshape(()),
    lambda m, x: x.reshape(-1),
    lambda m, x: x.view(1, 1),
    lambda m, x: x.flatten(),
    lambda m, x: m.stack([x, x], -1),
    lambda m, x: x.index_select(0, m.tensor(0)),
    lambda m, x: x.index_select(-1, m.tensor([0])),
    lambda m, x: x.gather(0, m.tensor(0)),
    lambda m, x: x.gather(0, m.tensor([0])),
    lambda m, x: list(x.max(0)),
    lambda m, x: list(x.min(0, True)),
    *(lambda m, x, name=name: getattr(x, name)(()) for name in ("sum", "mean", "amax", "amin", "logsumexp")),  # of one
    *(lambda m, x, name=name: getattr(x, name)(0, keepdim=True) for name in ("sum", "prod", "amax", "argmax", "any")),
    lambda m, x: (x > 0).sum(),
    lambda m, x: (x > 0).prod(),
    lambda m, x: x.softmax(0),
    *(
        lambda m, x, key=key: x[key]
        for key in ((), ..., None, (None, ...), (..., None), True, False, (True, None), (None, True), (True, True))
    ),
]


@needs_torch
@pytest.mark.parametrize("formula", WITHOUT_AXES)
def test_tensors_without_axes(formula):
    """A number stays a number, with its gradient."""

    def program(m):
        x = m.tensor(3.0, requires_grad=True)
        out = formula(m, x)
        first = out[0] if isinstance(out, list) else out
        if first.requires_grad:
            first.sum().backward()
        return out, x.grad

    same(program)


@needs_torch
@pytest.mark.parametrize(
    "formula",
    [
        lambda m: m.tensor([1.0, 2.0]).flip(()),
        lambda m: m.tensor([1.0, 2.0]).squeeze(()),
        lambda m: m.tensor([[1.0], [2.0]]).flip((0, 1)),
        lambda m: m.tensor([1.0, 2.0]).index_select(0, m.tensor(1)),
        lambda m: m.tensor([1.0, 2.0]).gather(0, m.tensor(1)),
        lambda m: m.tensor([1.0, 2.0])[(),],
        lambda m: [part.shape == (0,) for part in m.zeros(0).chunk(3)],
    ],
)
def test_empty_lists_of_axes_and_single_indices(formula):
    """No axis means that none is touched; one index counts as a vector of one."""
    same(formula)


# --- indexing: integers select before arrays take -----------------------------------------------------------


def key_of(m, parts):
    """Return a drawn key for a library."""
    return tuple(m.tensor(part.tolist()) if isinstance(part, np.ndarray) else part for part in parts)


def draw_key(random, shape):
    """Draw integers, slices, None, ..., arrays of integers, masks, lists and truth values that fit a shape."""
    together = random.choice([None, (), (1,), (2,), (2, 3)])  # arrays of integers broadcast with each other
    parts, axis = [], 0
    while axis < len(shape) and random.random() < 0.9:
        n, left = shape[axis], len(shape) - axis
        kind = random.choice(["integer", "slice", "none", "dots", "array", "array", "number", "list", "mask", "truth"])
        if kind == "integer":
            parts.append(random.randrange(-n, n))
        elif kind == "slice":
            parts.append(slice(random.choice([None, 0, 1, -1]), random.choice([None, 1, n]), random.choice([None, 2])))
        elif kind == "array" and together is not None:
            parts.append(np.array([random.randrange(-n, n) for _ in range(int(np.prod(together)))]).reshape(together))
        elif kind == "number":
            parts.append(np.array(random.randrange(n)))
        elif kind == "list" and together is not None and len(together) == 1:
            parts.append([random.randrange(n) for _ in range(together[0])])
        elif kind == "mask":
            sizes = shape[axis : axis + random.choice([1, min(2, left)])]
            parts.append(np.array([random.random() < 0.6 for _ in range(int(np.prod(sizes)))]).reshape(sizes))
            axis += len(sizes) - 1
        else:
            if kind == "dots" and ... not in [part for part in parts if part is ...]:
                parts.append(...)
                axis += random.randrange(left + 1)
            elif kind == "truth" and random.random() < 0.3:
                parts.append(random.random() < 0.7)
            elif kind == "none":
                parts.append(None)
            continue
        axis += 1
    return parts


def indexed(m, shape, parts, seed):
    """Read by a key and write by it, with gradients of first and second order."""
    draw = np.random.default_rng(seed)
    x = m.tensor(draw.normal(size=shape).tolist(), dtype=m.float64, requires_grad=True)
    key = key_of(m, parts)
    part = x[key]
    weights = m.tensor(draw.normal(size=tuple(part.shape)), dtype=m.float64).reshape(tuple(part.shape))
    (first,) = m.autograd.grad((part * part * weights).sum(), x, create_graph=True)
    (second,) = m.autograd.grad((first * first).sum(), x)
    changed, value = x * 2.0, m.tensor(5.0, dtype=m.float64, requires_grad=True)
    changed[key] = value * x.sum()
    gradients = m.autograd.grad((changed**3).sum(), [x, value], allow_unused=True)
    constant = m.zeros(shape, dtype=m.float64)
    constant[key] = 5.0
    constant[key] += 1.0
    results = [part, first, second, changed, *gradients, constant]
    return [np.zeros(()) if result is None else result.detach().numpy() for result in results]


@pytest.mark.full("PyTorch answers hundreds of random keys", share=12)
@needs_torch
@pytest.mark.parametrize("start", range(0, 1500, 300))
def test_random_keys(start):
    """Shapes, values and gradients of drawn keys are PyTorch's, in reading and in writing."""
    compared = 0
    for seed in range(start, start + 300):
        chance = random.Random(seed)
        shape = tuple(chance.randrange(1, 5) for _ in range(chance.randrange(6)))
        parts = draw_key(chance, shape)
        try:
            theirs = indexed(torch, shape, parts, seed)
        except (IndexError, RuntimeError):  # masks and arrays that do not broadcast
            with pytest.raises((IndexError, ValueError)):
                indexed(mg, shape, parts, seed)
            continue
        for ours, expected in zip(indexed(mg, shape, parts, seed), theirs, strict=True):
            assert ours.shape == expected.shape, (seed, shape, parts)
            np.testing.assert_allclose(ours, expected, rtol=1e-9, err_msg=str((seed, shape, parts)))
        compared += 1
    assert compared > 200


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_an_integer_beside_an_array_is_a_selection(backend):
    """The integer's axis goes first, and the array's axis stays where the array stands."""
    with mg.backend(backend):
        x = mg.zeros(2, 5, 6, 5, 3, 4)
        assert x[0, :, mg.tensor([0, 1, 2])].shape == (5, 3, 5, 3, 4)
        x[0, :, [0, 2], ..., 1] = mg.ones(5, 2, 5, 3)
        assert (x.sum().item(), x[0, :, [0, 2], ..., 1].sum().item()) == (150.0, 150.0)


def test_keys_that_do_not_fit_are_refused_as_a_whole():
    """An index out of range writes nothing, be it the integer or in the array; a leaf is not changed."""
    x = mg.zeros(2, 3, 4)
    for key in ((2, slice(None), [0]), (0, slice(None), [4]), (0, 0, 0, [0])):
        with pytest.raises(IndexingError, match="cannot index shape"):
            x[key]
        with pytest.raises(IndexingError, match="cannot index shape"):
            x[key] = 1.0
    assert not x.any()
    with pytest.raises(GraphError, match="a leaf that requires gradients cannot be changed in place"):
        leaf(mg, 2, 3)[0, [1]] = 2.0


# --- integers and booleans ----------------------------------------------------------------------------------

WHOLE = [
    lambda m: m.tensor([2, -3]) / 2,
    lambda m: m.tensor([2, -3]) ** 2,
    lambda m: m.tensor([2, -3]) ** 0,
    lambda m: m.tensor([2, 3]) ** 0.5,
    lambda m: m.tensor([2, 4]) ** -2.0,
    lambda m: m.tensor([2.0, 4.0]) ** -2,
    lambda m: m.tensor([2, 4]) ** m.tensor([-2.0]),
    lambda m: m.tensor([True, False]) ** 2,
    lambda m: m.tensor([True, False]).square(),
    lambda m: m.tensor([True, False]) ** m.tensor([2]),
    lambda m: m.tensor(True) ** 3,
    lambda m: m.tensor([], dtype=m.int64) ** m.tensor([], dtype=m.int64),
    lambda m: m.tensor(True).sum(),
    lambda m: m.tensor(True).prod(),
    lambda m: m.tensor([True, False]).sign(),
    lambda m: m.tensor([True, True]).sum(0),
    lambda m: m.tensor([True, True]) + m.tensor([True, False]),
    lambda m: m.tensor([True, True]) * m.tensor([True, False]),
    lambda m: m.tensor([True, True]) + 1,
    lambda m: m.tensor([True, True]) / m.tensor([True, False]),
    lambda m: m.tensor([1, 2]).exp(),
    lambda m: m.tensor([1, 2]).reciprocal(),
    lambda m: m.tensor([True, False]).sigmoid(),
    lambda m: 2 & m.tensor([1, 2, 3]),
    lambda m: True ^ m.tensor([True, False]),
    lambda m: 4 | m.tensor([1, 2]),
    lambda m: m.tensor([1, 2]).masked_fill(m.tensor([True, False]), 2.5),
    lambda m: m.tensor([True, False]).masked_fill(m.tensor([True, False]), 0),
    lambda m: m.tensor([1.0, 2.0]).masked_fill(m.tensor([True, False]), m.tensor(2.5, dtype=m.float64)),
]


@needs_torch
@pytest.mark.parametrize("formula", WHOLE)
def test_integers_and_booleans(formula):
    """Types and values of integers and booleans are PyTorch's."""
    same(formula)
    with mg.backend("python"):
        same(formula)


@needs_torch
@pytest.mark.parametrize("base", [[2], 2, [True], [[2, 3]]])
@pytest.mark.parametrize("power", [lambda x, n: x**n, lambda x, n: x.pow(n), lambda x, n: x.pow_(n)])
def test_integers_have_no_negative_powers(base, power):
    """Both libraries refuse them for one exponent; the base is left as it is."""
    for m, error in ((torch, RuntimeError), (mg, ValueError)):
        x = m.tensor(base)
        with pytest.raises(error, match="pow: an integer to the power -2" if m is mg else "not allowed|can't be cast"):
            power(x, -2)
        assert x.tolist() == base


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_negative_powers_by_tensors_of_integers(backend):
    """PyTorch gives 0 for most of them; minigrad says what to do."""
    with mg.backend(backend), pytest.raises(ValueError, match=r"pow: an integer to the power -3 .* \.float\(\)"):
        mg.tensor([2, 2]) ** mg.tensor([1, -3])
    with pytest.raises(ValueError, match="pow: an integer to the power -1"):
        2 ** mg.tensor([-1])


@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (lambda d: d.sum(), ValueError, r"<lambda> returned shape \(\) for a gradient of shape \(2, 3\)"),
        (lambda d: d[0], ValueError, r"<lambda> returned shape \(3,\) for a gradient of shape \(2, 3\)"),
        (lambda d: d.T, ValueError, r"<lambda> returned shape \(3, 2\) for a gradient of shape \(2, 3\)"),
        (lambda d: 2.0, TypeError, r"<lambda> returned float for a gradient of shape \(2, 3\)"),
        (lambda d: d.detach().numpy(), TypeError, r"<lambda> returned ndarray for a gradient of shape \(2, 3\)"),
        (lambda d: d.double(), TypeError, r"<lambda> returned float64 for a gradient of float32"),
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("on", ["leaf", "result"])
def test_a_hook_returns_a_gradient_that_fits(returned, error, text, create_graph, on):
    """Another shape or type is an error that names the hook, and leaves every gradient as it was."""
    x = mg.ones(2, 3).requires_grad_()
    y = x * 2.0
    (x if on == "leaf" else y).register_hook(returned)
    with pytest.raises(error, match=text):
        (y * y).sum().backward(create_graph=create_graph)
    assert x.grad is None


@pytest.mark.parametrize("m", [mg, pytest.param(torch, marks=needs_torch)], ids=["minigrad", "torch"])
@pytest.mark.parametrize("changed", [lambda y: y.mul_(3.0), lambda y: y.__setitem__(0, 5.0)], ids=["mul_", "assigned"])
def test_retain_grad_follows_a_change_in_place_and_hooks_do_not(m, changed):
    """The kept gradient belongs to the changed values; a hook sees that of the values it was registered for."""
    x = m.tensor([1.0, 2.0], requires_grad=True)
    y, seen = x * 2.0, []
    y.retain_grad()
    y.register_hook(lambda d: seen.append(d.tolist()))
    changed(y)
    (y * m.tensor([10.0, 20.0])).sum().backward()
    assert y.grad.tolist() == [10.0, 20.0]
    assert seen == ([[0.0, 20.0]] if y.tolist()[0] == 5.0 else [[30.0, 60.0]])


VIEWS = {
    "row": (lambda b: b[0], 8.0, 10.0),
    "select": (lambda b: b.select(0, 0), 8.0, 10.0),
    "slice": (lambda b: b[:, :], 10.0, 16.0),
    "view": (lambda b: b.view(4), 10.0, 16.0),
    "T": (lambda b: b.T, 10.0, 16.0),
    "expand": (lambda b: b.expand(2, 2), 10.0, 16.0),
    "broadcast_to": (lambda b: b.broadcast_to((2, 2)), 10.0, 16.0),
    "expand_as": (lambda b: b.expand_as(b), 10.0, 16.0),
    "unsqueeze": (lambda b: b.unsqueeze(0), 10.0, 16.0),
    "a view of a view": (lambda b: b.flatten().view(2, 2).T[:, 0], 8.0, 10.0),
}


@pytest.mark.parametrize("m", [mg, pytest.param(torch, marks=needs_torch)], ids=["minigrad", "torch"])
@pytest.mark.parametrize(("take", "by_base", "by_view"), VIEWS.values(), ids=VIEWS)
def test_a_view_of_a_constant_gets_a_history_with_it(m, take, by_base, by_view):
    """Whichever of the two a recorded value is written to, both know of it."""
    b, p = m.zeros(2, 2), m.tensor(1.0, requires_grad=True)
    view = take(b)
    b[0] = p
    (view * 3.0 + p).sum().backward()
    assert p.grad.item() == by_base

    b, p = m.zeros(2, 2), m.tensor(1.0, requires_grad=True)
    view = take(b)
    view += p
    (b * 3.0 + p).sum().backward()
    assert p.grad.item() == by_view
