"""Threads beyond the last element read and write as the others."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    total = a[i]
    step = 1
    while step < BLOCK_DIM:
        cache[t] = total
        cuda.syncthreads()
        if t >= step:
            total += cache[t - step]
        cuda.syncthreads()
        step *= 2
    out[i] = total
