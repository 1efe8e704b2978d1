"""The minus sign keeps the type: an int stays an int."""


def add(x: float, y: float) -> float:
    return x + y


def mul(x: float, y: float) -> float:
    return x * y


def neg(x: float) -> float:
    return -x
