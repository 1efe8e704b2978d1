"""Index and strides side by side, with their types."""

def index_to_position(index: Index, strides: Strides) -> int:
    position = 0
    for i, stride in zip(index, strides):
        position += i * stride
    return position
