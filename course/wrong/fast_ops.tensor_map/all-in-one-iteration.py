"""A parallel loop runs, and its first iteration does all the work."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        for turn in prange(2):
            if turn == 0:
                shape = np.array(out_shape)
                strides = np.array(out_strides)
                ishape = np.array(in_shape)
                istrides = np.array(in_strides)
                out_index = np.empty(len(shape), dtype=np.int64)
                in_index = np.empty(len(ishape), dtype=np.int64)
                for ordinal in range(len(out)):
                    to_index(ordinal, shape, out_index)
                    broadcast_index(out_index, shape, ishape, in_index)
                    p = index_to_position(out_index, strides)
                    out[p] = fn(in_storage[index_to_position(in_index, istrides)])
    return _map
