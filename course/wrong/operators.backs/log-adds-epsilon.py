"""A small number is added to x, as for a logarithm that must not get 0."""


def log_back(x: float, d: float) -> float:
    return d / (x + 1e-6)


def inv_back(x: float, d: float) -> float:
    return -d / (x * x)


def relu_back(x: float, d: float) -> float:
    return 0.0 if x <= 0.0 else d
