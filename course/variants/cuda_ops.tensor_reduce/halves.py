"""The upper half is folded onto the lower half; the block leaves early as a whole."""

def tensor_reduce(fn):
    size = BLOCK_DIM

    @cuda.jit
    def _reduce(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, reduce_dim, reduce_value
    ):
        o = cuda.blockIdx.x
        if o >= out_size:
            return
        t = cuda.threadIdx.x
        cache = cuda.shared.array(size, numba.float64)
        here = cuda.local.array(MAX_DIMS, numba.int32)
        to_index(o, out_shape, here)
        place = index_to_position(here, out_strides)
        k = here[reduce_dim] * size + t
        value = reduce_value
        if k < a_shape[reduce_dim]:
            here[reduce_dim] = k
            value = a_storage[index_to_position(here, a_strides)]
        cache[t] = value
        cuda.syncthreads()
        half = size // 2
        while half > 0:
            if t < half:
                cache[t] = fn(cache[t], cache[t + half])
            cuda.syncthreads()
            half = half // 2
        if t == 0:
            out[place] = cache[0]

    return _reduce
