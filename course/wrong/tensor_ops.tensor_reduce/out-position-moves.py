"""The position in out is computed from an index that has moved along the folded axis."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        index = np.zeros(len(out_shape), dtype=np.int32)
        for i in range(len(out)):
            to_index(i, out_shape, index)
            for s in range(a_shape[reduce_dim]):
                index[reduce_dim] = s
                position = index_to_position(index, out_strides)
                out[position] = fn(out[position], a_storage[index_to_position(index, a_strides)])

    return _reduce
