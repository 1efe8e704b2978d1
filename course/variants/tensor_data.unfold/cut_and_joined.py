"""Shape and strides are put together of their parts."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    n, stride = data.shape[axis], data.strides[axis]
    fitting = 1 + (n - size) // step
    shape = data.shape[:axis] + (fitting,) + data.shape[axis + 1 :] + (size,)
    strides = data.strides[:axis] + (stride * step,) + data.strides[axis + 1 :] + (stride,)
    return TensorData(data.storage, shape, strides, offset=data.offset)
