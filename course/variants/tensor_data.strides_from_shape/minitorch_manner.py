"""A running product from the back, with one stride too many that is cut off at the end."""

def strides_from_shape(shape: UserShape) -> UserStrides:
    strides = [1]
    step = 1
    for size in reversed(shape):
        step = step * size
        strides.append(step)
    strides.pop()
    return tuple(reversed(strides))
