"""Without parentheses, the difference is divided by 2 and then multiplied by epsilon."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return (f(*above) - f(*below)) / 2 * epsilon
