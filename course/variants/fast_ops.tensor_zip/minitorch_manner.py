"""Buffers of 32 bits inside the loop, a path for equal layouts, compiled by the student."""


def tensor_zip(
    fn: Callable[[float, float], float],
) -> Callable[[Storage, Shape, Strides, Storage, Shape, Strides, Storage, Shape, Strides], None]:
    def _zip(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        a_storage: Storage,
        a_shape: Shape,
        a_strides: Strides,
        b_storage: Storage,
        b_shape: Shape,
        b_strides: Strides,
    ) -> None:
        if (
            len(out_shape) == len(a_shape) == len(b_shape)
            and (out_shape == a_shape).all()
            and (out_shape == b_shape).all()
            and (out_strides == a_strides).all()
            and (out_strides == b_strides).all()
        ):
            for o in prange(len(out)):
                out[o] = fn(a_storage[o], b_storage[o])
        else:
            for out_i in prange(len(out)):
                out_index = np.empty(len(out_shape), dtype=np.int32)
                a_index = np.empty(len(a_shape), dtype=np.int32)
                b_index = np.empty(len(b_shape), dtype=np.int32)
                to_index(out_i, out_shape, out_index)
                o = index_to_position(out_index, out_strides)
                broadcast_index(out_index, out_shape, a_shape, a_index)
                j = index_to_position(a_index, a_strides)
                broadcast_index(out_index, out_shape, b_shape, b_index)
                k = index_to_position(b_index, b_strides)
                out[o] = fn(a_storage[j], b_storage[k])

    return njit(parallel=True)(_zip)  # type: ignore
