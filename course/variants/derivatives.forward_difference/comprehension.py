"""A comprehension that finds the argument to move, counted from either end."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    i = arg % len(vals)
    moved = [x + epsilon if k == i else x for k, x in enumerate(vals)]
    return (f(*moved) - f(*vals)) / epsilon
