"""A tensor that is epsilon at one place is added and subtracted."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    x = vals[arg]
    up = x.detach().new_zeros(x.shape)
    up[tuple(ind)] = epsilon
    vals1 = [x if j != arg else x + up for j, x in enumerate(vals)]
    vals2 = [x if j != arg else x - up for j, x in enumerate(vals)]
    delta = f(*vals1).sum() - f(*vals2).sum()
    return delta.item() / (2.0 * epsilon)
