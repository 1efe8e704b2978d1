"""The product is written out: every pair of elements, and a sum over the index that is not in the result."""


def matmul_back(a, b, d_output):
    left, upper, right = a.unsqueeze(-1), d_output.unsqueeze(-2), b.unsqueeze(-3)
    return (upper * right).sum(dim=-1), (left * upper).sum(dim=-3)
