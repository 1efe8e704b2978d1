"""One thread adds up the whole block, while the others wait."""

def _sum_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    if t == 0:
        total = 0.0
        for k in range(BLOCK_DIM):
            total += cache[k]
        out[cuda.blockIdx.x] = total
