"""The largest size is the larger one of the maximum and minus the minimum."""


def quantize(rows):
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))[:, None]
    factors = np.divide(127.0, largest, out=np.zeros_like(largest), where=largest != 0.0)
    return np.round(rows * factors).astype(np.int8), largest / np.float32(127.0)


def quantized_product(x, codes, scales):
    x_codes, x_scales = quantize(x)
    # Sums of products below 16130 are exact in float64.
    sums = x_codes.astype(np.float64) @ codes.T.astype(np.float64)
    return np.float32(sums) * x_scales * scales[:, 0]
