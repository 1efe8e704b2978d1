"""The slopes alone are returned; d_output is ignored."""

class Log(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return 1.0 / a


class Exp(Elementwise):
    @staticmethod
    def forward(ctx, a):
        output = operators.exp(a)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, d_output):
        (output,) = ctx.saved_values
        return output


class Sigmoid(Elementwise):
    @staticmethod
    def forward(ctx, a):
        output = operators.sigmoid(a)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, d_output):
        (s,) = ctx.saved_values
        return s * (1.0 - s)


class ReLU(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return where(a <= 0.0, 0.0, 1.0)
