"""Each thread adds up its own products, straight from global memory."""

def _tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    z = cuda.blockIdx.z
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    a_stack = a_strides[0] if a_shape[0] > 1 else 0
    b_stack = b_strides[0] if b_shape[0] > 1 else 0
    if i < out_shape[1] and j < out_shape[2]:
        total = 0.0
        for k in range(a_shape[2]):
            left = a_storage[z * a_stack + i * a_strides[1] + k * a_strides[2]]
            total += left * b_storage[z * b_stack + k * b_strides[1] + j * b_strides[2]]
        out[z * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = total
