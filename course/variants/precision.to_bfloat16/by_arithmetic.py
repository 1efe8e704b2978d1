"""The numbers are taken apart into fraction and exponent."""


def to_bfloat16(numbers):
    with np.errstate(over="ignore", invalid="ignore"):  # a signalling nan warns when it becomes a float64
        fraction, exponent = np.frexp(np.asarray(numbers, np.float64))
        digits = 8 + np.minimum(exponent + 125, 0)
        whole = np.rint(np.ldexp(fraction, digits))
        return np.ldexp(whole, exponent - digits).astype(np.float32)
