"""The mean is computed without history."""


def avg_pool2d(input, kernel):
    rows, _, _ = tile(input.detach(), kernel)
    return rows.mean(4)
