"""The first thread of a block folds all elements straight from global memory."""

def tensor_reduce(fn):
    def _reduce(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, reduce_dim, reduce_value
    ):
        index = cuda.local.array(MAX_DIMS, numba.int32)
        o = cuda.blockIdx.x
        if o < out_size and cuda.threadIdx.x == 0:
            to_index(o, out_shape, index)
            place = index_to_position(index, out_strides)
            first = index[reduce_dim] * BLOCK_DIM
            total = reduce_value
            for k in range(first, min(first + BLOCK_DIM, a_shape[reduce_dim])):
                index[reduce_dim] = k
                total = fn(total, a_storage[index_to_position(index, a_strides)])
            out[place] = total

    return _reduce
