"""Each tile is turned, and stays where it was."""


def _turn_practice(out, a, size):
    tile = cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_DIM
    top = cuda.blockIdx.y * TILE_DIM
    if top + y < size and left + x < size:
        tile[y, x] = a[(top + y) * size + left + x]
    cuda.syncthreads()
    if top + y < size and left + x < size:
        out[(top + y) * size + left + x] = tile[x, y]
