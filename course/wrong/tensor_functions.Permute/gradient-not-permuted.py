"""The gradient is handed on as it came."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(order)
        return a._new(a._tensor.permute(*order))

    @staticmethod
    def backward(ctx, d_output):
        return d_output
