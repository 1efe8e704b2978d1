"""Of the two neighbours the nearer one, in double precision; halfway, the one whose last bit is 0."""


def is_rounding(rounded):
    generator = np.random.default_rng(2)
    bits = generator.integers(0, 2**32, 200_000, dtype=np.uint32)
    bits[::3] = bits[::3] & np.uint32(0xFFFF0000) | np.uint32(0x8000)
    bits[::9] += generator.choice(np.array([1, 2**32 - 1], np.uint32), len(bits[::9]))
    bits = np.append(bits, np.array([0x7F7FFFFF, 0xFF7FFFFF, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32))
    numbers = bits.view(np.float32)
    before = numbers.copy()
    found = rounded(numbers)
    if numbers.tobytes() != before.tobytes() or found.shape != before.shape:
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        down = (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
        step = np.abs(((bits & np.uint32(0x7F800000)) + (bits & np.uint32(0x7F800000) == 0) * np.uint32(0x800000)).view(np.float32))
        step = step.astype(np.float64) / 128.0
        up = down + np.copysign(step, before)
        nearer_up = np.abs(before - up) < np.abs(before - down)
        tie = np.abs(before - up) == np.abs(before - down)
        odd = bits >> np.uint32(16) & np.uint32(1) == 1
        wanted = np.where(nearer_up | (tie & odd), up, down)
        wanted = np.where(np.abs(wanted) > 3.3895314e38, np.copysign(np.inf, before), wanted)
        special = ~np.isfinite(before)
        wanted = np.where(special, before, wanted)
        return bool(np.array_equal(found.astype(np.float64), wanted, equal_nan=True))
