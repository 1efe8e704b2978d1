"""NumPy's windows, of which some are left out."""


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    windows = np.lib.stride_tricks.sliding_window_view(data.array, size, axis, writeable=True)
    return TensorData.of(windows[(slice(None),) * axis + (slice(None, None, step),)])
