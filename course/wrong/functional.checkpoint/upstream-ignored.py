"""The way back begins with ones, whatever arrives."""

def checkpoint(f):
    class Recomputed(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return f(*inputs)

        @staticmethod
        def backward(ctx, d_output):
            _, back = vjp(f, *ctx.saved_values)
            return back(creation.ones_like(d_output))

    return Recomputed.apply
