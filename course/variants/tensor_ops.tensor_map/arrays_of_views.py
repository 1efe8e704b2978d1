"""NumPy looks at the storages with the given strides; np.ndindex counts."""


def _view(storage, shape, strides):
    step = storage.itemsize
    return np.lib.stride_tricks.as_strided(storage, tuple(shape), tuple(int(s) * step for s in strides))


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        if len(out) == 0:
            return
        target = _view(out, out_shape, out_strides)
        source = np.broadcast_to(_view(in_storage, in_shape, in_strides), tuple(out_shape))
        for index in np.ndindex(*target.shape):
            target[index] = fn(source[index])

    return _map
