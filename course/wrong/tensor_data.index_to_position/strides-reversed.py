"""The last index is multiplied by the first stride."""

def index_to_position(index, strides):
    position = 0
    for axis in range(len(strides)):
        position += index[axis] * strides[len(strides) - 1 - axis]
    return position
