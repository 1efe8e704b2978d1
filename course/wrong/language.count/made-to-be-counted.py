"""The parameters are made, and then counted."""

def count(characters, window, width, blocks, batch=16):
    p = language.initial(np.random.default_rng(0), characters, window, width, blocks)
    parameters = sum(each.numel() for each in tree_leaves(p))
    each_token = 12 * width**2 * blocks + width * characters + 2 * window * width * blocks
    return parameters, batch * window * each_token, 16 * parameters
