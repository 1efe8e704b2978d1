"""The gradient of b is summed over the batch, also where b has a matrix for each entry."""


def matmul_back(a, b, d_output):
    d_b = a.mT @ d_output
    while d_b.ndim > 2:
        d_b = d_b.sum(dim=0)
    return d_output @ b.mT, d_b
