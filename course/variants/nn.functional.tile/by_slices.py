"""Each place in a tile is one slice with steps; the slices are stacked."""


def tile(input, kernel):
    kh, kw = kernel
    places = [input[:, :, i::kh, j::kw] for i in range(kh) for j in range(kw)]
    stacked = creation.stack(places, 4)
    return stacked, stacked.shape[2], stacked.shape[3]
