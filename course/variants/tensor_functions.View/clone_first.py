"""The gradient is always copied before it is viewed; the tensor itself is saved."""

class View(LinearFunction):
    @staticmethod
    def forward(ctx, a, shape):
        ctx.save_for_backward(a)
        data = a._tensor.view(*shape)
        return a._new(TensorData(data._storage, data.shape, data.strides))

    @staticmethod
    def backward(ctx, d_output):
        return d_output.clone().view(ctx.saved_values[0].shape)
