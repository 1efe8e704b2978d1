"""The index in the input is the end of the index in the output, also along axes of size 1."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        out_index = np.zeros(len(out_shape), dtype=np.int32)
        extra = len(out_shape) - len(in_shape)
        for i in range(len(out)):
            to_index(i, out_shape, out_index)
            in_position = index_to_position(out_index[extra:], in_strides)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[in_position])

    return _map
