"""The numbers are taken apart into fraction and exponent."""


def to_bfloat16(numbers):
    fraction, exponent = np.frexp(np.asarray(numbers, np.float64))
    digits = 8 + np.minimum(exponent + 125, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.rint(np.ldexp(fraction, digits))
        return np.ldexp(whole, exponent - digits).astype(np.float32)
