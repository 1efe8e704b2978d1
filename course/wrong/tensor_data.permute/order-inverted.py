"""Axis i goes to place order[i], instead of coming from there."""

def permute(data, *order):
    shape, strides = [0] * len(order), [0] * len(order)
    for axis, place in enumerate(order):
        shape[place] = data.shape[axis]
        strides[place] = data.strides[axis]
    return TensorData(data.storage, shape, strides, data.offset)
