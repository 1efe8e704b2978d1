"""Threads beyond the last element read and write as the others."""


def _pool_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i]
    cuda.syncthreads()
    total = cache[t]
    for back in range(1, 3):
        if t >= back:
            total += cache[t - back]
        elif i >= back:
            total += a[i - back]
    out[i] = total
