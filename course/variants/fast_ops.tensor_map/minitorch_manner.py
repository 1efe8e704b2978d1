"""Buffers of 32 bits inside the loop, a path for equal layouts, compiled by the student."""


def tensor_map(
    fn: Callable[[float], float],
) -> Callable[[Storage, Shape, Strides, Storage, Shape, Strides], None]:
    def _map(
        out: Storage,
        out_shape: Shape,
        out_strides: Strides,
        in_storage: Storage,
        in_shape: Shape,
        in_strides: Strides,
    ) -> None:
        if (
            len(out_shape) == len(in_shape)
            and (out_shape == in_shape).all()
            and (out_strides == in_strides).all()
        ):
            for o in prange(len(out)):
                out[o] = fn(in_storage[o])
        else:
            for out_i in prange(len(out)):
                out_index = np.empty(len(out_shape), dtype=np.int32)
                in_index = np.empty(len(in_shape), dtype=np.int32)
                to_index(out_i, out_shape, out_index)
                broadcast_index(out_index, out_shape, in_shape, in_index)
                o = index_to_position(out_index, out_strides)
                j = index_to_position(in_index, in_strides)
                out[o] = fn(in_storage[j])

    return njit(parallel=True)(_map)  # type: ignore
