"""A view with gaps is refused."""

class View(LinearFunction):
    @staticmethod
    def forward(ctx, a, shape):
        assert a.is_contiguous(), "Must be contiguous to view"
        ctx.save_for_backward(a.shape)
        return a._new(TensorData(a._tensor._storage, shape))

    @staticmethod
    def backward(ctx, d_output):
        (shape,) = ctx.saved_values
        return d_output.contiguous().view(*shape)
