"""Shared memory has room to spare, where the first two threads put the neighbours from before the block."""


@cuda.jit
def _pool_practice(out, a, size):
    BLOCK_DIM = 8
    cache = cuda.shared.array(BLOCK_DIM + 2, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        cache[t + 2] = a[i]
    if t < 2:
        cache[t] = 0.0
        if 2 <= i and i - 2 < size:
            cache[t] = a[i - 2]
    cuda.syncthreads()
    if i < size:
        out[i] = cache[t] + cache[t + 1] + cache[t + 2]
