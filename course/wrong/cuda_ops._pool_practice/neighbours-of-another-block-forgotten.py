"""The first threads of a block do without the neighbours that another block has brought."""


def _pool_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    if i < size:
        cache[t] = a[i]
    cuda.syncthreads()
    if i < size:
        total = cache[t]
        for back in range(1, 3):
            if t >= back:
                total += cache[t - back]
        out[i] = total
