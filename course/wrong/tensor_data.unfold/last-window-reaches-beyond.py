"""The number of windows is rounded up: the last one ends behind the axis."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = -((size - data.shape[axis]) // step) + 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
