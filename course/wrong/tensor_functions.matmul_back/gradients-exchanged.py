"""The gradient of b comes first."""


def matmul_back(a, b, d_output):
    return a.mT @ d_output, d_output @ b.mT
