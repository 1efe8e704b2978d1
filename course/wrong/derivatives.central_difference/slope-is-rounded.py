"""The slope is rounded to hide the noise in its last digits."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return round((f(*above) - f(*below)) / (2.0 * epsilon), 4)
