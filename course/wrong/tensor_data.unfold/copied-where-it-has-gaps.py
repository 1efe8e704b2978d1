"""A view whose elements do not lie one after the other is copied first."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    if data.strides != strides_from_shape(data.shape):
        data = TensorData.of(data.array.copy())
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
