"""The first two axes are exchanged, which are the last two of a single matrix only."""


def matmul_back(a, b, d_output):
    return d_output @ b.transpose(0, 1), a.transpose(0, 1) @ d_output
