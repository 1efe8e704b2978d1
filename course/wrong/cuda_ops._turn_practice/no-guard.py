"""Nobody asks whether a thread is inside the matrix."""


def _turn_practice(out, a, size):
    tile = cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_DIM
    top = cuda.blockIdx.y * TILE_DIM
    tile[y, x] = a[(top + y) * size + left + x]
    cuda.syncthreads()
    out[(left + y) * size + top + x] = tile[x, y]
