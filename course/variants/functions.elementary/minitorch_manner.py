"""Every function saves its input, and the rules call the _back twins."""

class Log(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.log(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.log_back(a, d_output)


class Exp(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.exp(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.exp_back(a, d_output)


class Sigmoid(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.sigmoid(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.sigmoid_back(a, d_output)


class ReLU(Elementwise):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return operators.relu(a)

    @staticmethod
    def backward(ctx, d_output):
        (a,) = ctx.saved_values
        return operators.relu_back(a, d_output)
