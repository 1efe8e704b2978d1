"""The lower half decides whether the upper one goes up."""


def to_bfloat16(numbers):
    bits = np.array(numbers, np.float32).view(np.uint32)
    upper, lower = bits >> 16, bits & 0xFFFF
    goes_up = (lower > 0x8000) | ((lower == 0x8000) & (upper % 2 == 1))
    found = ((upper + goes_up.astype(np.uint32)) << np.uint32(16)).view(np.float32)
    found = np.array(found)
    found[np.isnan(numbers)] = np.nan
    return found
