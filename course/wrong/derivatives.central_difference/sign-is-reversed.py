"""The value above is subtracted from that below."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return (f(*below) - f(*above)) / (2.0 * epsilon)
