"""The shapes are aligned at their first axes."""


def tensor_zip(fn):
    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        def aligned(index, shape):
            return [0 if size == 1 else index[axis] for axis, size in enumerate(shape)]

        out_index = np.zeros(len(out_shape), dtype=np.int32)
        for i in range(len(out)):
            to_index(i, out_shape, out_index)
            a = a_storage[index_to_position(aligned(out_index, a_shape), a_strides)]
            b = b_storage[index_to_position(aligned(out_index, b_shape), b_strides)]
            out[index_to_position(out_index, out_strides)] = fn(a, b)

    return _zip
