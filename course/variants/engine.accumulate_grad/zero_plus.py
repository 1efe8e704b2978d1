"""Without a gradient there are zeros, and adding makes a new tensor in either case."""

def accumulate_grad(leaf, gradient):
    before = leaf.grad
    if before is None:
        before = 0.0
    leaf.grad = before + gradient
