"""Inv.forward returns the derivative of 1 / a instead of 1 / a."""

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
        return operators.neg(a)

    @staticmethod
    def backward(ctx, d_output):
        return -d_output


class Inv(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return -operators.inv(a * a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return -d_output / (a * a)
