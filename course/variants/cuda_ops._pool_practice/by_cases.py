"""The two neighbours are written out."""


def _pool_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    one, two = 0.0, 0.0
    if t > 0:
        one = cache[t - 1]
    elif 0 < i <= size:
        one = a[i - 1]
    if t > 1:
        two = cache[t - 2]
    elif 1 < i < size:
        two = a[i - 2]
    if i < size:
        out[i] = two + one + cache[t]
