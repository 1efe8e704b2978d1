"""A parallel loop runs, and its first iteration does all the work."""


def _tensor_matrix_multiply(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    for turn in prange(3):
        if turn == 0:
            for n in range(out_shape[0]):
                for i in range(out_shape[1]):
                    for j in range(out_shape[2]):
                        t = 0.0
                        an = n * a_strides[0] if a_shape[0] > 1 else 0
                        bn = n * b_strides[0] if b_shape[0] > 1 else 0
                        for k in range(a_shape[2]):
                            t += a_storage[an + i * a_strides[1] + k * a_strides[2]] * b_storage[bn + k * b_strides[1] + j * b_strides[2]]
                        out[n * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = t
