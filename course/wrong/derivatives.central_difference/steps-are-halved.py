"""The two points are one epsilon apart, half on either side."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = list(vals), list(vals)
    above[arg] += epsilon / 2.0
    below[arg] -= epsilon / 2.0
    return (f(*above) - f(*below)) / epsilon
