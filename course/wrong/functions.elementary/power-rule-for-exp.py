"""Exp uses the rule for powers, n x^(n-1), although x is the exponent."""

class Log(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return d_output / a


class Exp(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.exp(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return d_output * a * functions.exp(a - 1.0)


class Sigmoid(Elementwise):
    @staticmethod
    def forward(ctx, a):
        output = operators.sigmoid(a)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, d_output):
        (s,) = ctx.saved_values
        return d_output * s * (1.0 - s)


class ReLU(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return where(a <= 0.0, 0.0, d_output)
