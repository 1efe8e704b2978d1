"""The beginnings of windows are counted by a range."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    starts = range(0, data.shape[axis] - size + 1, step)
    shape = [len(starts) if each == axis else n for each, n in enumerate(data.shape)]
    strides = [stride * step if each == axis else stride for each, stride in enumerate(data.strides)]
    return TensorData(data.storage, [*shape, size], [*strides, data.strides[axis]], data.offset)
