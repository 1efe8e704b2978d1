"""Compiled by the student, with the weights in the outer loops and a helper function."""


@njit
def product(x, w):
    return x * w


@njit(parallel=True)
def conv1d_kernel(out, input, weight):
    batch, channels, width = input.shape
    n, size = weight.shape[0], weight.shape[2]
    for o in prange(n):
        for b in range(batch):
            for i in range(width - size + 1):
                acc = 0.0
                for c in range(channels):
                    for k in range(size):
                        acc += product(input[b, c, i + k], weight[o, c, k])
                out[b, o, i] = acc
