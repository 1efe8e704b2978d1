"""The total of an element goes up to the one before it."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    total = a[i] if i < size else 0.0
    step = 1
    while step < BLOCK_DIM:
        cache[t] = total
        cuda.syncthreads()
        if t >= step:
            total += cache[t - step]
        cuda.syncthreads()
        step *= 2
    if i < size:
        out[i] = total - a[i]
