"""NumPy does the work, and the result has no history."""


def tile(input, kernel):
    x = input.detach().numpy()
    batch, channels, height, width = x.shape
    kh, kw = kernel
    rows, columns = height // kh, width // kw
    x = x.reshape(batch, channels, rows, kh, columns, kw).transpose(0, 1, 2, 4, 3, 5)
    return minigrad.tensor(x.reshape(batch, channels, rows, columns, kh * kw)), rows, columns
