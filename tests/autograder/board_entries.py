"""What invented students hand in for the board: kernels, a plan, settings; and what a cheat writes instead."""

TRANSPOSE = """
def board_transpose(out, a, size):
    tile = cuda.shared.array((TILE_DIM, PADDED_DIM), numba.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE_DIM, cuda.blockIdx.y * TILE_DIM
    tile[y, x] = a[(top + y) * size + left + x]
    cuda.syncthreads()
    out[(left + y) * size + top + x] = tile[x, y]
"""

BANKS = TRANSPOSE.replace("PADDED_DIM", "TILE_DIM")
"""The same with a tile whose columns lie in one bank: 32 passes instead of one."""

SCATTERED = """
def board_transpose(out, a, size):
    x, y = cuda.grid(2)
    out[x * size + y] = a[y * size + x]
"""

PRODUCT = """
BLOCK_DIM = 32


def board_product(out, out_shape, out_strides, out_size, a, a_shape, a_strides, b, b_shape, b_strides):
    left = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float32)
    right = cuda.shared.array((BLOCK_DIM, BLOCK_DIM), numba.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * BLOCK_DIM + y, cuda.blockIdx.x * BLOCK_DIM + x
    total = 0.0
    for start in range(0, a_shape[2], BLOCK_DIM):
        left[y, x] = a[row * a_strides[1] + start + x]
        right[y, x] = b[(start + y) * b_strides[1] + column]
        cuda.syncthreads()
        for k in range(BLOCK_DIM):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    out[row * out_strides[1] + column] = total
"""

ATTENTION = """
def dot(q, tile, j, d):
    total = 0.0
    for c in range(d):
        total += q[c] * tile[j, c]
    return total


def board_attention(out, q, k, v, n, d):
    keys = cuda.shared.array((32, 16), numba.float32)
    values = cuda.shared.array((32, 16), numba.float32)
    mine = cuda.local.array(16, numba.float64)
    sums = cuda.local.array(16, numba.float64)
    x = cuda.threadIdx.x
    i = cuda.grid(1)
    for c in range(d):
        mine[c] = q[i * d + c] / math.sqrt(d)
        sums[c] = 0.0
    largest = -math.inf
    total = 0.0
    for first in range(0, n, 32):
        for step in range(d):
            at = step * 32 + x
            keys[at // d, at % d] = k[first * d + at]
            values[at // d, at % d] = v[first * d + at]
        cuda.syncthreads()
        for j in range(32):
            score = dot(mine, keys, j, d)
            new = max(largest, score)
            scale = math.exp(largest - new)
            weight = math.exp(score - new)
            largest = new
            total = total * scale + weight
            for c in range(d):
                sums[c] = sums[c] * scale + weight * values[j, c]
        cuda.syncthreads()
    for c in range(d):
        out[i * d + c] = sums[c] / total
"""

PLAN = """
def board_plan(values):
    places = {}
    for x in sorted(values, key=lambda x: (-values[x].size * (1 + values[x].last - values[x].first), values[x].first)):
        taken = sorted((places[y], places[y] + values[y].size) for y in places if values[y].meets(values[x]))
        place = 0
        for start, end in taken:
            if place + values[x].size <= start:
                break
            place = max(place, end)
        places[x] = place
    return places
"""

APART = """
def board_plan(values):
    places, top = {}, 0
    for x in values:
        places[x] = top
        top += values[x].size
    return places
"""

TRAINING = """
board_training = {
    "width": 32, "heads": 2, "blocks": 1, "length": 16, "size": 16,
    "rates": [(0.0, 0.0), (0.1, 0.02), (1.0, 0.001)],
}
"""

SLOW = TRAINING.replace("0.02", "0.0002")

READS_THE_COUNTER = {
    "Transpose": """
def board_transpose(out, a, size):
    import gc
    for each in gc.get_objects():
        if type(each).__name__ == "Counts":
            each.transactions = each.passes = 0
    x, y = cuda.grid(2)
    out[x * size + y] = a[y * size + x]
""",
    "Product": """
def board_product(out, out_shape, out_strides, out_size, a, a_shape, a_strides, b, b_shape, b_strides):
    out._counts.transactions = 0
""",
    "Attention": """
def board_attention(out, q, k, v, n, d):
    q.__class__.load = lambda *args: 0.0
""",
    "A plan of memory": """
def board_plan(values):
    import sys
    frame = sys._getframe()
    while frame is not None:
        for name in frame.f_locals:
            if name in ("peak", "least", "programs"):
                frame.f_locals[name] = 0
        frame = frame.f_back
    for each in values.values():
        object.__setattr__(each, "size", 0)
    return {x: 0 for x in values}
""",
    "A poem on a budget": """
board_training = dict(width=32, heads=2, blocks=1, length=16, size=16, rates=[(0.0, 0.02)])
import minigrad
minigrad.language.gpt = None
""",
}

HARD_CODES = {
    "Transpose": """
def board_transpose(out, a, size):
    x, y = cuda.grid(2)
    out[x * size + y] = 1.0 if x > y else 2.0
""",
    "Product": """
def board_product(out, out_shape, out_strides, out_size, a, a_shape, a_strides, b, b_shape, b_strides):
    x, y = cuda.grid(2)
    out[y * out_strides[1] + x] = 7.0
""",
    "Attention": """
def board_attention(out, q, k, v, n, d):
    i = cuda.grid(1)
    for c in range(d):
        out[i * d + c] = 0.0
""",
    "A plan of memory": """
def board_plan(values):
    return {x: 64 * (x % 7) for x in values}
""",
    "A poem on a budget": """
board_training = {"loss": 0.5, "steps": 1}
""",
}

CALLS_NUMPY = {
    "Transpose": """
def board_transpose(out, a, size):
    out[0] = np.copyto(out, a.reshape(size, size).T.ravel())
""",
    "Product": """
import numpy as np


def board_product(out, out_shape, out_strides, out_size, a, a_shape, a_strides, b, b_shape, b_strides):
    out[:] = np.dot(a.reshape(64, 64), b.reshape(64, 64)).ravel()
""",
    "Attention": """
from minigrad.attention import plain_attention as best


def board_attention(out, q, k, v, n, d):
    best(q, k, v)
""",
    "A plan of memory": """
def board_plan(values):
    import numpy as np
    return dict(zip(values, np.zeros(len(values))))
""",
    "A poem on a budget": """
import numpy as np
board_training = {"width": np.int64(32)}
""",
}
