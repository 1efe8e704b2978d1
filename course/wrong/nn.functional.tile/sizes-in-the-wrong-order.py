"""The number of tiles to the right comes first."""


def tile(input, kernel):
    batch, channels, height, width = input.shape
    kh, kw = kernel
    rows, columns = height // kh, width // kw
    x = input.contiguous().view(batch, channels, rows, kh, columns, kw)
    return x.permute(0, 1, 2, 4, 3, 5).contiguous().view(batch, channels, rows, columns, kh * kw), columns, rows
