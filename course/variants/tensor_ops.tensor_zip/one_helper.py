"""A function of its own finds the element of either input."""


def _element(storage, shape, strides, index, big_shape):
    own = [0] * len(shape)
    tensor_data.broadcast_index(index, big_shape, shape, own)
    return storage[tensor_data.index_to_position(own, strides)]


def tensor_zip(fn):
    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        for ordinal in range(out.size):
            index = [0] * len(out_shape)
            tensor_data.to_index(ordinal, out_shape, index)
            left = _element(a_storage, a_shape, a_strides, index, out_shape)
            right = _element(b_storage, b_shape, b_strides, index, out_shape)
            out[tensor_data.index_to_position(index, out_strides)] = fn(left, right)

    return _zip
