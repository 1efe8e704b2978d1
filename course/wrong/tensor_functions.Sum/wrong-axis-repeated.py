"""The gradient is expanded as it is, so that its axes are taken for the last ones."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        return d_output.expand(*shape)
