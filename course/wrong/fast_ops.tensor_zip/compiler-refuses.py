"""fn gets its numbers from a generator, which compiled code does not have here."""


def tensor_zip(fn):
    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        if (
            len(out_shape) == len(a_shape)
            and len(out_shape) == len(b_shape)
            and (out_shape == a_shape).all()
            and (out_shape == b_shape).all()
            and (out_strides == a_strides).all()
            and (out_strides == b_strides).all()
        ):
            for i in prange(len(out)):
                out[i] = fn(a_storage[i], b_storage[i])
        else:
            for i in prange(len(out)):
                out_index = np.empty(len(out_shape), dtype=np.int32)
                a_index = np.empty(len(a_shape), dtype=np.int32)
                b_index = np.empty(len(b_shape), dtype=np.int32)
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, a_shape, a_index)
                broadcast_index(out_index, out_shape, b_shape, b_index)
                a = a_storage[sum(i * stride for i, stride in zip(a_index, a_strides))]
                b = b_storage[sum(i * stride for i, stride in zip(b_index, b_strides))]
                out[index_to_position(out_index, out_strides)] = fn(a, b)

    return njit(parallel=True)(_zip)
