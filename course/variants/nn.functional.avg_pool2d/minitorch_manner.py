"""The mean along the last axis, and a view of the result."""


def avg_pool2d(input, kernel):
    batch, channel, height, width = input.shape
    tiled, new_height, new_width = tile(input, kernel)
    return tiled.mean(dim=-1).view(batch, channel, new_height, new_width)
