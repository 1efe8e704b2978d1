"""The loop goes on to the end of the index, which may be a buffer with more room."""

def index_to_position(index, strides):
    position = 0
    for axis in range(len(index)):
        position += index[axis] * strides[axis]
    return position
