"""What the transforms take, return and refuse: positions, aux data, and one sentence for each mistake."""

import numpy as np
import pytest

import minigrad as mg
from minigrad import Scalar
from minigrad.errors import FunctionError
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
    value_and_grad,
    vjp,
)

X = mg.tensor([1.0, 2.0])
INTEGERS = mg.tensor([1, 2])


def square(x):
    return (x * x).sum()


def test_argnums():
    """One position, several, negative ones; a tuple of positions gives a tuple."""
    f = lambda x, y, z=1.0: x * y * z  # noqa: E731
    assert grad(f)(2.0, 3.0).item() == 3.0
    assert grad(f, argnums=-1)(2.0, 3.0).item() == 2.0
    assert [g.item() for g in grad(f, argnums=(1, 0))(2.0, 3.0, z=10.0)] == [20.0, 30.0]
    assert [g.item() for g in grad(f, argnums=[0])(2.0, 3.0)] == [3.0]
    value, slopes = value_and_grad(f, (0, 1))(2.0, 3.0)
    assert (value.item(), *(g.item() for g in slopes)) == (6.0, 3.0, 2.0)
    assert jacrev(f, (0, 1))(X, X)[1].tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_aux_is_handed_on():
    """Anything may be aux; tensors in it are constants."""
    f = lambda x: (square(x), {"x": x * 2, "word": "kept", "none": None})  # noqa: E731
    for aux in (
        grad(f, has_aux=True)(X)[1],
        value_and_grad(f, has_aux=True)(X)[0][1],
        jvp(f, (X,), (X,), has_aux=True)[2],
        vjp(f, X, has_aux=True)[2],
        linearize(f, X, has_aux=True)[2],
        jacfwd(f, has_aux=True)(X)[1],
        hessian(f, has_aux=True)(X)[1],
    ):
        assert (aux["x"].tolist(), aux["word"], aux["none"]) == ([2.0, 4.0], "kept", None)
        assert not aux["x"].requires_grad
    assert grad(f, has_aux=True)(X)[0].tolist() == [2.0, 4.0]
    assert grad(lambda x: [square(x), "kept"], has_aux=True)(X)[1] == "kept"  # a list is a pair too, as in JAX
    assert hessian(f, has_aux=True)(X)[0].tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_numbers_and_arrays_become_tensors():
    """Python's floats have the default type, arrays their own."""
    assert grad(lambda x: x * x)(3.0).dtype == mg.float32
    assert grad(square)(np.array([1.0, 2.0])).dtype == mg.float64
    value, change = jvp(lambda x: x * x, (3.0,), (1.0,))
    assert (value.item(), change.item()) == (9.0, 6.0)
    assert isinstance(grad(lambda x: x * x)(Scalar(3.0)), Scalar)


def test_what_does_not_depend_on_the_argument():
    """Its derivatives are zeros, also where the result is a number or an integer."""
    assert grad(lambda x: mg.tensor(3.0))(X).tolist() == [0.0, 0.0]
    assert grad(lambda x, y: y * 1.0)(X, 2.0).tolist() == [0.0, 0.0]
    value, change = jvp(lambda x: (5.0, x.argmax(), x), (X,), (X,))
    assert [v.tolist() for v in value] == [5.0, 1, [1.0, 2.0]]
    assert [c.tolist() for c in change] == [0.0, 0.0, [1.0, 2.0]]
    assert jacfwd(lambda x: mg.ones(3))(X).shape == jacrev(lambda x: mg.ones(3))(X).shape == (3, 2)
    y, back = vjp(lambda x: (x.argmax(), x), X)
    assert back((y[0], X))[0].tolist() == [1.0, 2.0]


def test_hvp_of_several_arguments():
    """A tuple, like the arguments."""
    found = hvp(lambda x, y: square(x) * y, (X, mg.tensor(3.0)), (X, mg.tensor(1.0)))
    assert [each.tolist() for each in found] == [[8.0, 16.0], 10.0]


def with_jvp(returned):
    f = custom_jvp(lambda x: x * x)
    f.defjvp(lambda primals, tangents: returned)
    return f


def with_vjp(fwd, bwd):
    f = custom_vjp(lambda x, y: x * y)
    f.defvjp(fwd, bwd)
    return f


WRONG = {
    "integers": (lambda: grad(square)(INTEGERS), TypeError, r"grad: argument 0 is a tensor of int64, .* \.float\(\)"),
    "an int": (lambda: grad(lambda x: x * x)(3), TypeError, r"grad: argument 0 is the int 3, .*; write 3.0"),
    "booleans": (lambda: grad(square)(X > 1), TypeError, "is a tensor of bool"),
    "a word": (lambda: grad(square)("x"), TypeError, "grad: argument 0 is str, which has no derivative"),
    "deep inside": (lambda: grad(square)({"a": [X, 3]}), TypeError, r"argument 0\['a'\]\[1\] is the int 3"),
    "a vector": (lambda: grad(lambda x: x * x)(X), TypeError, r"one number, .* not of shape \(2,\); reduce it"),
    "a tree": (lambda: grad(lambda x: (x, x))(1.0), TypeError, r"must return one number, not PyTreeDef\(\(\*, \*\)\)"),
    "nothing": (lambda: grad(lambda x: None)(1.0), TypeError, r"the function returned None, no tensor; is a `return`"),
    "a string": (lambda: jvp(lambda x: {"a": "b"}, (X,), (X,)), TypeError, r"result\['a'\] of the function is str"),
    "integers back": (
        lambda: grad(lambda x: x.argmax())(X),
        TypeError,
        "returned a tensor of int64, .*; return floats",
    ),
    "no function": (lambda: grad(X), TypeError, "grad: needs a function, not Tensor; give the function itself"),
    "argnums too large": (lambda: grad(square, 3)(X), ValueError, "argnums=3 needs at least 4 positional arguments"),
    "argnums too small": (lambda: grad(square, -2)(X), ValueError, "argnums=-2 needs at least 2 positional"),
    "argnums no int": (lambda: grad(square, "x")(X), TypeError, "argnums is 'x'; it must be an int or a tuple of ints"),
    "argnums twice": (lambda: grad(square, (0, -1))(X), ValueError, r"argnums=\(0, -1\) names an argument twice"),
    "no aux": (lambda: grad(square, has_aux=True)(X), TypeError, r"must return a pair \(result, aux\), not Tensor"),
    "bare primals": (
        lambda: jvp(square, X, X),
        TypeError,
        r"jvp: primals must be a tuple .*, not Tensor; write \(x,\)",
    ),
    "bare tangents": (lambda: jvp(square, (X,), X), TypeError, "jvp: tangents must be a tuple or a list"),
    "other structure": (
        lambda: jvp(lambda t: t["a"], ({"a": X},), ({"b": X},)),
        TypeError,
        r"tangents and primals must have the same structure, but differ at \[0\]: {'b': \*} and {'a': \*}",
    ),
    "other shape": (
        lambda: jvp(square, (X,), (mg.ones(3),)),
        ValueError,
        r"jvp: tangents\[0\] has shape \(3,\), but primals\[0\] has \(2,\)",
    ),
    "other type": (
        lambda: jvp(square, (X,), (X.double(),)),
        TypeError,
        r"tangents\[0\] is a tensor of float64, but primals\[0\] is one of float32; convert it with",
    ),
    "a word as tangent": (
        lambda: jvp(square, (X,), ("x",)),
        TypeError,
        r"tangents\[0\] is str, but belongs to a tensor",
    ),
    "a tensor for a Scalar": (lambda: jvp(lambda s: s * s, (Scalar(1.0),), (X,)), TypeError, "belongs to a Scalar"),
    "linearize": (
        lambda: linearize(square, X)[1](X, X),
        TypeError,
        "linearize: tangents and primals must have the same",
    ),
    "cotangent": (
        lambda: vjp(square, X)[1](X),
        ValueError,
        r"vjp: the cotangent has shape \(2,\), but the result has \(\)",
    ),
    "a cotangent deep inside": (
        lambda: vjp(lambda x: {"a": x}, X)[1]({"a": mg.ones(3)}),
        ValueError,
        r"the cotangent\['a'\] has shape \(3,\), but the result\['a'\] has \(2,\)",
    ),
    "cotangents": (
        lambda: vjp(lambda x: (x, x), X)[1](X),
        TypeError,
        "the cotangent and the result must have the same",
    ),
    "a vector to hvp": (lambda: hvp(lambda x: x, (X,), (X,)), TypeError, "hvp: the function must return one number"),
    "bare primals of hvp": (lambda: hvp(square, X, X), TypeError, r"hvp: primals must be a tuple .*; write \(x,\)"),
    "tangents of hvp": (lambda: hvp(square, (X,), (mg.ones(3),)), ValueError, r"hvp: tangents\[0\] has shape \(3,\)"),
    "integers to hessian": (lambda: hessian(square)(INTEGERS), TypeError, "hessian: argument 0 is a tensor of int64"),
    "no function to hessian": (lambda: hessian(X), TypeError, "hessian: needs a function, not Tensor"),
    "no aux of hessian": (lambda: hessian(square, has_aux=True)(X), TypeError, "hessian: with has_aux=True"),
    "an int to jvp": (lambda: jvp(square, (3,), (1.0,)), TypeError, r"jvp: primals\[0\] is the int 3"),
    "no rule": (
        lambda: custom_jvp(square)(X),
        FunctionError,
        "custom_jvp: square has no derivative rule yet; .* defjvp",
    ),
    "no rules": (
        lambda: custom_vjp(square)(X),
        FunctionError,
        "custom_vjp: square has no derivative rule yet; .* defvjp",
    ),
    "no pair": (
        lambda: grad(with_jvp(1.0))(1.0),
        FunctionError,
        "the rule of <lambda> returned float; it must return a pair",
    ),
    "other change": (
        lambda: grad(with_jvp((1.0, [1.0])))(1.0),
        FunctionError,
        r"has another structure .* at the root: \[\*\]",
    ),
    "fwd": (lambda: grad(with_vjp(lambda x, y: x, max))(1.0, 2.0), FunctionError, "fwd of <lambda> returned Tensor"),
    "too few": (
        lambda: grad(with_vjp(lambda x, y: (x * y, None), lambda res, d: (d,)))(1.0, 2.0),
        FunctionError,
        "bwd of <lambda> returned 1 gradients; it must return a tuple of 2",
    ),
    "bwd's shape": (
        lambda: grad(with_vjp(lambda x, y: (x * y, None), lambda res, d: (mg.ones(2), d)))(1.0, 2.0),
        FunctionError,
        r"gave a gradient of shape \(2,\) to an argument of shape \(\)",
    ),
    "bwd's tree": (
        lambda: grad(with_vjp(lambda x, y: (x * y, None), lambda res, d: ([d], d)))(1.0, 2.0),
        FunctionError,
        r"gradient 0 of bwd of <lambda> has another structure",
    ),
    "forward mode": (
        lambda: jvp(with_vjp(lambda x, y: (x * y, None), lambda res, d: (d, d)), (1.0, 2.0), (1.0, 1.0)),
        FunctionError,
        "custom_vjp: <lambda> has a rule for reverse mode only; jvp, linearize, jacfwd and hessian need",
    ),
    "only by name": (
        lambda: with_names()(1.0, y=2.0),
        TypeError,
        "has arguments that can only be given by name",
    ),
    "checkpoint of nothing": (lambda: checkpoint(3), TypeError, "checkpoint: needs a function, not int"),
}


def with_names():
    f = custom_jvp(lambda x, *, y: x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    return f


@pytest.mark.parametrize(("call", "error", "message"), WRONG.values(), ids=WRONG)
def test_mistakes(call, error, message):
    """One sentence names the function, the argument's path, and what to do."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_function_without_forward_rule_is_named():
    """A user's Function that has a backward only."""

    class Cube(mg.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, d_output):
            (x,) = ctx.saved_values
            return d_output * 3.0 * x * x

    assert grad(grad(Cube.apply))(2.0).item() == 12.0
    with pytest.raises(FunctionError, match="Cube has no forward-mode rule: give it a jvp"):
        jvp(Cube.apply, (2.0,), (1.0,))
