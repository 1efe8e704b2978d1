"""Several axes are put back beginning with the last one, which the others then move to the right."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim, keepdim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim, keepdim = ctx.saved_values
        if not keepdim:
            for axis in reversed(dim):
                d_output = d_output.unsqueeze(min(axis, d_output.ndim))
        return d_output.expand(*shape)
