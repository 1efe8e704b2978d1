"""A function calls apply, and backward unpacks what was saved."""

def checkpoint(f):
    class Piece(Function):
        @staticmethod
        def forward(ctx, *xs):
            result = f(*xs)
            ctx.save_for_backward(*xs)
            return result

        @staticmethod
        def backward(ctx, d_output):
            xs = ctx.saved_tensors
            value, back = vjp(f, *xs)
            found = back(d_output)
            return found if len(found) > 1 else found[0]

    def run(*xs):
        return Piece.apply(*xs)

    return run
