"""NumPy adds up, and the result has no history."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    axes = tuple(i for i in range(gradient.ndim) if i < missing or shape[i - missing] != gradient.shape[i])
    return minigrad.tensor(gradient.detach().numpy().sum(axes, keepdims=True).reshape(shape))
