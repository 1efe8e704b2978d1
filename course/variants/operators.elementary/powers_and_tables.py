"""Powers of e, log1p, and a dictionary of lambdas."""

_functions = {
    "id": lambda x: +x,
    "inv": lambda x: pow(x, -1.0),
    "relu": lambda x: [x, 0.0][x <= 0.0],
    "exp": lambda x: math.e**x,
    "log": lambda x: math.log2(x) * math.log(2.0),
}
id, inv, relu, exp, log = _functions.values()


def sigmoid(x: float) -> float:
    if x < 0.0:
        power = math.exp(x)
        return power / (power + 1.0)
    return math.exp(-math.log1p(math.exp(-x)))
