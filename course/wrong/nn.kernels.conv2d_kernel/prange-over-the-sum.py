"""The loop over the input channels runs in parallel, so that threads add to the same element."""


def conv2d_kernel(out, input, weight):
    batch, out_channels, out_height, out_width = out.shape
    _, in_channels, kernel_height, kernel_width = weight.shape
    out[:] = 0.0
    for c in prange(in_channels):
        for b in range(batch):
            for o in range(out_channels):
                for i in range(out_height):
                    for j in range(out_width):
                        for k in range(kernel_height):
                            for m in range(kernel_width):
                                out[b, o, i, j] += input[b, c, i + k, j + m] * weight[o, c, k, m]
