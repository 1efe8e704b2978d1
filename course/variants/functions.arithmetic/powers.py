"""Inv's slope is written as a power, and lists of one element are not needed."""

class Mul(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b, a)
        return a * b

    @staticmethod
    def backward(ctx, d_output):
        return tuple(d_output * other for other in ctx.saved_values)


class Neg(Elementwise):
    @staticmethod
    def forward(ctx, a):
        return -a

    @staticmethod
    def backward(ctx, d_output):
        return d_output * -1.0


class Inv(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.inv(a)

    @staticmethod
    def backward(ctx, d_output):
        a = ctx.saved_values[0]
        return d_output * -(a**-2.0)
