"""Places of the tiles beyond the matrices stay unset, and the sum stops before the k that they belong to."""


def _tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    left = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    right = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    z, x, y = cuda.blockIdx.z, cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * BLOCK_DIM + y
    column = cuda.blockIdx.x * BLOCK_DIM + x
    a_start = z * a_strides[0] if a_shape[0] > 1 else 0
    b_start = z * b_strides[0] if b_shape[0] > 1 else 0
    inner = a_shape[2]
    total = 0.0
    for first in range(0, inner, BLOCK_DIM):
        if row < out_shape[1] and first + x < inner:
            left[y, x] = a_storage[a_start + row * a_strides[1] + (first + x) * a_strides[2]]
        if column < out_shape[2] and first + y < inner:
            right[y, x] = b_storage[b_start + (first + y) * b_strides[1] + column * b_strides[2]]
        cuda.syncthreads()
        for k in range(min(BLOCK_DIM, inner - first)):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    if row < out_shape[1] and column < out_shape[2]:
        out[z * out_strides[0] + row * out_strides[1] + column * out_strides[2]] = total
