"""The first element is fetched before the loop, which an empty axis does not have."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        index = np.zeros(len(out_shape), dtype=np.int32)
        for i in range(len(out)):
            to_index(i, out_shape, index)
            position = index_to_position(index, out_strides)
            result = fn(out[position], a_storage[index_to_position(index, a_strides)])
            for s in range(1, a_shape[reduce_dim]):
                index[reduce_dim] = s
                result = fn(result, a_storage[index_to_position(index, a_strides)])
            out[position] = result

    return _reduce
