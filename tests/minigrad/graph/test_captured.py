"""What a jitted function captures: values that an outer transform differentiates, objects, and what may be freed."""

import functools
import gc
import types
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn
from minigrad.errors import FunctionError
from minigrad.func import functional_call
from minigrad.graph import cond, fori_loop, scan, while_loop
from minigrad.transforms import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

X = mg.tensor([0.3, -0.8, 1.1], dtype=mg.float64)
Y = mg.tensor([4.0, 0.5, -2.0], dtype=mg.float64)


class Box:
    """An object of the user's."""


def by_object(x):
    box = Box()
    box.x = x
    return lambda y: (y * box.x).sin()


def by_default(x):
    def inner(y, x=x):
        return (y * x).sin()

    return inner


CAPTURED = {
    "a variable": lambda x: lambda y: (y * x).sin(),
    "a default argument": by_default,
    "a partial application": lambda x: functools.partial(lambda x, y: (y * x).sin(), x),
    "an attribute": by_object,
    "a list": lambda x, held=None: (lambda held: lambda y: (y * held[0]).sin())([x]),
    "a nested jit": lambda x: lambda y: mg.jit(lambda z: (z * x).sin())(y),
    "a scan": lambda x: lambda y: scan(lambda c, _: ((c * x).sin(), None), y, mg.ones(1, dtype=mg.float64))[0],
    "a choice": lambda x: lambda y: cond(y.sum() > 0.0, lambda: (y * x).sin(), lambda: (y * x).sin() * 1.0),
    "a loop": lambda x: lambda y: fori_loop(0, 1, lambda i, v: (v * x).sin(), y),
    "a checkpoint": lambda x: checkpoint(lambda y: (y * x).sin()),
}
TRANSFORMS = {
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: vjp(f, X)[1](Y)[0],
    "jvp": lambda f: jvp(f, (X,), (Y,))[1],
    "linearize": lambda f: linearize(f, X)[1](Y),
    "jacfwd": lambda f: jacfwd(f)(X),
    "jacrev": lambda f: jacrev(f)(X),
    "hessian": lambda f: hessian(lambda x: f(x).sum())(X),
    "hvp": lambda f: hvp(lambda x: f(x).sum(), (X,), (Y,)),
    "vmap": lambda f: vmap(f)(mg.stack([X, 2.0 * X])),
    "grad of vmap": lambda f: grad(lambda x: vmap(lambda e: f(e * X).sum())(x).sum())(X),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("captured", CAPTURED)
def test_a_captured_value_is_differentiated(captured, transform):
    """Through jit there is the derivative of the function itself, whichever way the value comes in."""
    make, apply = CAPTURED[captured], TRANSFORMS[transform]
    wanted = apply(lambda x: (Y * x).sin())
    np.testing.assert_allclose(apply(lambda x: mg.jit(make(x))(Y)), wanted, rtol=1e-12)
    np.testing.assert_allclose(mg.jit(lambda: apply(lambda x: mg.jit(make(x))(Y)))(), wanted, rtol=1e-12)


def test_a_captured_leaf_gets_its_gradient():
    """A leaf behind what is captured, also by way of a module that runs with other parameters."""
    leaf, layer = Y.clone().requires_grad_(), nn.Linear(3, 1, bias=False, dtype=mg.float64)
    mg.jit(lambda x: (x * (leaf * 2.0)).sum())(X).backward()
    np.testing.assert_allclose(leaf.grad, 2.0 * X)
    leaf.grad = None
    mg.jit(lambda x: functional_call(layer, {"weight": leaf.view(1, 3)}, x).sum())(X).backward()
    np.testing.assert_allclose(leaf.grad, X)


@pytest.mark.parametrize("wrap", [lambda f: f, checkpoint, mg.jit], ids=["alone", "checkpoint", "jit"])
@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp"])
def test_a_rule_that_captures_a_value(kind, wrap):
    """The rule's slope is k x: its derivative in k is x, though the function's value does not depend on k."""

    def slope(k):
        if kind == "custom_vjp":
            square = custom_vjp(lambda x: x * x)
            square.defvjp(lambda x: (x * x, x), lambda x, d: (d * k * x,))
        else:
            square = custom_jvp(lambda x: x * x)
            square.defjvp(lambda primals, tangents: (primals[0] * primals[0], tangents[0] * k * primals[0]))
        return grad(wrap(square))(mg.tensor(3.0))

    two = mg.tensor(2.0)
    assert slope(two).item() == 6.0 and not slope(two).requires_grad
    for derivative in (grad(slope), mg.jit(grad(slope)), jacfwd(slope), jacrev(slope), grad(mg.jit(slope))):
        assert derivative(two).item() == 3.0
    assert vmap(grad(slope))(mg.tensor([1.0, 2.0])).tolist() == [3.0, 3.0]
    leaf = mg.tensor(2.0, requires_grad=True)
    slope(leaf).backward()
    assert leaf.grad.item() == 3.0


@pytest.mark.parametrize("outer", [lambda f: f, mg.jit], ids=["alone", "jit"])
def test_a_checkpoint_that_captures_what_it_is_also_given(outer):
    """Each way into the function counts once, for each direction of a jacobian by itself."""
    f = checkpoint
    for transform in (jacrev, jacfwd, lambda g: grad(lambda x: g(x).sum()), lambda g: hessian(lambda x: g(x).sum())):
        plain = transform(lambda x: (lambda y: x.sum() * y.sin() * x)(x.sin()))(X)
        found = outer(transform(lambda x: f(lambda y: x.sum() * y.sin() * x)(x.sin())))(X)
        np.testing.assert_allclose(found, plain, rtol=1e-12)


def test_a_checkpoint_in_a_branch():
    """Computed again it is in the same branch of a choice under vmap."""

    def f(wrap):
        def loss(x):
            def first(y):
                return wrap(lambda z: (y * x + z * x).sin())(y * 2.0) * (x * y)

            return cond(x > 0.0, first, lambda y: y, x * 3.0)

        return grad(lambda x: vmap(loss)(x).sum())(X)

    np.testing.assert_allclose(f(checkpoint), f(lambda g: g), rtol=1e-12)


def test_a_checkpoint_that_captures_another_value_when_it_is_computed_again():
    """Its gradient would be that of another function, or of itself: a sentence says so."""
    box = Box()

    @checkpoint
    def f(x):
        return x * box.scale

    def twice(x):
        box.scale = x
        y = f(x)
        box.scale = y
        return f(y)

    with pytest.raises(FunctionError, match="checkpoint: f takes another value from outside now, when it is computed"):
        grad(twice)(mg.tensor(2.0))


@pytest.mark.parametrize("transform", [jacfwd, jacrev], ids=["jacfwd", "jacrev"])
def test_a_loop_that_captures_what_it_is_also_given(transform):
    """In a trace a scan whose first value is also taken from outside has the jacobian of a loop."""

    def f(loop):
        return lambda x: loop(lambda c: (x * c).sin(), x * 2.0)

    wanted = transform(f(lambda step, c: step(step(c))))(X)
    found = mg.jit(transform(f(lambda step, c: scan(lambda c, _: (step(c), None), c, None, 2)[0])))(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


# --- what has changed between two calls ----------------------------------------------------------------------------


class Scaled(nn.Module):
    """A layer with a number, and a step of its own."""

    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 2), 2.0

    def forward(self, x):
        return self.layer(x) * self.scale

    @mg.jit
    def step(self, x):
        return self(x) + 1.0


WAYS = {
    "the module": lambda m: mg.jit(m),
    "a closure": lambda m: mg.jit(lambda x: m(x)),
    "a method": lambda m: lambda x: m.step(x) - 1.0,
    "an argument": lambda m: functools.partial(mg.jit(lambda m, x: m(x)), m),
    "a bound method": lambda m: mg.jit(m.forward),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_object_that_changes(way):
    """A number, a parameter that an optimizer moves, another layer, a hook: the next call sees each."""
    x, module = mg.ones(4, 3), Scaled()
    run = WAYS[way](module)
    optimizer = mg.optim.SGD(module.parameters(), lr=0.5)

    def check():
        with mg.no_grad():
            for _ in range(2):
                np.testing.assert_allclose(run(x), module(x), rtol=1e-5)

    check()
    module.scale = 3.0
    check()
    module(x).sum().backward()
    optimizer.step()
    check()
    module.layer = nn.Linear(3, 2)
    check()
    with mg.no_grad():
        module.layer.weight.data = mg.zeros(2, 3)
    check()
    handle = module.layer.register_forward_hook(lambda module, args, output: output + 1.0)
    check()
    handle.remove()
    check()
    module.layer.bias = None
    check()


def test_an_optimizers_step_is_no_new_trace():
    """Parameters are inputs of the graph."""
    layer = nn.Linear(3, 2)
    quick = mg.jit(lambda x: layer(x))
    with mg.no_grad():
        for _ in range(5):
            quick(mg.ones(3))
            layer.weight -= 0.1
    assert quick.cache_info() == (4, 1, 1)


settings = {"power": 2, "names": ["a", "b"]}
module_of_settings = types.ModuleType("settings")
module_of_settings.bias = 1.0


class Constants:
    """A class that holds numbers."""

    factor = 3.0


def test_surroundings_that_change(monkeypatch):
    """Globals, entries of containers, attributes of classes and modules, and elements that were looked at."""
    limit, table = mg.tensor(2.0), np.array([1.0, 2.0])

    def f(x):
        y = x ** settings["power"] + len(settings["names"]) + module_of_settings.bias
        return (y * Constants.factor if limit.item() > 1.0 else y) + mg.tensor(table)

    quick, x = mg.jit(f), mg.ones(2)
    changes = [
        lambda: monkeypatch.setitem(settings, "power", 3),
        lambda: settings["names"].append("c"),
        lambda: monkeypatch.setattr(module_of_settings, "bias", 7.0),
        lambda: monkeypatch.setattr(Constants, "factor", 5.0),
        lambda: limit.sub_(5.0),
        lambda: table.__setitem__(0, 9.0),
    ]
    for change in (lambda: None, *changes):
        change()
        assert quick(x).tolist() == f(x).tolist() == quick(x).tolist()
    settings["names"].pop()


def test_an_attribute_that_hides_that_of_the_class():
    """An object without attributes of its own gets one and loses it again, and so does its class."""

    class Derived(Constants):
        pass

    box = Derived()
    quick = mg.jit(lambda x: x * box.factor)
    assert quick(mg.ones(1)).item() == 3.0
    box.factor = 5.0
    assert quick(mg.ones(1)).item() == 5.0
    del box.factor
    assert quick(mg.ones(1)).item() == 3.0
    Derived.factor = 7.0
    assert quick(mg.ones(1)).item() == 7.0


def test_gradients_marks_and_orders_that_change():
    """The gradient of a captured tensor, whether it wants one, a function's attribute, the order of parts."""
    w = mg.ones(1, requires_grad=True)
    (w * 2.0).sum().backward()
    parts = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})

    def helper(x):
        return x * helper.scale

    def f(x):
        for part in parts.values():
            x = part(x)
        return helper(x) - w.grad if w.requires_grad else helper(x)

    helper.scale = 1.0
    quick, x = mg.jit(f), mg.ones(1) * -3.0

    def add_up():
        w.grad = None
        (w * 5.0).sum().backward()

    changes = [
        add_up,
        lambda: setattr(helper, "scale", 4.0),
        lambda: parts.update({"a": parts.pop("a")}),
        lambda: w.requires_grad_(False),
    ]
    with mg.no_grad():
        for change in (lambda: None, *changes):
            with mg.enable_grad():
                change()
            assert quick(x).tolist() == f(x).tolist() == quick(x).tolist()


def test_what_a_function_changes_itself_is_no_reason_to_trace_again():
    """A list that the function appends to grows at a trace, not at each call."""
    calls, box = [], Box()
    box.count = 0

    @mg.jit
    def f(x):
        calls.append(1)
        box.count += 1
        return x * 2.0

    for n in (1, 2, 1, 2):
        f(mg.ones(n))
    assert len(calls) == box.count == 2


def test_instances_are_freed():
    """Neither a jitted method nor a jitted function keeps its object alive, nor what the object holds."""
    module = Scaled()
    with mg.no_grad():
        module.step(mg.ones(3))
        mg.jit(lambda m, x: m(x))(module, mg.ones(3))
    kept = [weakref.ref(module), weakref.ref(module.layer), weakref.ref(module.layer.weight)]
    del module
    gc.collect()
    assert [each() for each in kept] == [None] * 3


def test_graphs_are_bounded(monkeypatch):
    """A number that is new at each call ends in calls of the function itself; here the bound is a lower one."""
    most = 40  # more than the forms of which it warns
    monkeypatch.setattr("minigrad.graph.jitting.MOST", most)
    quick = mg.jit(lambda x, n: x * n)
    with pytest.warns(RuntimeWarning, match=f"32 forms .* from {most} graphs on the function itself is called"):
        found = [quick(mg.ones(2), n).tolist() for n in range(most + 20)]
    assert found == [[n, n] for n in range(most + 20)]
    assert quick.cache_info().currsize == most


# --- choices and loops under vmap ----------------------------------------------------------------------------------

SIDES = {
    "a root": (lambda x: x.sqrt(), lambda x: x * 3.0),
    "a logarithm": (lambda x: x.log(), lambda x: x * 3.0),
    "a direction": (lambda x: x / (x * x).sqrt(), lambda x: x * 3.0),
    "a view": (lambda x: mg.stack([x, x])[0].sqrt(), lambda x: x * 3.0),
}


@pytest.mark.parametrize("captured", [False, True], ids=["given", "captured"])
@pytest.mark.parametrize("side", SIDES)
def test_the_branch_that_is_not_taken_has_no_part_in_a_gradient(side, captured):
    """The gradient under vmap is that of a loop over the examples, where the other branch has an infinite slope."""
    first, second = SIDES[side]
    x = mg.tensor([-4.0, 0.0, 4.0], dtype=mg.float64)

    def f(x):
        condition = x != 0.0 if side == "a direction" else x > 0.0
        if captured:
            return cond(condition, lambda: first(x), lambda: second(x))
        return cond(condition, first, second, x)

    wanted = [grad(f)(each).item() for each in x]
    assert np.isfinite(wanted).all()
    of_sum = grad(lambda x: vmap(f)(x).sum())
    for found in (vmap(grad(f)), of_sum, mg.jit(vmap(grad(f))), mg.jit(of_sum), vmap(mg.jit(grad(f)))):
        np.testing.assert_allclose(found(x), wanted, rtol=1e-12)


def test_a_while_loop_under_vmap_in_a_trace():
    """Each example has as many steps as by itself, nested maps and captured values included."""
    x, limits = mg.tensor([3.0, 50.0, 200.0]), mg.tensor([10.0, 500.0, 1000.0])

    def f(x, limit):
        return while_loop(lambda v: v[0] < limit, lambda v: (v[0] * 2.0, v[1] + 1), (x, mg.tensor(0)))

    def table(x):
        return vmap(lambda limit: f(x, limit))(limits)

    wanted = [[f(a, b) for b in limits] for a in x]
    for found in (vmap(table)(x), mg.jit(vmap(table))(x)):
        for part in range(2):
            assert found[part].tolist() == [[each[part].item() for each in row] for row in wanted]
    powers = mg.jit(vmap(lambda n, x: fori_loop(0, n, lambda i, v: v * 2.0, x)))(mg.tensor([0, 1, 3]), x)
    assert powers.tolist() == [3.0, 100.0, 1600.0]
