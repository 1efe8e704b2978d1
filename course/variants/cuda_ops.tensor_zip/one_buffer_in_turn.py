"""One buffer is used for a, then for b."""

def tensor_zip(fn):
    @cuda.jit
    def _zip(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
    ):
        index = cuda.local.array(MAX_DIMS, numba.int32)
        other = cuda.local.array(MAX_DIMS, numba.int32)
        i = cuda.grid(1)
        if i >= out_size:
            return
        to_index(i, out_shape, index)
        broadcast_index(index, out_shape, a_shape, other)
        x = a_storage[index_to_position(other, a_strides)]
        broadcast_index(index, out_shape, b_shape, other)
        y = b_storage[index_to_position(other, b_strides)]
        out[index_to_position(index, out_strides)] = fn(x, y)

    return _zip
