"""Two nested loops stand for all axes."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        if len(out_shape) == 2:
            for i in range(out_shape[0]):
                for j in range(out_shape[1]):
                    in_index = np.zeros(len(in_shape), dtype=np.int32)
                    broadcast_index(np.array([i, j]), out_shape, in_shape, in_index)
                    out_position = i * out_strides[0] + j * out_strides[1]
                    out[out_position] = fn(in_storage[index_to_position(in_index, in_strides)])
        else:
            for i in range(len(out)):
                out[i] = fn(in_storage[i % len(in_storage)])

    return _map
