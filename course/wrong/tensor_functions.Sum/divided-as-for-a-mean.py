"""The gradient of a sum is shared among its elements, as that of a mean is."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        sizes = [1 if axis in dim else n for axis, n in enumerate(shape)]
        count = 1
        for axis in dim:
            count *= shape[axis]
        return (d_output / float(max(count, 1))).view(*sizes).expand(*shape)
