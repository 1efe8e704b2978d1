"""The two points are 2 epsilon apart, but the difference is divided by one."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return (f(*above) - f(*below)) / epsilon
