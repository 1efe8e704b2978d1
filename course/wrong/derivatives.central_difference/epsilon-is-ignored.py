"""The length of the steps is written into the code."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    epsilon = 1e-6
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return (f(*above) - f(*below)) / (2.0 * epsilon)
