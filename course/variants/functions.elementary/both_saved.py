"""Input and output are saved, and each rule takes what it likes."""

class Log(Elementwise):
    @staticmethod
    def forward(ctx, a):
        y = operators.log(a)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, d_output):
        a, _ = ctx.saved_values
        return d_output / a


class Exp(Elementwise):
    @staticmethod
    def forward(ctx, a):
        y = operators.exp(a)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, d_output):
        _, y = ctx.saved_values
        return y * d_output


class Sigmoid(Elementwise):
    @staticmethod
    def forward(ctx, a):
        y = operators.sigmoid(a)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, d_output):
        _, y = ctx.saved_values
        return d_output * (y - y * y)


class ReLU(Elementwise):
    @staticmethod
    def forward(ctx, a):
        y = operators.relu(a)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx, d_output):
        a, _ = ctx.saved_values
        return d_output if a > 0 else 0.0
