"""relu_back asks whether x is positive, which nan is not, and so hides it."""

def log_back(x, d):
    return d / x


def inv_back(x, d):
    return -d / (x * x)


def relu_back(x, d):
    return d if x > 0.0 else 0.0
