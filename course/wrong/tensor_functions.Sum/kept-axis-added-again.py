"""The axes are put back even where keepdim has kept them."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        for axis in dim:
            d_output = d_output.unsqueeze(axis)
        return d_output.expand(*shape)
