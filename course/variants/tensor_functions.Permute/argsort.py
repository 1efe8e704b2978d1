"""NumPy finds the inverse, and ctx keeps it."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(*[int(i) for i in np.argsort(np.array(order, dtype=int))])
        return a._new(a._tensor.permute(*order))

    @staticmethod
    def backward(ctx, d_output):
        return d_output.permute(ctx.saved_values)
