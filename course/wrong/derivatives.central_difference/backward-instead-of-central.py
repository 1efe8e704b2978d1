"""One point is x itself, the other lies below."""


def central_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    below = list(vals)
    below[arg] -= epsilon
    return (f(*vals) - f(*below)) / epsilon
