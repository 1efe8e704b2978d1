"""Zeros first, then the sum, by MiniTorch's name."""

def accumulate_grad(leaf, gradient):
    if leaf.derivative is None:
        leaf.derivative = leaf.detach().new_zeros(leaf.shape)
    leaf.derivative = leaf.derivative + gradient
