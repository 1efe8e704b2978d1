"""Every number is rounded to a multiple of 1/128."""


def to_bfloat16(numbers):
    return (np.rint(numbers * np.float32(128.0)) / np.float32(128.0)).astype(np.float32)
