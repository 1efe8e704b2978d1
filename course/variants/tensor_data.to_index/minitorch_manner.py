"""Remainder and quotient from the last axis on, with a copy of the ordinal made by adding 0."""

def to_index(ordinal: int, shape: Shape, out_index: OutIndex) -> None:
    cur_ord = ordinal + 0
    for i in range(len(shape) - 1, -1, -1):
        sh = shape[i]
        out_index[i] = int(cur_ord % sh)
        cur_ord = cur_ord // sh
