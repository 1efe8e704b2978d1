"""The last two axes are named by numbers from the end."""


def matmul_back(a, b, d_output):
    d_a = d_output.matmul(b.transpose(-1, -2))
    d_b = a.transpose(-2, -1).matmul(d_output)
    return [d_a, d_b]
