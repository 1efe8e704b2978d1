"""The arguments behind the moved one are found by arg + 1, which is 0 for the last one."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    moved = vals[:arg] + (vals[arg] + epsilon,) + vals[arg + 1 :]
    return (f(*moved) - f(*vals)) / epsilon
