"""The sums are computed by NumPy, and have no history."""


class Embed(LinearFunction):
    @staticmethod
    def forward(ctx, table, tokens):
        ctx.save_for_backward(tokens, table.shape)
        return table[tokens]

    @staticmethod
    def backward(ctx, d_output):
        tokens, shape = ctx.saved_values
        found = np.zeros(shape, d_output.dtype)
        np.add.at(found, tokens.numpy(), d_output.detach().numpy())
        return d_output.from_host(found)
