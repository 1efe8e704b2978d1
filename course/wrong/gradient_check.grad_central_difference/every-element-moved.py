"""All elements move together."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    above = f(*[x.detach() + epsilon if i == arg else x for i, x in enumerate(vals)])
    below = f(*[x.detach() - epsilon if i == arg else x for i, x in enumerate(vals)])
    return (above.item() - below.item()) / (2.0 * epsilon)
