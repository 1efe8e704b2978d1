"""One loop for each axis; the outermost, over the examples, runs in parallel."""


def conv1d_kernel(out, input, weight):
    for b in prange(out.shape[0]):
        for o in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[b, o, i] = 0.0
                for c in range(input.shape[1]):
                    for k in range(weight.shape[2]):
                        out[b, o, i] += input[b, c, i + k] * weight[o, c, k]
