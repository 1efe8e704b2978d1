"""The first gradient is stored, and then added as well."""

def accumulate_grad(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = gradient.clone()
    leaf.grad = leaf.grad + gradient
