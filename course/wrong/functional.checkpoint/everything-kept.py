"""The function is run before apply(), so that its record hangs on the result."""

def checkpoint(f):
    class Recomputed(Function):
        @staticmethod
        def forward(ctx, result, *inputs):
            ctx.save_for_backward(*inputs)
            return result * 1.0

        @staticmethod
        def backward(ctx, d_output):
            _, back = vjp(f, *ctx.saved_values)
            return (None, *back(d_output))

    return lambda *inputs: Recomputed.apply(f(*inputs), *inputs)
