"""The array itself gets the windows, and is returned with them."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    stride = data.strides[axis]
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = stride * step
    view = TensorData(data.storage, (*shape, size), (*strides, stride), data.offset)
    data.shape, data.strides = tuple(shape), tuple(strides)
    return view
