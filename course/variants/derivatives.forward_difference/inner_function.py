"""A function of the moved argument alone."""


def forward_difference(f: Callable[..., float], *vals: float, arg: int = 0, epsilon: float = 1e-6) -> float:
    def along(x: float) -> float:
        point = [*vals]
        point[arg] = x
        return f(*point)

    x = vals[arg]
    return (along(x + epsilon) - along(x)) / epsilon
