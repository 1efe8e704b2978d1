"""Of several axes only the first one is summed over."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim[:1])
        return a.reduce_with("add", dim[:1], keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        sizes = [1 if axis in dim else n for axis, n in enumerate(shape)]
        return d_output.view(*sizes).expand(*shape)
