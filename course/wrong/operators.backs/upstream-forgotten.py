"""The slopes alone are returned; what arrives from above is ignored."""

def log_back(x, d):
    return 1.0 / x


def inv_back(x, d):
    return -1.0 / (x * x)


def relu_back(x, d):
    return 0.0 if x <= 0.0 else 1.0
