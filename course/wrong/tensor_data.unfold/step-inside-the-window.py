"""The step is taken inside of a window, too."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis] * step), data.offset)
