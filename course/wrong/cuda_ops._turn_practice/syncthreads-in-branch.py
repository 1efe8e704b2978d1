"""Threads outside of the matrix do not wait."""


def _turn_practice(out, a, size):
    tile = cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    left = cuda.blockIdx.x * TILE_DIM
    top = cuda.blockIdx.y * TILE_DIM
    if top + y < size and left + x < size:
        tile[y, x] = a[(top + y) * size + left + x]
        cuda.syncthreads()
        if left + y < size and top + x < size:
            out[(left + y) * size + top + x] = tile[x, y]
