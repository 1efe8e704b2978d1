"""One loop for each axis; the outermost, over the examples, runs in parallel."""


def conv2d_kernel(out, input, weight):
    for b in prange(out.shape[0]):
        for o in range(out.shape[1]):
            for i in range(out.shape[2]):
                for j in range(out.shape[3]):
                    total = 0.0
                    for c in range(input.shape[1]):
                        for k in range(weight.shape[2]):
                            for m in range(weight.shape[3]):
                                total += input[b, c, i + k, j + m] * weight[o, c, k, m]
                    out[b, o, i, j] = total
