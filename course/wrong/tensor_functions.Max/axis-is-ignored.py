"""The last axis is searched, whatever dim says."""


class Max(Function):
    @staticmethod
    def forward(ctx, a, dim):
        dim = a.ndim - 1
        index = a.argmax(dim, keepdim=True)
        ctx.save_for_backward(index, a.shape, dim)
        return a.gather(dim, index).squeeze(dim)

    @staticmethod
    def backward(ctx, d_output):
        index, shape, dim = ctx.saved_values
        return d_output.unsqueeze(dim).scatter_to(shape, dim, index)
