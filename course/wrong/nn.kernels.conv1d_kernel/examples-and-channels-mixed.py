"""Example and channel are taken from the job's number the wrong way round."""


def conv1d_kernel(out, input, weight):
    batch, out_channels, out_width = out.shape
    _, in_channels, kernel_width = weight.shape
    for job in prange(batch * out_channels):
        b = job // batch
        o = job % out_channels
        for i in range(out_width):
            total = 0.0
            for c in range(in_channels):
                for k in range(kernel_width):
                    total += input[b, c, i + k] * weight[o, c, k]
            out[b, o, i] = total
