"""The helpers and fn are compiled by hand, as in MiniTorch's own module."""


to_index = njit(inline="always")(to_index)
index_to_position = njit(inline="always")(index_to_position)
broadcast_index = njit(inline="always")(broadcast_index)


def tensor_map(fn):
    fn = njit()(fn)

    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        aligned = len(out_shape) == len(in_shape)
        if aligned:
            for axis in range(len(out_shape)):
                if out_shape[axis] != in_shape[axis] or out_strides[axis] != in_strides[axis]:
                    aligned = False
        if aligned:
            for i in prange(out.size):
                out[i] = fn(in_storage[i])
            return
        for i in prange(out.size):
            out_index = np.zeros(len(out_shape), np.int32)
            in_index = np.zeros(len(in_shape), np.int32)
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return njit(parallel=True)(_map)
