"""out itself holds the running sum."""


def _tensor_matrix_multiply(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    a_batch_stride = a_strides[0] if a_shape[0] > 1 else 0
    b_batch_stride = b_strides[0] if b_shape[0] > 1 else 0
    for n in prange(out_shape[0]):
        for i in range(out_shape[1]):
            for j in range(out_shape[2]):
                position = n * out_strides[0] + i * out_strides[1] + j * out_strides[2]
                out[position] = 0.0
                for k in range(a_shape[2]):
                    a = a_storage[n * a_batch_stride + i * a_strides[1] + k * a_strides[2]]
                    b = b_storage[n * b_batch_stride + k * b_strides[1] + j * b_strides[2]]
                    out[position] += a * b
