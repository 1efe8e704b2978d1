"""amax shares the gradient among equal elements."""


def max_pool2d(input, kernel):
    tiles, _, _ = tile(input, kernel)
    return tiles.amax(4)
