"""The transpose reverses the axes of the batch as well."""


def matmul_back(a, b, d_output):
    return d_output @ b.T, a.T @ d_output
