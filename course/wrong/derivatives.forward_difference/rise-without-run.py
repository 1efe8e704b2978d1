"""The rise is returned: nothing divides it by the length of the step."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    moved = list(vals)
    moved[arg] += epsilon
    return f(*moved) - f(*vals)
