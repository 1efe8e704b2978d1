"""No index arrays at all: both positions are added up while the number of the element is divided."""


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        extra = len(out_shape) - len(in_shape)
        same = extra == 0 and np.array_equal(out_shape, in_shape) and np.array_equal(out_strides, in_strides)
        if same:
            for i in prange(len(out)):
                out[i] = fn(in_storage[i])
        else:
            for i in prange(len(out)):
                rest, target, source = i + 0, 0, 0  # numba takes a plain copy for the loop's variable itself
                for axis in range(len(out_shape) - 1, -1, -1):
                    place = rest % out_shape[axis]
                    rest = rest // out_shape[axis]
                    target += place * out_strides[axis]
                    if axis >= extra and in_shape[axis - extra] != 1:
                        source += place * in_strides[axis - extra]
                out[target] = fn(in_storage[source])

    return _map
