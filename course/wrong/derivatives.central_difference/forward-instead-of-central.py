"""One point is x itself: a forward difference."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    moved = list(vals)
    moved[arg] += epsilon
    return (f(*moved) - f(*vals)) / epsilon
