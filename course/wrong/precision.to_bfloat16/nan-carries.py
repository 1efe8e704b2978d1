"""Nothing is done for nan, whose bits may carry into the sign."""


def to_bfloat16(numbers):
    bits = numbers.view(np.uint32)
    half = np.uint32(0x7FFF) + (bits >> 16 & 1)
    return (bits + half & 0xFFFF0000).view(np.float32)
