"""The slope is rounded to hide the noise in its last digits."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    moved = list(vals)
    moved[arg] += epsilon
    return round((f(*moved) - f(*vals)) / epsilon, 3)
