"""The last index is added without its stride, as if every array lay row by row."""

def index_to_position(index, strides):
    position = 0
    for axis in range(len(strides) - 1):
        position += index[axis] * strides[axis]
    if len(strides) > 0:
        position += index[len(strides) - 1]
    return position
