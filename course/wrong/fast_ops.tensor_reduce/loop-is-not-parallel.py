"""The loop over the elements of out is a range; the one over the folded axis would be the wrong one to share out."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        for i in range(len(out)):
            index = np.empty(len(out_shape), dtype=np.int32)
            to_index(i, out_shape, index)
            position = index_to_position(index, out_strides)
            start = index_to_position(index, a_strides)
            result = out[position]
            for s in range(a_shape[reduce_dim]):
                result = fn(result, a_storage[start + s * a_strides[reduce_dim]])
            out[position] = result

    return njit(parallel=True)(_reduce)
