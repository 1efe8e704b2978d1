"""Only the rise above the element is measured."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    up = vals[arg].detach().clone()
    up[tuple(ind)] += epsilon
    above = f(*[up if i == arg else x for i, x in enumerate(vals)])
    return (above.item() - f(*vals).item()) / epsilon
