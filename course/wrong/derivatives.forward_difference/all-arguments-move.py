"""Every argument moves."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    return (f(*[x + epsilon for x in vals]) - f(*vals)) / epsilon
