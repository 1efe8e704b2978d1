"""The gradient's storage is read row by row, whatever its strides are."""

class Sum(LinearFunction):
    @staticmethod
    def forward(ctx, a, dim, keepdim=False):
        ctx.save_for_backward(a.shape, dim)
        return a.reduce_with("add", dim, keepdim)

    @staticmethod
    def backward(ctx, d_output):
        shape, dim = ctx.saved_values
        sizes = tuple(1 if axis in dim else n for axis, n in enumerate(shape))
        if d_output.numel() != int(np.prod(sizes)):
            return d_output.expand(*shape)
        flat = TensorData(d_output._tensor._storage, sizes)
        if d_output.is_contiguous():
            return d_output.view(*sizes).expand(*shape)
        return d_output._new(flat).expand(*shape)
