"""The new run is made of its parts, without vjp."""

def checkpoint(f):
    class Piece(Function):
        @staticmethod
        def forward(ctx, *xs):
            ctx.save_for_backward(*xs)
            return f(*xs)

        @staticmethod
        def backward(ctx, d_output):
            with differentiating():
                nodes = [fresh(x) for x in ctx.saved_values]
                y = f(*nodes)
            return tuple(finished(g) for g in gradients(y, nodes, d_output))

    return Piece.apply
