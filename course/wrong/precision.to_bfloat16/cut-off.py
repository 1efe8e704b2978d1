"""The last 16 bits are cut off."""


def to_bfloat16(numbers):
    bits = numbers.view(np.uint32)
    rounded = (bits & 0xFFFF0000).view(np.float32)
    return np.where(np.isnan(numbers), numbers, rounded)
