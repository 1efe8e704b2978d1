"""One loop over all elements of out, whose index to_index finds."""


def _tensor_matrix_multiply(
    out: Storage,
    out_shape: Shape,
    out_strides: Strides,
    a_storage: Storage,
    a_shape: Shape,
    a_strides: Strides,
    b_storage: Storage,
    b_shape: Shape,
    b_strides: Strides,
) -> None:
    a_batch_stride = a_strides[0] if a_shape[0] > 1 else 0
    b_batch_stride = b_strides[0] if b_shape[0] > 1 else 0
    for out_i in prange(len(out)):
        out_index = np.empty(3, dtype=np.int32)
        to_index(out_i, out_shape, out_index)
        o = index_to_position(out_index, out_strides)
        a_start = out_index[0] * a_batch_stride + out_index[1] * a_strides[1]
        b_start = out_index[0] * b_batch_stride + out_index[2] * b_strides[2]
        total = 0.0
        for k in range(a_shape[-1]):
            total += a_storage[a_start + k * a_strides[2]] * b_storage[b_start + k * b_strides[1]]
        out[o] = total
