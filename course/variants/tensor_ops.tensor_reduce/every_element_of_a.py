"""One loop over the elements of a: each is folded into its place."""


def tensor_reduce(fn):
    def _reduce(out, out_shape, out_strides, a_storage, a_shape, a_strides, reduce_dim):
        size = 1
        for n in a_shape:
            size *= int(n)
        index = [0] * len(a_shape)
        for ordinal in range(size):
            to_index(ordinal, a_shape, index)
            element = a_storage[index_to_position(index, a_strides)]
            index[reduce_dim] = 0
            place = index_to_position(index, out_strides)
            out[place] = fn(out[place], element)

    return _reduce
