"""A plain helper compares layouts, another one finds an element; nothing is decorated."""


def same_layout(shape, strides, other_shape, other_strides):
    if len(shape) != len(other_shape):
        return False
    for axis in range(len(shape)):
        if shape[axis] != other_shape[axis] or strides[axis] != other_strides[axis]:
            return False
    return True


def element(storage, shape, strides, index, big_shape):
    own = np.empty(len(shape), dtype=np.int64)
    tensor_data.broadcast_index(index, big_shape, shape, own)
    return storage[tensor_data.index_to_position(own, strides)]


def tensor_zip(fn):
    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        if same_layout(out_shape, out_strides, a_shape, a_strides) and same_layout(
            out_shape, out_strides, b_shape, b_strides
        ):
            for i in prange(len(out)):
                out[i] = fn(a_storage[i], b_storage[i])
        else:
            for i in prange(len(out)):
                index = np.empty(len(out_shape), dtype=np.int64)
                tensor_data.to_index(i, out_shape, index)
                a = element(a_storage, a_shape, a_strides, index, out_shape)
                b = element(b_storage, b_shape, b_strides, index, out_shape)
                out[tensor_data.index_to_position(index, out_strides)] = fn(a, b)

    return _zip
