"""The gradient is permuted by the order once more."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(order)
        return a._new(a._tensor.permute(*order))

    @staticmethod
    def backward(ctx, d_output):
        (order,) = ctx.saved_values
        return d_output.permute(*order)
