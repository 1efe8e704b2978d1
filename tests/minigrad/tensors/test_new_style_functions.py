"""Functions written PyTorch's new way, with `setup_context`; what a ctx offers; gradcheck of several outputs."""

from __future__ import annotations

import pytest
from pytorch import torch

import minigrad as mg
from minigrad.errors import FunctionError, GradcheckError


def products(lib):
    """A function of two tensors with `setup_context`, and one that inherits its forward."""

    class Product(lib.autograd.Function):
        @staticmethod
        def forward(a, b, factor=2.0):
            return a * b * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs[:2])
            ctx.factor = inputs[2] if len(inputs) > 2 else 2.0

        @staticmethod
        def backward(ctx, d):
            a, b = ctx.saved_tensors
            need = ctx.needs_input_grad
            return d * b * ctx.factor if need[0] else None, d * a * ctx.factor if need[1] else None, None

    class Wrong(Product):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output, inputs[1])
            ctx.factor = 1.0

    return Product, Wrong


@pytest.mark.parametrize("needs", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("which", [0, 1])
def test_setup_context_gives_pytorchs_gradients(needs, which):
    """Forward without ctx, setup_context of one's own or inherited, constants, and second derivatives."""
    seen = []
    for lib in (mg, torch):
        function = products(lib)[which]
        a, b = (lib.tensor(x, requires_grad=need) for x, need in zip(([1.0, 2.0], [3.0, 5.0]), needs, strict=True))
        y = function.apply(a, b, 3.0)
        y.backward(lib.tensor([1.0, 10.0]))
        seen.append([y.tolist(), *(None if x.grad is None else x.grad.tolist() for x in (a, b))])
    assert seen[0] == seen[1]


def test_a_rule_with_setup_context_is_checked_to_second_order():
    """Gradcheck and gradgradcheck take such a function, and find one that is wrong."""
    right, wrong = products(mg)
    inputs = [mg.tensor(x, dtype=mg.float64, requires_grad=True) for x in ([1.0, 2.0], [3.0, 5.0])]
    assert mg.gradcheck(right.apply, inputs)
    assert mg.autograd.gradgradcheck(right.apply, inputs)
    with pytest.raises(GradcheckError):
        mg.gradcheck(wrong.apply, inputs)


def test_what_a_context_offers():
    """A marked result is a constant as in PyTorch; what needs other machinery says what to do."""
    for lib in (mg, torch):

        class Places(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x > 0.0
                y = y.to(x.dtype)
                ctx.mark_non_differentiable(y)
                ctx.set_materialize_grads(False)
                return y

        assert not Places.apply(lib.ones(2, requires_grad=True)).requires_grad
    for name, words in (("mark_dirty", "return a new tensor"), ("save_for_forward", "what save_for_backward kept")):

        class Asks(mg.autograd.Function):
            @staticmethod
            def forward(ctx, x, name=name):
                getattr(ctx, name)(x)
                return x * 2.0

        with pytest.raises(FunctionError, match=words):
            Asks.apply(mg.ones(2, requires_grad=True))


@pytest.mark.parametrize("check", ["gradcheck", "gradgradcheck"])
def test_gradients_of_several_outputs_are_checked(check):
    """Tuples of outputs are compared, outputs without gradients left aside, and a wrong second output is found."""

    def outputs(x):
        return (x**3).sum(0), x.exp() * x

    for lib in (mg, torch):
        x = lib.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=lib.float64, requires_grad=True)
        assert getattr(lib.autograd, check)(outputs, (x,))
        if lib is mg:  # PyTorch's own check takes integers at the end only, or fails with an IndexError
            assert getattr(lib.autograd, check)(lambda x: (x.argmax(), *outputs(x)), (x,))

    x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    with pytest.raises(GradcheckError):
        getattr(mg.autograd, check)(lambda x: (x**3, x.detach() * x * x), (x,))
    with pytest.raises(ValueError, match="none of the outputs depends on an input that requires gradients"):
        getattr(mg.autograd, check)(lambda x: (x.detach(), x.argmax()), (x,))


def cube_that_keeps(what):
    """A function of tensors whose rule uses the square of its input, kept in one of several ways."""

    class Cube(mg.Function):
        @staticmethod
        def forward(ctx, a):
            square = a * a
            output = square * a
            kept = {"square": square, "view": a.detach(), "input": a, "output": output}.get(what, a)
            ctx.save_for_backward(a, kept)
            if what == "attribute":
                ctx.square = square
            return output

        @staticmethod
        def backward(ctx, d):
            a, kept = ctx.saved_tensors
            if what == "output":
                return d * 3.0 * kept / a
            square = kept if what == "square" else ctx.square if what == "attribute" else kept * kept
            return d * 3.0 * square

        @staticmethod
        def jvp(ctx, tangent):
            return Cube.backward(ctx, tangent)

    return Cube


SECOND_DERIVATIVES = {
    "grad of grad": lambda f: mg.func.grad(lambda y: mg.func.grad(lambda x: f(x).sum())(y).sum()),
    "reverse over forward": lambda f: mg.func.grad(lambda y: mg.func.jvp(f, (y,), (mg.ones(2),))[1].sum()),
    "forward over reverse": lambda f: lambda x: mg.func.jvp(mg.func.grad(lambda y: f(y).sum()), (x,), (mg.ones(2),))[1],
    "hessian": lambda f: lambda x: mg.func.hessian(lambda y: f(y).sum())(x).sum(dim=0),
}


@pytest.mark.parametrize("second", SECOND_DERIVATIVES.values(), ids=SECOND_DERIVATIVES)
@pytest.mark.parametrize("what", ["square", "view", "attribute", "input", "output"])
def test_a_second_derivative_needs_a_rule_of_inputs_and_output(what, second):
    """What forward made and kept has no recorded derivative: the first derivative is right, the second refused."""
    cube = cube_that_keeps(what)
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    (first,) = mg.autograd.grad(cube.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [3.0, 12.0]
    assert mg.autograd.jvp(cube.apply(x), x, mg.ones(2)).tolist() == [3.0, 12.0]
    for run in (second(cube.apply), mg.jit(second(cube.apply))):
        if what in ("input", "output"):
            assert run(x.detach()).tolist() == [6.0, 12.0]
            continue
        with pytest.raises(mg.errors.GraphError, match=r"Cube\.backward: it uses a value of shape \(2,\) that forward"):
            run(x.detach())


def test_a_mask_of_booleans_and_tensors_from_elsewhere_are_constants():
    """A rule may use what has no derivative: booleans that forward made, and tensors that it did not make."""
    factor = mg.tensor([5.0, 7.0])

    class SquareOfPositive(mg.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a, a > 0.0, factor)
            return mg.where(a > 0.0, a * a, 0.0) * factor

        @staticmethod
        def backward(ctx, d):
            a, mask, by = ctx.saved_tensors
            return mg.where(mask, d * 2.0 * a * by, 0.0)

    x = mg.tensor([-1.0, 2.0], requires_grad=True)
    (first,) = mg.autograd.grad(SquareOfPositive.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [0.0, 28.0]
    assert mg.autograd.grad(first.sum(), x)[0].tolist() == [0.0, 14.0]
