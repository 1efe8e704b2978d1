"""With steps, some elements are left out, and the others copied."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = data.strides[axis] * step
    view = TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
    return view if step == 1 else TensorData.of(view.array.copy())
