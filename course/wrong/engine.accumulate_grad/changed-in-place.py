"""The stored gradient is changed where it stands."""

def accumulate_grad(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = gradient.clone()
    else:
        leaf.grad += gradient
