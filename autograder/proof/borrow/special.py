"""Programs that follow no pattern: what somebody who knows the algebra puts together from several functions."""

from __future__ import annotations

_BY_COPY = """
def borrowed(variable, deriv):
    order, twins = list(lib("autodiff:topological_sort")(variable)), {{}}
    wide = functools.partial(lib("tensors.creation:tensor"), dtype=np.dtype("float64"))
    for each in reversed(order):
        twins[each.unique_id] = wide(0.0, requires_grad=True)
        for parent, slope in () if each.is_leaf() else lib("autodiff:chain_rule")(each, 1.0):
            twins[each.unique_id] = twins[each.unique_id] + twins[parent.unique_id] * float(slope)
    leaves, root = [each for each in order if each.is_leaf()], twins[variable.unique_id]
    for leaf in leaves:
        leaf.accumulate_derivative({found})
"""

SPECIAL: dict[str, dict[str, str]] = {
    "autodiff.backpropagate": {
        "the engine of tensors, on a copy": _BY_COPY.format(
            found='lib("quick.backward:run")([(root, wide(float(deriv)))], [twins[leaf.unique_id]])[0].item()'
        ),
        "forward mode, on a copy": _BY_COPY.format(
            found='lib("backward.forward_mode:jvp")(root, [twins[leaf.unique_id]], [wide(1.0)]).item() * deriv'
        ),
    },
    "nn.functional.softmax": {
        "the softmax that a cross entropy keeps": """
def borrowed(input, dim):
    class Keeper: save_for_backward = lambda self, *values: None
    keeper, x = Keeper(), np.moveaxis(input.detach().numpy(), dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    target = np.zeros(len(rows), np.int64)
    lib("nn.loss_rules:CrossEntropy/forward")(keeper, rows, target, np.ones(len(rows), rows.dtype), "sum")
    return minigrad_tensor(np.moveaxis(keeper.softmax.reshape(x.shape), -1, dim))
""",
    },
    "nn.functional.logsoftmax": {
        "the losses of a cross entropy": """
def borrowed(input, dim):
    class Keeper: save_for_backward = lambda self, *values: None
    x = np.moveaxis(input.detach().numpy(), dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    found, ones = np.empty(rows.shape, x.dtype), np.ones(len(rows), rows.dtype)
    for each in range(found.shape[1]):
        target = np.full(len(rows), each)
        found[:, each] = -lib("nn.loss_rules:CrossEntropy/forward")(Keeper(), rows, target, ones, "none")
    return minigrad_tensor(np.moveaxis(found.reshape(x.shape), -1, dim))
""",
    },
    "engine.unbroadcast": {
        "the sum over what NumPy's form stretched": """
def borrowed(gradient, shape):
    axes = lib("backends.arrays:stretched_axes")(gradient.shape, shape)
    return gradient.sum(dim=tuple(axes)).view(*shape)
""",
        "the rule of expand": """
def borrowed(gradient, shape):
    x = lib("tensors.creation:zeros")(*shape).requires_grad_()
    x.expand(*gradient.shape).backward(gradient.detach())
    return x.grad
""",
    },
    "tensor_data.shape_broadcast": {
        "the broadcasting of arrays": """
def borrowed(shape1, shape2):
    return lib("backends.arrays:_broadcast")([tuple(shape1), tuple(shape2)])
""",
    },
}
"""For each slot the texts that define `borrowed` with the tools, by name."""
