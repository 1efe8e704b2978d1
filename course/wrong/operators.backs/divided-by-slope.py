"""log_back divides the upstream derivative by the slope 1 / x instead of multiplying."""

def log_back(x, d):
    return d / (1.0 / x)


def inv_back(x, d):
    return -d / (x * x)


def relu_back(x, d):
    return 0.0 if x <= 0.0 else d
