"""Each slope gets a name, and is multiplied afterwards."""

def log_back(x: float, d: float) -> float:
    slope = 1.0 / x
    return slope * d


def inv_back(x: float, d: float) -> float:
    slope = -1.0 / x**2
    return slope * d


def relu_back(x: float, d: float) -> float:
    if x <= 0.0:
        return 0.0
    return d
