"""Axis i goes to place order[i], where it should come from there; backward undoes just that."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(order)
        inverse = sorted(range(len(order)), key=lambda i: order[i])
        return a._new(a._tensor.permute(*inverse))

    @staticmethod
    def backward(ctx, d_output):
        (order,) = ctx.saved_values
        return d_output.permute(*order)
