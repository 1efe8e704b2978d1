"""The threads add one after the other: each waits for the total of the one before it."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    for k in range(1, BLOCK_DIM):
        if t == k:
            cache[t] += cache[t - 1]
        cuda.syncthreads()
    if i < size:
        out[i] = cache[t]
