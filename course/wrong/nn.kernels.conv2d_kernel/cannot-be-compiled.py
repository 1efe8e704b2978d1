"""Each window is left to tensordot, which Numba does not compile."""


def conv2d_kernel(out, input, weight):
    batch, out_channels, out_height, out_width = out.shape
    height, width = weight.shape[2:]
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_height):
            for j in range(out_width):
                out[b, o, i, j] = np.tensordot(input[b, :, i : i + height, j : j + width], weight[o], axes=3)
