"""The whole storage is used from its first element on."""

def permute(data, *order):
    shape = tuple(data.shape[axis] for axis in order)
    strides = tuple(data.strides[axis] for axis in order)
    return TensorData(data.storage, shape, strides)
