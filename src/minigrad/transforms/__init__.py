"""Functions that make functions of functions: derivatives, batches, recomputation; by JAX's names.

    loss = lambda params, x, y: ((x @ params["w"] + params["b"] - y) ** 2).mean()
    slopes = transforms.grad(loss)(params, x, y)                              # a tree like params
    of_each = transforms.vmap(transforms.grad(loss), in_axes=(None, 0, 0))    # a gradient for each example

They nest in any order. Functions stay pure: no transform touches the ``grad`` of a tensor.
"""

from __future__ import annotations

from minigrad.transforms.checkpointing import checkpoint
from minigrad.transforms.custom import custom_jvp, custom_vjp, stop_gradient
from minigrad.transforms.derivatives import jvp, linearize, vjp
from minigrad.transforms.gradients import grad, value_and_grad
from minigrad.transforms.jacobians import hessian, hvp, jacfwd, jacrev
from minigrad.transforms.trees import (
    PyTreeDef,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)
from minigrad.transforms.vmapping import vmap

__all__ = [
    "PyTreeDef",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "register_pytree_node",
    "stop_gradient",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_structure",
    "tree_unflatten",
    "value_and_grad",
    "vjp",
    "vmap",
]
