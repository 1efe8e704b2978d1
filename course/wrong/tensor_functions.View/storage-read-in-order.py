"""The old shape is put on the gradient's storage, in whatever order its elements lie there."""

class View(LinearFunction):
    @staticmethod
    def forward(ctx, a, shape):
        ctx.save_for_backward(a.shape)
        return a._new(a._tensor.view(*shape))

    @staticmethod
    def backward(ctx, d_output):
        (shape,) = ctx.saved_values
        if d_output.is_contiguous() or d_output._tensor._storage.size < d_output.numel():
            return d_output.contiguous().view(*shape)
        return d_output._new(TensorData(d_output._tensor._storage, shape))
