"""Strides are made from the shape, as if the array lay row by row."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    shape, strides = list(data.shape), list(strides_from_shape(data.shape))
    inner = strides[axis]
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = inner * step
    return TensorData(data.storage, (*shape, size), (*strides, inner), data.offset)
