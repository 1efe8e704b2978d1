"""The width of out is computed from the heights."""


def conv2d_kernel(out, input, weight):
    batch, in_channels, height, width = input.shape
    out_channels, _, kernel_height, kernel_width = weight.shape
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(width - kernel_width + 1):
            for j in range(height - kernel_height + 1):
                total = 0.0
                for c in range(in_channels):
                    for k in range(kernel_height):
                        for m in range(kernel_width):
                            total += input[b, c, i + k, j + m] * weight[o, c, k, m]
                out[b, o, i, j] = total
