"""The position in a moves by one stride at a time; fn is compiled by hand."""


def tensor_reduce(fn):
    compiled = njit(fn)

    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        step, count = a_strides[reduce_dim], a_shape[reduce_dim]
        for i in prange(out.size):
            index = np.zeros(len(a_shape), dtype=np.int64)
            to_index(i, out_shape, index)
            place = index_to_position(index, out_strides)
            here = index_to_position(index, a_strides)
            result = out[place]
            for _ in range(count):
                result = compiled(result, a_storage[here])
                here += step
            out[place] = result

    return _reduce
