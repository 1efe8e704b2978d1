"""The last window is forgotten: the loop ends one too early."""


def conv1d_kernel(out, input, weight):
    batch, out_channels, out_width = out.shape
    _, in_channels, kernel_width = weight.shape
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_width - 1):
            total = 0.0
            for c in range(in_channels):
                for k in range(kernel_width):
                    total += input[b, c, i + k] * weight[o, c, k]
            out[b, o, i] = total
