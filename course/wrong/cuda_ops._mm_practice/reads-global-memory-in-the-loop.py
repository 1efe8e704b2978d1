"""The products are made of what lies in global memory."""

def _mm_practice(out, a, b, size):
    a_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    b_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    i = cuda.threadIdx.x
    j = cuda.threadIdx.y
    if i < size and j < size:
        a_shared[i, j] = a[size * i + j]
        b_shared[i, j] = b[size * i + j]
    cuda.syncthreads()
    if i < size and j < size:
        total = 0.0
        for k in range(size):
            total += a[size * i + k] * b[size * k + j]
        out[size * i + j] = total
