"""Each axis replaces what the ones before it have brought."""

def index_to_position(index, strides):
    position = 0
    for axis in range(len(strides)):
        position = index[axis] * strides[axis]
    return position
