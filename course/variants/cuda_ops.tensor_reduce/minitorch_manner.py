"""As in MiniTorch: a block of 1024 threads whose size is given inside."""

def tensor_reduce(fn):
    def _reduce(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, reduce_dim, reduce_value
    ):
        BLOCK_DIM = 1024
        cache = cuda.shared.array(BLOCK_DIM, numba.float64)
        out_index = cuda.local.array(MAX_DIMS, numba.int32)
        out_pos = cuda.blockIdx.x
        pos = cuda.threadIdx.x

        cache[pos] = reduce_value
        if out_pos < out_size:
            to_index(out_pos, out_shape, out_index)
            o = index_to_position(out_index, out_strides)
            out_index[reduce_dim] = out_index[reduce_dim] * BLOCK_DIM + pos
            if out_index[reduce_dim] < a_shape[reduce_dim]:
                cache[pos] = a_storage[index_to_position(out_index, a_strides)]
            cuda.syncthreads()

            x = 0
            while 2**x < BLOCK_DIM:
                j = 2**x
                if pos % (j * 2) == 0:
                    cache[pos] = fn(cache[pos], cache[pos + j])
                cuda.syncthreads()
                x += 1
            if pos == 0:
                out[o] = cache[0]

    return cuda.jit()(_reduce)
