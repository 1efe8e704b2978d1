"""The tensor's own max, of which the values count."""


def max_pool2d(input, kernel):
    batch, channel, _, _ = input.shape
    tiled, new_height, new_width = tile(input, kernel)
    return tiled.max(dim=4)[0].view(batch, channel, new_height, new_width)
