"""The gradient keeps the shape of the view."""

class View(LinearFunction):
    @staticmethod
    def forward(ctx, a, shape):
        ctx.save_for_backward(a.shape)
        return a._new(a._tensor.view(*shape))

    @staticmethod
    def backward(ctx, d_output):
        return d_output
