"""Both gradients are products that are transposed afterwards."""


def matmul_back(a, b, d_output):
    return (b @ d_output.mT).mT, (d_output.mT @ a).mT
