"""The number of an element is taken for its position in the input, where the shapes agree."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        out_index = np.zeros(len(out_shape), dtype=np.int32)
        in_index = np.zeros(len(in_shape), dtype=np.int32)
        same = list(out_shape) == list(in_shape)
        for i in range(len(out)):
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            in_position = i if same else index_to_position(in_index, in_strides)
            out[index_to_position(out_index, out_strides)] = fn(in_storage[in_position])

    return _map
