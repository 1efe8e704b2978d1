"""Every function saves its input, and the rules call the _back twins."""

class Mul(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)

    @staticmethod
    def backward(ctx, d_output):
        a, b = ctx.saved_values
        return d_output * b, d_output * a


class Neg(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.neg(a)

    @staticmethod
    def backward(ctx, d_output):
        return operators.neg(1.0) * d_output


class Inv(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.inv(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.inv_back(a, d_output)
