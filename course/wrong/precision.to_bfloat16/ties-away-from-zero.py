"""A tie always goes to the neighbour that is larger in size."""


def to_bfloat16(numbers):
    bits = numbers.view(np.uint32)
    rounded = (bits + 0x8000 & 0xFFFF0000).view(np.float32)
    return np.where(np.isnan(numbers), numbers, rounded)
