"""The gradient is detached from what it was computed from."""

def accumulate_grad(leaf, gradient):
    gradient = gradient.detach().clone()
    leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
