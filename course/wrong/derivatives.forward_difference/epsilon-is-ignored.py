"""The length of the step is written into the code."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    moved = list(vals)
    moved[arg] += 1e-6
    return (f(*moved) - f(*vals)) / 1e-6
