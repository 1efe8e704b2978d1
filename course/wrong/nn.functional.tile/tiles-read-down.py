"""The axes inside a tile change places: a tile is read column by column."""


def tile(input, kernel):
    batch, channels, height, width = input.shape
    kh, kw = kernel
    rows, columns = height // kh, width // kw
    x = input.contiguous().view(batch, channels, rows, kh, columns, kw)
    return x.permute(0, 1, 2, 4, 5, 3).contiguous().view(batch, channels, rows, columns, kh * kw), rows, columns
