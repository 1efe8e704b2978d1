"""The sum is written out for rows and columns."""

def index_to_position(index, strides):
    if len(strides) == 0:
        return 0
    if len(strides) == 1:
        return index[0] * strides[0]
    return index[0] * strides[0] + index[1] * strides[1]
