"""The rows are quantized one after the other."""


def quantize(rows):
    codes = np.zeros(rows.shape, np.int8)
    scales = np.zeros((len(rows), 1), np.float32)
    for i, row in enumerate(rows):
        scales[i] = np.abs(row).max() / np.float32(127.0)
        if scales[i, 0] > 0.0:
            codes[i] = np.rint(row / scales[i])
    return codes, scales


def quantized_product(x, codes, scales):
    x_codes, x_scales = quantize(x)
    sums = np.einsum("ik,jk->ij", x_codes.astype(np.int64), codes.astype(np.int64))
    return (sums * (x_scales * scales.reshape(1, -1))).astype(np.float32)
