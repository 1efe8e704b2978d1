"""One product is a helper of its own, without a decorator."""

def times(a, b):
    return a * b

def index_to_position(index: Index, strides: Strides) -> int:
    total = 0
    for axis, stride in enumerate(strides):
        total = total + times(index[axis], stride)
    return total
