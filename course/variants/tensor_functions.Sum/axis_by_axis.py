"""The axes are put back one after the other, unless they were kept."""

class Sum(Function):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(tuple(a.shape), tuple(dim), keepdim)
        out = a
        for axis in dim:
            out = out.reduce_with("add", (axis,), True)
        return out if keepdim else out.view(*[n for axis, n in enumerate(a.shape) if axis not in dim])

    @staticmethod
    def backward(ctx, d_output):
        shape, dim, keepdim = ctx.saved_values
        if not keepdim:
            for axis in sorted(dim):
                d_output = d_output.unsqueeze(axis)
        return d_output.expand(*shape)
