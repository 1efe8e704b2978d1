"""The tile of b is kept turned round."""

@cuda.jit
def _mm_practice(out, a, b, size):
    rows = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    columns = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    inside = x < size and y < size
    if inside:
        rows[x, y] = a[x * size + y]
        columns[y, x] = b[x * size + y]
    cuda.syncthreads()
    if not inside:
        return
    total = 0.0
    for k in range(size):
        total += rows[x, k] * columns[y, k]
    out[x * size + y] = total
