"""Threads outside of the matrix take part as well."""

def _mm_practice(out, a, b, size):
    a_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    b_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    i = cuda.threadIdx.x
    j = cuda.threadIdx.y
    if i < size:
        a_shared[i, j] = a[size * i + j]
        b_shared[i, j] = b[size * i + j]
    cuda.syncthreads()
    if i < size:
        total = 0.0
        for k in range(size):
            total += a_shared[i, k] * b_shared[k, j]
        out[size * i + j] = total
