"""Every element along the axis gets the gradient, as if the maximum were a sum."""


class Max(Function):
    @staticmethod
    def forward(ctx, a, dim):
        index = a.argmax(dim, keepdim=True)
        ctx.save_for_backward(index, a.shape, dim)
        return a.gather(dim, index).squeeze(dim)

    @staticmethod
    def backward(ctx, d_output):
        _, shape, dim = ctx.saved_values
        return d_output.unsqueeze(dim).expand(*shape)
