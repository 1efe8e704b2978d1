"""Each window is left to einsum, which Numba does not compile."""


def conv1d_kernel(out, input, weight):
    batch, out_channels, out_width = out.shape
    width = weight.shape[2]
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_width):
            out[b, o, i] = np.einsum("ck,ck->", input[b, :, i : i + width], weight[o])
