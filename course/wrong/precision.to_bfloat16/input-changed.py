"""The bits are changed in the array that was given."""


def to_bfloat16(numbers):
    missing = np.isnan(numbers)
    bits = numbers.view(np.uint32)
    bits += np.uint32(0x7FFF) + (bits >> 16 & 1)
    bits &= np.uint32(0xFFFF0000)
    return np.where(missing, np.float32(np.nan), bits.view(np.float32))
