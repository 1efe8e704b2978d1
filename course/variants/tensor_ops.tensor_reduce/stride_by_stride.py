"""The position in a moves by one stride, and the result is kept in a variable."""


import functools


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        step, count = int(a_strides[reduce_dim]), int(a_shape[reduce_dim])
        index = np.zeros(len(out_shape), dtype=np.int64)
        for ordinal in range(len(out)):
            to_index(ordinal, out_shape, index)
            first = int(index_to_position(index, a_strides))
            place = index_to_position(index, out_strides)
            elements = [a_storage[first + k * step] for k in range(count)]
            out[place] = functools.reduce(fn, elements, out[place])

    return _reduce
