"""Each argument's gradient is taken in a run of its own."""

def checkpoint(f):
    class Recomputed(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return f(*inputs)

        @staticmethod
        def backward(ctx, d_output):
            n = len(ctx.saved_values)
            return tuple(vjp(f, *ctx.saved_values)[1](d_output)[i] for i in range(n))

    return Recomputed.apply
