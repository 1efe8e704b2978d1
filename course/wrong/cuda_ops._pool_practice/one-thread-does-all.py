"""Each thread brings its element; the first one adds up all, and writes all sums."""


def _pool_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    if i < size:
        cache[t] = a[i]
    cuda.syncthreads()
    if t == 0:
        two = a[i - 2] if 2 <= i < size else 0.0
        one = a[i - 1] if 1 <= i < size else 0.0
        for k in range(BLOCK_DIM):
            if i + k < size:
                here = cache[k]
                out[i + k] = two + one + here
                two, one = one, here
