"""The tensor itself moves, up, down and back, which does not restore the last digits."""

def grad_central_difference(f, *vals, arg=0, epsilon=1e-6, ind=(0,)):
    x = vals[arg].detach()
    x[tuple(ind)] += epsilon
    above = f(*vals).item()
    x[tuple(ind)] -= 2.0 * epsilon
    below = f(*vals).item()
    x[tuple(ind)] += epsilon
    return (above - below) / (2.0 * epsilon)
