"""Where an input is broadcast, the index arrays are made before the parallel loop, and shared by all threads."""


def tensor_zip(fn):
    def _zip(out, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
        same = len(out_shape) == len(a_shape) and len(out_shape) == len(b_shape) and (out_shape == a_shape).all() and (out_shape == b_shape).all()
        if same and (out_strides == a_strides).all() and (out_strides == b_strides).all():
            for i in prange(len(out)):
                out[i] = fn(a_storage[i], b_storage[i])
        elif same:
            for o in prange(len(out)):
                ix = np.empty(len(out_shape), dtype=np.int64)
                to_index(o, out_shape, ix)
                out[index_to_position(ix, out_strides)] = fn(a_storage[index_to_position(ix, a_strides)], b_storage[index_to_position(ix, b_strides)])
        else:
            ix = np.empty(len(out_shape), dtype=np.int64)
            ai = np.empty(len(a_shape), dtype=np.int64)
            bi = np.empty(len(b_shape), dtype=np.int64)
            for o in prange(len(out)):
                to_index(o, out_shape, ix)
                broadcast_index(ix, out_shape, a_shape, ai)
                broadcast_index(ix, out_shape, b_shape, bi)
                out[index_to_position(ix, out_strides)] = fn(a_storage[index_to_position(ai, a_strides)], b_storage[index_to_position(bi, b_strides)])
    return _zip
