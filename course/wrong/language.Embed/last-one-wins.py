"""Each row of the gradient is put in its place, over an earlier one."""


class Embed(LinearFunction):
    @staticmethod
    def forward(ctx, table, tokens):
        ctx.save_for_backward(tokens, table.shape)
        return table[tokens]

    @staticmethod
    def backward(ctx, d_output):
        tokens, shape = ctx.saved_values
        found = d_output.new_zeros(*shape)
        found[tokens] = d_output
        return found
