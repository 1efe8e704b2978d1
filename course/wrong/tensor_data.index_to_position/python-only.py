"""A generator inside sum(), which Numba does not compile."""

def index_to_position(index, strides):
    return sum(i * stride for i, stride in zip(index, strides))
