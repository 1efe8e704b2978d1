"""The gradient is added to zeros of the shape of a, which repeats it."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a, dim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        a, dim = ctx.saved_values
        sizes = list(a.shape)
        for axis in dim:
            sizes[axis] = 1
        return d_output.reshape(*sizes) + a.detach() * 0.0
