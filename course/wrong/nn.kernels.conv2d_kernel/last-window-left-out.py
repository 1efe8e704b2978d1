"""The last window of each row is forgotten."""


def conv2d_kernel(out, input, weight):
    batch, out_channels, out_height, out_width = out.shape
    _, in_channels, kernel_height, kernel_width = weight.shape
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_height):
            for j in range(max(1, out_width - 1)):
                total = 0.0
                for c in range(in_channels):
                    for k in range(kernel_height):
                        for m in range(kernel_width):
                            total += input[b, c, i + k, j + m] * weight[o, c, k, m]
                out[b, o, i, j] = total
