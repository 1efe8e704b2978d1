"""The first element is fetched before the loop, which an empty axis does not have."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        for i in prange(len(out)):
            index = np.empty(len(out_shape), dtype=np.int32)
            to_index(i, out_shape, index)
            position = index_to_position(index, out_strides)
            start = index_to_position(index, a_strides)
            result = fn(out[position], a_storage[start])
            for s in range(1, a_shape[reduce_dim]):
                result = fn(result, a_storage[start + s * a_strides[reduce_dim]])
            out[position] = result

    return njit(parallel=True)(_reduce)
