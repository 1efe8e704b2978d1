"""The sum is set to 0 once, before the loop that runs in parallel, and after each output."""


def conv1d_kernel(out, input, weight):
    batch, out_channels, out_width = out.shape
    _, in_channels, kernel_width = weight.shape
    total = 0.0
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_width):

            for c in range(in_channels):
                for k in range(kernel_width):
                    total += input[b, c, i + k] * weight[o, c, k]
            out[b, o, i] = total
            total = 0.0
