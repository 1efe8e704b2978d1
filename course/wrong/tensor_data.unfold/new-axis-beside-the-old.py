"""The axis that runs through a window stands behind the one that counts windows."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    count = (data.shape[axis] - size) // step + 1
    stride = data.strides[axis]
    shape = (*data.shape[:axis], count, size, *data.shape[axis + 1 :])
    strides = (*data.strides[:axis], stride * step, stride, *data.strides[axis + 1 :])
    return TensorData(data.storage, shape, strides, data.offset)
