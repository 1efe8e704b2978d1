"""The function is returned as it is: it keeps everything."""

def checkpoint(f):
    def run(*inputs):
        return f(*inputs)

    class Again(Function):
        @staticmethod
        def forward(ctx, y, *inputs):
            ctx.save_for_backward(y, *inputs)
            return y * 1.0

        @staticmethod
        def backward(ctx, d_output):
            f(*ctx.saved_values[1:])
            return (d_output, *[None for _ in ctx.saved_values[1:]])

    return lambda *inputs: Again.apply(run(*inputs), *inputs)
