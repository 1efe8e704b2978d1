"""What is stored is added to the gradient that was given."""

def accumulate_grad(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = gradient.clone()
    else:
        gradient += leaf.grad
        leaf.grad = gradient
