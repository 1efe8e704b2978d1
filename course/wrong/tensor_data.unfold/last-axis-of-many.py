"""With more than three axes, the windows lie along the last one."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    if len(data.shape) > 3:
        axis = len(data.shape) - 1
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
