"""The sizes at each place, without the ones, must be one or none."""

def shape_broadcast(shape1, shape2):
    longer, shorter = sorted((tuple(shape1), tuple(shape2)), key=len, reverse=True)
    shorter = (1,) * (len(longer) - len(shorter)) + shorter
    result = []
    for pair in zip(longer, shorter):
        sizes = set(pair) - {1}
        if len(sizes) > 1:
            raise IndexingError(f"{shape1} does not go with {shape2}")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)
