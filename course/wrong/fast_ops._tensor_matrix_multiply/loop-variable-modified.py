"""Row and batch are divided out of the loop's own variable."""


def _tensor_matrix_multiply(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    a_batch_stride = a_strides[0] if a_shape[0] > 1 else 0
    b_batch_stride = b_strides[0] if b_shape[0] > 1 else 0
    for place in prange(len(out)):
        j = place % out_shape[2]
        place = place // out_shape[2]
        i = place % out_shape[1]
        n = place // out_shape[1]
        total = 0.0
        for k in range(a_shape[2]):
            a = a_storage[n * a_batch_stride + i * a_strides[1] + k * a_strides[2]]
            b = b_storage[n * b_batch_stride + k * b_strides[1] + j * b_strides[2]]
            total += a * b
        out[n * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = total
