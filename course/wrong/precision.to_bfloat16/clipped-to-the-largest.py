"""What would become infinite becomes the largest number of bfloat16."""


def to_bfloat16(numbers):
    bits = numbers.view(np.uint32)
    half = np.uint32(0x7FFF) + (bits >> 16 & 1)
    rounded = (bits + half & 0xFFFF0000).view(np.float32)
    rounded = np.where(np.isfinite(numbers), np.clip(rounded, -3.3895314e38, 3.3895314e38), rounded)
    return np.where(np.isnan(numbers), numbers, rounded).astype(np.float32)
