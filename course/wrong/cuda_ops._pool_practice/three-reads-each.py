"""Each thread reads all three elements from global memory."""


def _pool_practice(out, a, size):
    i = cuda.blockIdx.x * BLOCK_DIM + cuda.threadIdx.x
    if i < size:
        total = a[i]
        if i >= 1:
            total += a[i - 1]
        if i >= 2:
            total += a[i - 2]
        out[i] = total
