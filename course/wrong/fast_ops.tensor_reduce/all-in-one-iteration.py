"""A parallel loop runs, and its first iteration does all the work."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        for turn in prange(len(out)):
            if turn == 0:
                index = np.empty(len(out_shape), dtype=np.int64)
                for ordinal in range(len(out)):
                    to_index(ordinal, out_shape, index)
                    p = index_to_position(index, out_strides)
                    q = index_to_position(index, a_strides)
                    for j in range(a_shape[reduce_dim]):
                        out[p] = fn(out[p], a_storage[q + j * a_strides[reduce_dim]])
    return _reduce
