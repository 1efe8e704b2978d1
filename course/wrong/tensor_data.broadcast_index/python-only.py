"""A generator fills the buffer in one go, which Numba does not compile."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    out_index[: len(shape)] = tuple(0 if size == 1 else i for i, size in zip(big_index[extra:], shape))
