"""Ordinary numbers, ties and special ones, one part after the other."""


def is_rounding(rounded):
    def agrees(numbers):
        before = numbers.copy()
        found = rounded(numbers)
        return np.array_equal(found, to_bfloat16(before), equal_nan=True) and before.tobytes() == numbers.tobytes()

    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.uniform(-38, 38, 20_000)
    ordinary = (rng.normal(size=20_000) * scales).astype(np.float32)
    ties = np.arange(0x3F80, 0x4080, dtype=np.uint32) << 16 | 0x8000
    ties = np.concatenate([ties - np.uint32(1), ties, ties + np.uint32(1)])
    special = np.array([0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x7FC00000, 0, 1 << 31], np.uint32)
    with np.errstate(over="ignore"):
        return agrees(ordinary) and agrees(ties.view(np.float32)) and agrees(special.view(np.float32))
