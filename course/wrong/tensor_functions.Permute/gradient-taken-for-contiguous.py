"""The gradient's storage is taken to lie row by row."""

class Permute(LinearFunction):
    @staticmethod
    def forward(ctx, a, order):
        ctx.save_for_backward(order)
        return a._new(a._tensor.permute(*order))

    @staticmethod
    def backward(ctx, d_output):
        (order,) = ctx.saved_values
        inverse = sorted(range(len(order)), key=lambda i: order[i])
        if d_output.is_contiguous():
            return d_output.permute(*inverse)
        rows = TensorData(d_output._tensor._storage, d_output.shape)
        return d_output._new(rows.permute(*inverse))
