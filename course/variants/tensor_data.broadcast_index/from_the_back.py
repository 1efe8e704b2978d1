"""Both shapes from their last axes on."""

def broadcast_index(big_index, big_shape, shape, out_index):
    for back in range(1, len(shape) + 1):
        small, big = len(shape) - back, len(big_shape) - back
        if big_shape[big] == shape[small]:
            out_index[small] = big_index[big]
        else:
            out_index[small] = 0
