"""What the board counts: `autograder board` reads EVENTS. docs/instructor/board.md says how students enter.

This file is the instructor's, as the hidden tests are: it runs in the grader's own process, and students never get it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.board import Kernel, Launch, Plan, Refused, Settings

SIDE = 64
"""Rows and columns of the matrices that are turned and multiplied."""

QUERIES, WIDTH = 64, 16
"""The size of the attention that is counted: as many keys and values as queries, of 16 numbers each."""


def tiles(number: Callable[[str], int], name: str, most: int = 32) -> int:
    """Return a size of a block that a cell sets."""
    found = number(name)
    if not 1 <= found <= most:
        raise Refused(f"{name} is a whole number from 1 to {most}")
    return found


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return numbers of a normal distribution as float32, none of which a text can know."""
    return rng.normal(size=shape).astype(np.float32)


def empty(count: int) -> np.ndarray:
    """Return the place for a result."""
    return np.full(count, np.nan, np.float32)


def transpose(number: Callable[[str], int], rng: np.random.Generator) -> Launch:
    """A launch of a kernel like `_turn_practice`."""
    tile, a = tiles(number, "TILE_DIM"), normal(rng, SIDE, SIDE)
    grid = (-(-SIDE // tile), -(-SIDE // tile), 1)
    return Launch(grid, (tile, tile, 1), empty(SIDE * SIDE), (a.ravel(), SIDE), a.T.ravel())


def product(number: Callable[[str], int], rng: np.random.Generator) -> Launch:
    """A launch of a kernel like `_tensor_matrix_multiply`, on matrices that lie row by row."""
    tile, (a, b) = tiles(number, "BLOCK_DIM"), normal(rng, 2, SIDE, SIDE)
    shape, strides = np.array([1, SIDE, SIDE]), np.array([SIDE * SIDE, SIDE, 1])
    args = (shape, strides, SIDE * SIDE, a.ravel(), shape, strides, b.ravel(), shape, strides)
    grid = (-(-SIDE // tile), -(-SIDE // tile), 1)
    wanted = (a.astype(np.float64) @ b).ravel()
    return Launch(grid, (tile, tile, 1), empty(SIDE * SIDE), args, wanted, error=1e-6)


def attention(number: Callable[[str], int], rng: np.random.Generator) -> Launch:
    """A launch of a kernel in which each thread has a query."""
    threads, (q, k, v) = tiles(number, "THREADS_PER_BLOCK", 1024), normal(rng, 3, QUERIES, WIDTH)
    scores = q.astype(np.float64) @ k.T / math.sqrt(WIDTH)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    wanted = weights @ v / weights.sum(axis=1, keepdims=True)
    args = (q.ravel(), k.ravel(), v.ravel(), QUERIES, WIDTH)
    grid, out = (-(-QUERIES // threads), 1, 1), empty(QUERIES * WIDTH)
    return Launch(grid, (threads, 1, 1), out, args, wanted.ravel(), writes=WIDTH, error=1e-6)


def programs(rng: np.random.Generator) -> list[list[tuple[int, int, int]]]:
    """The lives of the values of twelve programs: bytes, the first step and the last."""
    found = []
    for _ in range(12):
        sizes, firsts, spans = rng.integers(1, 65, 32) * 64, rng.integers(0, 24, 32), rng.integers(1, 9, 32)
        found.append([(int(s), int(f), int(f + span)) for s, f, span in zip(sizes, firsts, spans, strict=True)])
    return found


def places(mg, programs):  # noqa: ANN001, ANN201  it is shipped to the sandbox
    """Probe: where a plan lays each value of each program."""
    found = []
    for lives in programs:
        values = {number: mg.loops.Lifetime(*each) for number, each in enumerate(lives)}
        plan = mg.loops.plan_memory(values)
        found.append([int(plan[number]) for number in values])
    return found


BUDGET = 10_000_000_000
"""Multiplications that a training may take."""

LENGTHS = (8, 16, 32, 64)
RANGES = {"width": (16, 128), "heads": (1, 8), "blocks": (1, 4), "length": (8, 64), "size": (4, 64)}
"""The settings that are whole numbers, and their bounds."""

MOST_STEPS, JUDGED = 3_000, 4_096
"""Steps of a training at most, and characters not seen before on which it is judged."""


def multiplications(settings: dict[str, Any], characters: int) -> int:
    """Return the multiplications of a step, in its products of matrices: forward, and twice as many on the way back.

    Of a token, in each block: queries, keys and values 3 w², "mix" w², "up" and "down" 4 w² each; scores and weighted
    values n w each, for n tokens that are looked at. Then w for the logit of each character.
    """
    width, length = settings["width"], settings["length"]
    token = settings["blocks"] * (12 * width * width + 2 * length * width) + width * characters
    return 3 * settings["size"] * length * int(token)


def checked(settings: Any) -> dict[str, Any]:
    """Return settings that can be trained with.

    Raises:
        Refused: If they are none.
    """
    if not isinstance(settings, dict) or set(settings) != {*RANGES, "rates"}:
        raise Refused(f"the settings are a dictionary of {', '.join(RANGES)} and rates")
    for name, (least, most) in RANGES.items():
        if type(settings[name]) is not int or not least <= settings[name] <= most:
            raise Refused(f"{name} is a whole number from {least} to {most}")
    if settings["length"] not in LENGTHS:
        raise Refused(f"length is one of {', '.join(map(str, LENGTHS))}")
    if settings["width"] % settings["heads"]:
        raise Refused("heads divides width")
    rates = settings["rates"]
    pairs = isinstance(rates, list | tuple) and all(isinstance(each, list | tuple) and len(each) == 2 for each in rates)
    if not pairs or not 1 <= len(rates) <= 50:
        raise Refused("rates is a list of up to 50 pairs: a part of the training, and the rate there")
    numbers = [number for each in rates for number in each]
    if not all(type(each) in (int, float) and 0 <= each <= 1 for each in numbers):
        raise Refused("parts and rates are numbers from 0 to 1")
    parts = [part for part, _ in rates]
    if parts != sorted(parts):
        raise Refused("the parts of the training stand in their order")
    return settings


def train(given: Any, draw: int, budget: int = BUDGET) -> tuple[float, int]:
    """Train the model of lesson 12 for a number of multiplications, and return its loss on lines not seen, and steps.

    The model, its first weights, the pieces of text and Adam are the same for all: the settings alone differ.
    """
    import minigrad
    from minigrad import data, language, nn
    from minigrad.transforms import tree_map, value_and_grad

    settings = checked(given)
    text = "\n\n".join(poem.text for poem in data.poems("sonnets"))
    known = sorted(set(text))
    training, unseen = language.split(np.array([known.index(each) for each in text]), 0.1)
    length, heads = settings["length"], settings["heads"]
    steps = budget // multiplications(settings, len(known))
    if not 1 <= steps <= MOST_STEPS:
        raise Refused(f"{steps} steps would fit; 1 to {MOST_STEPS:,} are counted: take another width, length or size")

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        logits = language.gpt(p, x, heads)
        return nn.functional.cross_entropy(logits.reshape(-1, len(known)), y.reshape(-1))

    sizes = {"window": length, "width": settings["width"], "blocks": settings["blocks"]}
    # With 64 bits, since machines round sums in other orders, and a training makes much of little.
    p = tree_map(lambda w: w.double(), language.initial(np.random.default_rng([draw, 0]), len(known), **sizes))
    means, squares = (tree_map(lambda w: w * 0.0, p) for _ in range(2))
    drawn = language.batches(training, length, np.random.default_rng([draw, 1]), settings["size"])
    slopes_of = value_and_grad(loss_of)
    for t in range(1, steps + 1):
        rate = float(np.interp(t / steps, *zip(*settings["rates"], strict=True)))
        _, slopes = slopes_of(p, *map(minigrad.tensor, next(drawn)))
        means = tree_map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
        squares = tree_map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, slopes)
        scale, under = rate / (1.0 - 0.9**t), 1.0 - 0.99**t
        p = tree_map(
            lambda w, m, s, scale=scale, under=under: w - scale * m / ((s / under).sqrt() + 1e-8), p, means, squares
        )
    x, y = (part.reshape(-1, length) for part in (unseen[:JUDGED], unseen[1 : JUDGED + 1]))
    with minigrad.no_grad():
        return float(loss_of(p, minigrad.tensor(x), minigrad.tensor(y)).item()), steps


EVENTS = [
    Kernel(
        "Transpose",
        f"A matrix of {SIDE} x {SIDE} float32 is turned by a kernel like _turn_practice: transactions of 32 bytes with "
        "global memory, then passes over shared memory.",
        "cuda_ops._turn_practice",
        "board_transpose",
        prepare=transpose,
        constants={"TILE_DIM": 32, "PADDED_DIM": 33},
        instead="_turn_practice",
    ),
    Kernel(
        "Product",
        f"Two matrices of {SIDE} x {SIDE} float32 are multiplied by a kernel like _tensor_matrix_multiply. A block has "
        "BLOCK_DIM x BLOCK_DIM threads, and a thread writes one element.",
        "cuda_ops._tensor_matrix_multiply",
        "board_product",
        prepare=product,
        constants={"BLOCK_DIM": 8, "TILE_DIM": 32, "PADDED_DIM": 33},
        instead="_tensor_matrix_multiply",
    ),
    Kernel(
        "Attention",
        f"{QUERIES} queries look at {QUERIES} keys and values of {WIDTH} float32 each, in a kernel whose threads have "
        "a query each. A block has THREADS_PER_BLOCK threads.",
        "attention.online_softmax",
        "board_attention",
        prepare=attention,
        constants={"THREADS_PER_BLOCK": 32},
    ),
    Plan(
        "A plan of memory",
        "The bytes that the values of twelve programs need, if each is laid where the plan says.",
        "loops.plan_memory",
        "board_plan",
        prepare=programs,
        probe=places,
        instead="plan_memory",
    ),
    Settings(
        "A poem on a budget",
        f"The model of lesson 12, trained by the grader with the student's settings for {BUDGET:,} multiplications: "
        "its loss on lines that it has not seen.",
        "language.block",
        "board_training",
        train=train,
    ),
]
