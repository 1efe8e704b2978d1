"""The last whole window is not counted."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size - 1) // step + 1 if data.shape[axis] > size else 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
