"""The loops over the weights stand outside those over the windows; compiled by the student."""


@njit(parallel=True)
def conv2d_kernel(out, input, weight):
    for b in prange(out.shape[0]):
        out[b] = 0.0
        for o in range(out.shape[1]):
            for c in range(weight.shape[1]):
                for k in range(weight.shape[2]):
                    for m in range(weight.shape[3]):
                        factor = weight[o, c, k, m]
                        for i in range(out.shape[2]):
                            for j in range(out.shape[3]):
                                out[b, o, i, j] += factor * input[b, c, i + k, j + m]
