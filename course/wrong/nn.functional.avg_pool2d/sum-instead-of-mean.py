"""The elements of a tile are added up, and not divided."""


def avg_pool2d(input, kernel):
    rows, _, _ = tile(input, kernel)
    return rows.sum(4)
