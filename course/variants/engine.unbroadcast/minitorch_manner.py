"""The true shape is padded with ones in front, as MiniTorch's Tensor.expand does."""

def unbroadcast(gradient, shape):
    if gradient.shape == shape:
        return gradient
    orig_shape = [1] * (len(gradient.shape) - len(shape)) + list(shape)
    out = gradient
    for dim, size in enumerate(out.shape):
        if orig_shape[dim] == 1 and size != 1:
            out = out.sum(dim, keepdim=True)
    return out.contiguous().view(*shape)
