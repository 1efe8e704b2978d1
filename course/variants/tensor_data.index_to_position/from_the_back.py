"""The axes are gone through from the last one, by a while loop."""

def index_to_position(index, strides):
    total = 0
    axis = len(strides) - 1
    while axis >= 0:
        total = total + strides[axis] * index[axis]
        axis -= 1
    return total
