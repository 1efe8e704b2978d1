"""The upper half is added to the lower half, until one is left."""

@cuda.jit
def _sum_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = 0.0
    if i < size:
        value = a[i]
    cache[t] = value
    cuda.syncthreads()
    half = BLOCK_DIM // 2
    while half > 0:
        if t < half:
            cache[t] = cache[t] + cache[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = cache[t]
