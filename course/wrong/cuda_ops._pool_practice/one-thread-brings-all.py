"""The first thread brings the elements of its whole block."""


def _pool_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM + 2, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    if t == 0:
        for k in range(BLOCK_DIM + 2):
            cache[k] = a[i + k - 2] if 0 <= i + k - 2 < size else 0.0
    cuda.syncthreads()
    if i < size:
        out[i] = cache[t] + cache[t + 1] + cache[t + 2]
