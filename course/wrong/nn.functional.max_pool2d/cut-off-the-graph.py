"""The maximum is computed without history."""


def max_pool2d(input, kernel):
    tiles, _, _ = tile(input.detach(), kernel)
    return tensor_functions.Max.apply(tiles, dim=4)
