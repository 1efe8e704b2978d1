"""Exp keeps its output on the class, where the next call overwrites it."""

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
        Exp.output = operators.exp(a)
        return Exp.output

    @staticmethod
    def backward(ctx, d_output):
        return d_output * Exp.output


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
