"""The gradients are computed from constants."""


def matmul_back(a, b, d_output):
    a, b, d_output = a.detach(), b.detach(), d_output.detach()
    return d_output @ b.mT, a.mT @ d_output
