"""detach shares memory, so that both steps move the same element."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    copy = vals[arg].clone()
    up, down = copy.detach(), copy.detach()
    up[tuple(ind)] += epsilon
    down[tuple(ind)] -= epsilon
    above = f(*[up if i == arg else x for i, x in enumerate(vals)])
    below = f(*[down if i == arg else x for i, x in enumerate(vals)])
    return (above.item() - below.item()) / (2.0 * epsilon)
