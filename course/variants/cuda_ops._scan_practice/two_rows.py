"""Two shared arrays take turns, so that one barrier in a step is enough."""


@cuda.jit
def _scan_practice(out, a, size):
    BLOCK_DIM = 32
    old = cuda.shared.array(BLOCK_DIM, numba.float64)
    new = cuda.shared.array(BLOCK_DIM, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    old[t] = a[i] if i < size else 0.0
    cuda.syncthreads()
    for distance in (1, 2, 4, 8, 16):
        if t >= distance:
            new[t] = old[t] + old[t - distance]
        else:
            new[t] = old[t]
        cuda.syncthreads()
        old, new = new, old
    if i < size:
        out[i] = old[t]
