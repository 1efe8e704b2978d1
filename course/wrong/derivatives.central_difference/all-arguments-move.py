"""Every argument moves."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    above = [x + epsilon for x in vals]
    below = [x - epsilon for x in vals]
    return (f(*above) - f(*below)) / (2.0 * epsilon)
