"""Inv saves its output y, whose square with a minus is the slope; the bases are Function."""

class Mul(Function):
    kernel = "mul"

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return operators.mul(a, b)

    @staticmethod
    def backward(ctx, d_output):
        a, b = ctx.saved_tensors
        return (b * d_output, a * d_output)


class Neg(Function):
    kernel = "neg"

    @staticmethod
    def forward(ctx, a):
        return operators.neg(a)

    @staticmethod
    def backward(ctx, d_output):
        return -d_output


class Inv(Function):
    kernel = "inv"

    @staticmethod
    def forward(ctx, a):
        y = operators.inv(a)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, d_output):
        (y,) = ctx.saved_values
        return -d_output * y * y
