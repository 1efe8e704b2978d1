"""A parallel loop runs, and its first iteration does all the work."""


def conv1d_kernel(out, input, weight):
    batch, out_channels, out_width = out.shape
    _, in_channels, kernel_width = weight.shape
    for turn in prange(batch):
        if turn == 0:
            for job in range(batch * out_channels):
                b = job // out_channels
                o = job % out_channels
                for i in range(out_width):
                    total = 0.0
                    for c in range(in_channels):
                        for k in range(kernel_width):
                            total += input[b, c, i + k] * weight[o, c, k]
                    out[b, o, i] = total
