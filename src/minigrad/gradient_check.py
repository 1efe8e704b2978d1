"""Are the gradients right? Compare them with central differences, from random directions.

An upstream gradient of ones cannot tell a wrong order of elements from the right one: a sum is the same in any order.
So every check here draws random upstream gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.errors import GradcheckError
from minigrad.tensors import Tensor
from minigrad.tensors.creation import cat
from minigrad.tensors.gradients import grad

__all__ = ["grad_central_difference", "gradcheck", "gradgradcheck", "is_right"]


def grad_central_difference(
    f: Callable[..., Any],
    *vals: Any,
    arg: int = 0,
    epsilon: float = 1e-6,
    ind: Sequence[int] = (0,),
) -> float:
    """Estimate the derivative of a function in one element of one of its tensors.

    The estimate is f with that element moved up by epsilon, minus f with it moved down
    by epsilon, over the distance between the two, 2 epsilon.

    Args:
        f: A function of tensors that returns a tensor of one element; ``.item()`` makes
            a number of it.
        *vals: The tensors to call it with, of float64; they are left as they are, so
            work on copies: ``x.clone()`` is one, ``x.detach()`` shares the memory of x.
        arg: Which of them moves, counted from 0.
        epsilon: How far its element moves, in either direction.
        ind: The index of the element, one number for each axis: ``x[tuple(ind)]``. It
            is () for a tensor without axes.

    Returns:
        The estimate, a number.
    """
    ### BEGIN SOLUTION
    up, down = vals[arg].detach().clone(), vals[arg].detach().clone()
    up[tuple(ind)] += epsilon
    down[tuple(ind)] -= epsilon
    above = f(*vals[:arg], up, *vals[arg + 1 :])
    below = f(*vals[:arg], down, *vals[arg + 1 :])
    return float((above.item() - below.item()) / (2.0 * epsilon))
    ### END SOLUTION


def is_right(
    f: Callable[..., Any],
    back: Callable[..., Any],
    *shapes: tuple[int, ...],
) -> bool:
    """Decide by trying whether a backward rule is that of a function.

    A right rule agrees with the slopes of f for all inputs and upstream gradients, as
    closely as float64 allows. A wrong rule may be right for half of all inputs, for
    half of all upstream gradients, and for all numbers of a gradient but one. Where it
    is wrong, a number is off by a thousandth of the gradient's largest one or more, or
    it is nan, or the gradient has another shape than its input.

    Args:
        f: A function of arrays of float64. It returns an array or a number, of any
            size: 1e8, or 1e-8. It has a slope for almost all inputs, and not all of its
            slopes are 0.
        back: Its rule: ``back(d_output, *inputs)`` returns a gradient for each input,
            in a list or a tuple.
        *shapes: The shape of each input. Its numbers may be any, positive or negative.

    Returns:
        True if the rule is right.
    """
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    for _ in range(20):
        inputs = [rng.normal(size=shape) for shape in shapes]
        d_output = rng.normal(size=np.shape(f(*inputs)))
        found = back(d_output, *inputs)
        if [np.shape(gradient) for gradient in found] != list(shapes):
            return False
        for k, gradient in enumerate(found):
            step = 1e-6 * rng.normal(size=shapes[k])
            up, down = [f(*inputs[:k], moved, *inputs[k + 1 :]) for moved in (inputs[k] + step, inputs[k] - step)]
            rise = ((up - down) * d_output).sum() / 2.0
            if not abs(rise - (gradient * step).sum()) <= 1e-5 * abs(gradient * step).sum():  # refuses nan as well
                return False
    return True
    ### END SOLUTION


def gradcheck(
    f: Callable[..., Tensor],
    inputs: Sequence[Tensor] | Tensor,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    seed: int = 0,
) -> bool:
    """Compare the gradients of a function with central differences, for a random upstream gradient.

    Args:
        f: A function of tensors that returns a tensor, or a tuple of them: those that require gradients are compared.
        inputs: What to call it with; float64 where gradients are required, which is where they are compared.
        eps: How far elements move.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        raise_exception: Whether to raise an error that names the worst element, or to return False.
        seed: Of the upstream gradient.

    Returns:
        Whether all gradients agree.

    Raises:
        GradcheckError: If they do not, or if one of them is nan.
        TypeError: If an input that requires gradients is not of float64.

    >>> x = minigrad.tensor([1.0, 2.0], dtype=minigrad.float64, requires_grad=True)
    >>> minigrad.gradcheck(lambda x: (x * x).sum(), [x])
    True
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    wanted = _wanted(inputs, "gradcheck")
    f = _with_one_output(f, inputs, "gradcheck")
    output = f(*inputs)
    upstream = Tensor(np.random.default_rng(seed).normal(size=output.shape)).to(output)
    found = grad(output, [inputs[i] for i in wanted], upstream, allow_unused=True)
    for i, gradient in zip(wanted, found, strict=True):
        estimate = _estimate(f, inputs, i, upstream, eps)
        seen = np.zeros(inputs[i].shape) if gradient is None else np.asarray(arrays.to_host(gradient._array))
        wrong = ~np.isclose(seen, estimate, rtol, atol)  # nan agrees with nothing, as in PyTorch
        if wrong.any():
            if not raise_exception:
                return False
            raise _disagreement(i, seen, estimate, wrong, arrays.to_host(upstream._array))
    return True


def _wanted(inputs: Sequence[Any], name: str) -> list[int]:
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    for i in wanted:
        if inputs[i].dtype != np.float64:
            raise TypeError(
                f"{name}: input {i} has type {inputs[i].dtype}; differences need float64, convert it with .double()"
            )
    if not wanted:
        raise ValueError(f"{name}: none of the inputs requires gradients")
    return wanted


def _with_one_output(f: Callable[..., Any], inputs: Sequence[Any], name: str) -> Callable[..., Tensor]:
    """Return a function that lines the elements of several outputs up in one tensor."""
    outputs = f(*inputs)
    if isinstance(outputs, Tensor):
        return f
    places = [k for k, y in enumerate(outputs) if isinstance(y, Tensor) and y.requires_grad]
    if not places:
        raise ValueError(f"{name}: none of the outputs depends on an input that requires gradients")

    def joined(*values: Any) -> Tensor:
        found = f(*values)
        return cat([found[k].reshape(-1) for k in places])

    return joined


def _estimate(f: Callable[..., Tensor], inputs: Sequence[Any], arg: int, upstream: Tensor, eps: float) -> Any:
    """Return central differences of the output's product with the upstream gradient, for every element."""
    values = [x.detach() if isinstance(x, Tensor) else x for x in inputs]

    def total(*moved: Any) -> Tensor:
        return (f(*moved).double() * upstream).sum()

    estimate = np.zeros(inputs[arg].shape)
    for index in np.ndindex(estimate.shape):
        estimate[index] = grad_central_difference(total, *values, arg=arg, epsilon=eps, ind=index)
    return estimate


_FEW = 4
"""Numbers of an upstream gradient that a message writes out."""


def _disagreement(i: int, seen: Any, estimate: Any, wrong: Any, upstream: Any) -> GradcheckError:
    """Return the error that names the first nan, or the element that differs most."""
    count, places = int(wrong.sum()), wrong.size
    drawn = ", ".join(f"{number:.6g}" for number in np.ravel(upstream)) if upstream.size <= _FEW else "random numbers"
    given = f"both are for an upstream gradient of {drawn} instead of {'1' if upstream.size == 1 else 'ones'}"
    for values, whose, other, of_other in (
        (seen, "backward gives nan for", "central differences give", estimate),
        (estimate, "central differences give nan for", "backward gives", seen),
    ):
        if np.isnan(values).any():
            first = tuple(int(n) for n in np.argwhere(np.isnan(values))[0])
            return GradcheckError(
                f"the gradient of input {i} is wrong in {count} of {places} elements: {whose} "
                f"{int(np.isnan(values).sum())} of them, first at {first}, where {other} {of_other[first]:.6g}; {given}"
            )
    distance = np.full(wrong.shape, -1.0)
    distance[wrong] = np.abs(seen[wrong] - estimate[wrong])
    worst = tuple(int(n) for n in np.unravel_index(int(distance.argmax()), distance.shape))
    return GradcheckError(
        f"the gradient of input {i} is wrong in {count} of {places} elements: at {worst} backward gives "
        f"{seen[worst]:.6g}, central differences {estimate[worst]:.6g}; {given}"
    )


def gradgradcheck(
    f: Callable[..., Tensor],
    inputs: Sequence[Tensor] | Tensor,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    seed: int = 0,
) -> bool:
    """Compare second derivatives with central differences of the first, for random upstream gradients of both.

    Args:
        f: A function of tensors that returns a tensor.
        inputs: As in `gradcheck`.
        eps: Likewise.
        atol: Likewise.
        rtol: Likewise.
        raise_exception: Likewise.
        seed: Likewise.

    >>> x = minigrad.tensor([1.0, 2.0], dtype=minigrad.float64, requires_grad=True)
    >>> minigrad.gradgradcheck(lambda x: (x**3).sum(), [x])
    True
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    wanted = _wanted(inputs, "gradgradcheck")
    f = _with_one_output(f, inputs, "gradgradcheck")
    random = np.random.default_rng(seed + 1)
    upstream = Tensor(random.normal(size=f(*inputs).shape)).to(inputs[wanted[0]])
    weights = [Tensor(random.normal(size=inputs[i].shape)).to(inputs[i]) for i in wanted]

    def first(*values: Any) -> Tensor:
        given = list(values[:-1])
        for i in wanted:
            if not given[i].requires_grad:
                given[i] = given[i].detach().requires_grad_()
        found = grad(f(*given), [given[i] for i in wanted], values[-1], create_graph=True, allow_unused=True)
        terms = [(g * w).sum() for g, w in zip(found, weights, strict=True) if g is not None]
        return sum(terms[1:], terms[0])

    return gradcheck(first, (*inputs, upstream.detach().requires_grad_()), eps, atol, rtol, raise_exception, seed)
