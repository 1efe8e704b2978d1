"""The twins are put together from the operators of lesson 00."""

def log_back(x: float, d: float) -> float:
    return operators.mul(d, operators.inv(x))


def inv_back(x: float, d: float) -> float:
    return operators.neg(operators.mul(d, operators.inv(operators.mul(x, x))))


def relu_back(x: float, d: float) -> float:
    return d if not x <= 0 else 0.0
