"""Indices by hand, with the number of axes from the arrays that shapes are."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, out_size, in_storage, in_shape, in_strides):
        i = cuda.grid(1)
        if i < out_size:
            rest, place, from_place = i + 0, 0, 0
            for axis in range(out_shape.shape[0] - 1, -1, -1):
                index = rest % out_shape[axis]
                rest = rest // out_shape[axis]
                place += index * out_strides[axis]
                own = axis - (out_shape.size - in_shape.size)
                if own >= 0 and in_shape[own] > 1:
                    from_place += index * in_strides[own]
            out[place] = fn(in_storage[from_place])

    return _map
