"""A gradient is asked whether it is true, which a tensor of several elements is not."""

def accumulate_grad(leaf, gradient):
    if not leaf.grad:
        leaf.grad = gradient.clone()
    else:
        leaf.grad = leaf.grad + gradient
