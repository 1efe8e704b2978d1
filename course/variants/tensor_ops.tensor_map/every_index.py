"""Python counts the indices; positions are sums over the axes."""


import itertools


def tensor_map(fn):
    def _map(out, out_shape, out_strides, in_storage, in_shape, in_strides):
        extra = len(out_shape) - len(in_shape)
        for index in itertools.product(*map(range, out_shape)):
            place = sum(i * stride for i, stride in zip(index, out_strides))
            own = (0 if size == 1 else i for i, size in zip(index[extra:], in_shape))
            out[place] = fn(in_storage[sum(i * stride for i, stride in zip(own, in_strides))])

    return _map
