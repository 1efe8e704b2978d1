"""Where an input is broadcast, the index arrays are made before the parallel loop, and shared by all threads."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        if len(out_shape) == len(in_shape) and (out_shape == in_shape).all() and (out_strides == in_strides).all():
            for i in prange(len(out)):
                out[i] = fn(in_storage[i])
        elif len(out_shape) == len(in_shape) and (out_shape == in_shape).all():
            for ordinal in prange(len(out)):
                index = np.empty(len(out_shape), dtype=np.int64)
                to_index(ordinal, out_shape, index)
                out[index_to_position(index, out_strides)] = fn(in_storage[index_to_position(index, in_strides)])
        else:
            out_index = np.empty(len(out_shape), dtype=np.int64)
            in_index = np.empty(len(in_shape), dtype=np.int64)
            for ordinal in prange(len(out)):
                to_index(ordinal, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])
    return _map
