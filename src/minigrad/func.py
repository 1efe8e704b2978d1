"""`minigrad.transforms` by the names and arguments of PyTorch's ``torch.func``.

from minigrad.func import functional_call, grad, vmap
slopes = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)    # a gradient for each example
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad import transforms
from minigrad.machine.first_use import first_use
from minigrad.nn.functional_call import functional_call
from minigrad.transforms import grad, hessian, jacfwd, jacrev, vjp

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error"
) -> Callable[..., Any]:
    """Return the function that applies a function of one example to all examples of a batch at once.

    Args:
        func: A function of trees that returns a tree of tensors.
        in_dims: Which axis of each argument counts the examples; None for what all examples share. Keyword arguments
            are shared.
        out_dims: Where this axis stands in the results.
        randomness: What random functions draw: "different" numbers for each example, the "same" for all, or an "error".

    >>> rows, vector = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), minigrad.tensor([1.0, 10.0])
    >>> minigrad.func.vmap(minigrad.dot, in_dims=(0, None))(rows, vector)
    tensor([21., 43.])
    """
    mapped = transforms.vmap(func, in_dims, out_dims, randomness=randomness)

    @functools.wraps(mapped)
    def with_shared_options(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return mapped(*args)
        return transforms.vmap(functools.partial(func, **kwargs), in_dims, out_dims, randomness=randomness)(*args)

    return with_shared_options


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that returns the gradient of a function and its value.

    >>> minigrad.func.grad_and_value(lambda x: x**2)(minigrad.tensor(3.0))
    (tensor(6.), tensor(9.))
    """
    both = transforms.value_and_grad(func, argnums, has_aux)
    return lambda *args, **kwargs: both(*args, **kwargs)[::-1]


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """Return the value of a function, and its change for a change of its arguments.

    Args:
        func: A function of trees that returns a tree of tensors.
        primals: Its arguments.
        tangents: Their changes.
        has_aux: Whether the function returns its value with something else, which is then returned third.

    >>> minigrad.func.jvp(lambda x: x**2, (minigrad.tensor(3.0),), (minigrad.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    return transforms.jvp(func, primals, tangents, has_aux)
