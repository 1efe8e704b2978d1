"""The first axis comes before the loop, even where there is no axis."""

def index_to_position(index, strides):
    position = index[0] * strides[0]
    for axis in range(1, len(strides)):
        position += index[axis] * strides[axis]
    return position
