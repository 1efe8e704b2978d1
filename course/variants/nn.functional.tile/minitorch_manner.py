"""In MiniTorch's manner: width first, height next."""


def tile(input, kernel):
    batch, channel, height, width = input.shape
    kh, kw = kernel
    assert height % kh == 0
    assert width % kw == 0
    new_width = width // kw
    new_height = height // kh
    out = input.contiguous().view(batch, channel, height, new_width, kw)
    out = out.permute(0, 1, 3, 2, 4).contiguous()
    out = out.view(batch, channel, new_width, new_height, kh * kw)
    return out.permute(0, 1, 3, 2, 4).contiguous(), new_height, new_width
