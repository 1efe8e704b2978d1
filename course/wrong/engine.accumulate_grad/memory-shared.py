"""The first gradient is stored as it is, with its memory."""

def accumulate_grad(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = gradient
    else:
        leaf.grad = leaf.grad + gradient
