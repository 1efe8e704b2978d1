"""All elements are added up, whatever dim says, unless axes are to be kept."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim if keepdim else tuple(range(a.ndim)), keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        sizes = [1 if axis in dim or not d_output.ndim else n for axis, n in enumerate(shape)]
        return d_output.view(*sizes).expand(*shape)
