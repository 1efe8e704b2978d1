"""The totals live in shared memory; what is to be added waits in a variable."""


def _scan_practice(out, a, size):
    cache = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < size:
        cache[t] = a[i]
    else:
        cache[t] = 0.0
    cuda.syncthreads()
    distance = 1
    while distance < BLOCK_DIM:
        other = 0.0
        if t >= distance:
            other = cache[t - distance]
        cuda.syncthreads()
        cache[t] += other
        cuda.syncthreads()
        distance = 2 * distance
    if i < size:
        out[i] = cache[t]
