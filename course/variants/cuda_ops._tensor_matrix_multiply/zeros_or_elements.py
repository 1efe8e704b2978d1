"""Tiles are filled by conditional expressions; the position is moved along k."""

@cuda.jit
def _tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    left = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    right = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float64)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    row, column, z = cuda.blockIdx.y * BLOCK_DIM + y, cuda.blockIdx.x * BLOCK_DIM + x, cuda.blockIdx.z
    n, m, depth = out_shape[1], out_shape[2], a_shape[2]
    p = (z % a_shape[0]) * a_strides[0] + row * a_strides[1] + x * a_strides[2]
    q = (z % b_shape[0]) * b_strides[0] + y * b_strides[1] + column * b_strides[2]
    total = 0.0
    done = 0
    while done < depth:
        left[y, x] = a_storage[p] if row < n and done + x < depth else 0.0
        right[y, x] = b_storage[q] if done + y < depth and column < m else 0.0
        cuda.syncthreads()
        for k in range(min(BLOCK_DIM, depth - done)):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
        done += BLOCK_DIM
        p += BLOCK_DIM * a_strides[2]
        q += BLOCK_DIM * b_strides[1]
    if row < n and column < m:
        out[z * out_strides[0] + row * out_strides[1] + column * out_strides[2]] = total
