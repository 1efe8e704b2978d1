"""Positions worked out in one loop over the dimensions, without index buffers."""

def tensor_map(fn):
    def _map(out, out_shape, out_strides, out_size, in_storage, in_shape, in_strides):
        start = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        for i in range(start, out_size, cuda.gridDim.x * cuda.blockDim.x):
            rest = i
            to = 0
            source = 0
            missing = len(out_shape) - len(in_shape)
            for d in range(len(out_shape) - 1, -1, -1):
                k = rest % out_shape[d]
                rest = rest // out_shape[d]
                to += k * out_strides[d]
                if d >= missing and in_shape[d - missing] > 1:
                    source += k * in_strides[d - missing]
            out[to] = fn(in_storage[source])

    return _map
