"""The sum is written to out in each step along k."""

def _tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    a_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    b_shared = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    z = cuda.blockIdx.z
    ti = cuda.threadIdx.y
    tj = cuda.threadIdx.x
    i = cuda.blockIdx.y * BLOCK_DIM + ti
    j = cuda.blockIdx.x * BLOCK_DIM + tj
    a_stack = a_strides[0] if a_shape[0] > 1 else 0
    b_stack = b_strides[0] if b_shape[0] > 1 else 0
    total = 0.0
    for start in range(0, a_shape[2], BLOCK_DIM):
        a_shared[ti, tj] = 0.0
        b_shared[ti, tj] = 0.0
        if i < a_shape[1] and start + tj < a_shape[2]:
            a_shared[ti, tj] = a_storage[z * a_stack + i * a_strides[1] + (start + tj) * a_strides[2]]
        if start + ti < b_shape[1] and j < b_shape[2]:
            b_shared[ti, tj] = b_storage[z * b_stack + (start + ti) * b_strides[1] + j * b_strides[2]]
        cuda.syncthreads()
        for k in range(BLOCK_DIM):
            total += a_shared[ti, k] * b_shared[k, tj]
        cuda.syncthreads()
        if i < out_shape[1] and j < out_shape[2]:
            out[z * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = total
