"""The first axis is walked, then the rest: a number without axes has none."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        rest = 1
        for size in out_shape[1:]:
            rest *= size
        out_index = np.zeros(len(out_shape), dtype=np.int32)
        in_index = np.zeros(len(in_shape), dtype=np.int32)
        for row in range(out_shape[0]):
            for i in range(rest):
                to_index(row * rest + i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                out[index_to_position(out_index, out_strides)] = fn(in_storage[index_to_position(in_index, in_strides)])

    return _map
