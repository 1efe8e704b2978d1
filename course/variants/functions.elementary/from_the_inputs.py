"""Inputs are saved throughout, and the rules are written with differentiable functions."""

class Log(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return d_output * a**-1.0


class Exp(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.exp(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return d_output * functions.exp(a)


class Sigmoid(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.sigmoid(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        s = functions.sigmoid(a)
        return s * (1.0 - s) * d_output


class ReLU(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        if a > 0.0:
            return d_output
        return 0.0 * d_output
