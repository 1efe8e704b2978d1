"""The first element is the start, whatever out holds."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        index = np.zeros(len(out_shape), dtype=np.int32)
        for i in range(len(out)):
            to_index(i, out_shape, index)
            position = index_to_position(index, out_strides)
            for s in range(a_shape[reduce_dim]):
                index[reduce_dim] = s
                element = a_storage[index_to_position(index, a_strides)]
                out[position] = element if s == 0 else fn(out[position], element)

    return _reduce
