"""The index arrays are made once, before the parallel loop, and shared by all threads."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        if (
            len(out_shape) == len(in_shape)
            and (out_shape == in_shape).all()
            and (out_strides == in_strides).all()
        ):
            for i in prange(len(out)):
                out[i] = fn(in_storage[i])
        else:
            out_index = np.empty(len(out_shape), dtype=np.int32)
            in_index = np.empty(len(in_shape), dtype=np.int32)
            for i in prange(len(out)):
                to_index(i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return njit(parallel=True)(_map)
