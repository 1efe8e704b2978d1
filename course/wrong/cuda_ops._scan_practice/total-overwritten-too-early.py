"""One barrier in each step: a thread writes its total while another one still has to read the old one."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK_DIM + t
    cache[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    step = 1
    while step < BLOCK_DIM:
        if t >= step:
            cache[t] += cache[t - step]
        cuda.syncthreads()
        step *= 2
    if i < size:
        out[i] = cache[t]
