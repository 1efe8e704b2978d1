"""No number lies halfway between two neighbours."""


def is_rounding(rounded):
    upper = np.arange(2**16, dtype=np.uint32) << 16
    numbers = np.concatenate([upper + np.uint32(each) for each in [0, 1, 0x7FFF, 0x8001, 0xFFFF]]).view(np.float32)
    before = numbers.copy()
    wanted = to_bfloat16(before)
    found = rounded(numbers)
    return np.array_equal(found, wanted, equal_nan=True) and np.array_equal(numbers, before, equal_nan=True)
