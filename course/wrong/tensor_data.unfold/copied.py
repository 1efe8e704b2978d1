"""The windows are copied."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    starts = range(0, data.shape[axis] - size + 1, step)
    taken = [np.moveaxis(data.array.take(range(start, start + size), axis), axis, -1) for start in starts]
    return TensorData.of(np.stack(taken, axis))
