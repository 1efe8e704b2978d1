"""Each thread adds up all elements before it, one by one, from shared memory."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    total = 0.0
    for j in range(t + 1):
        total += cache[j]
    if i < size:
        out[i] = total
