"""How long a program takes: a warm-up, rounds that are long enough for their clock, and the median of them."""

from __future__ import annotations

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object],
    clock: Callable[[], float] = time.perf_counter,
    rounds: int = 7,
    enough: float = 0.001,
) -> float:
    """Return how many seconds one call of action takes.

    The first call is a warm-up and counts for nothing: it may compile or load what the
    later ones only use. After it come rounds of many calls each. A clock moves in
    ticks, and reading it costs time as well: so it is read only before and after a
    round, and a round has so many calls that the median of the rounds is at least
    `enough`. That number of calls is found by doubling: 1, 2, 4 and so on, and no more.

    Other programs make some rounds longer, and none shorter. They must not change the
    result as long as they hit fewer than half of the rounds, and they must not make
    rounds of too few calls look long enough.

    Args:
        action: What is measured.
        clock: Returns the time in seconds.
        rounds: How many rounds the median is taken of: an odd number.
        enough: How many seconds a round lasts at least: many ticks of the clock.

    Returns:
        The median of the rounds, in seconds for one call.
    """
    ### BEGIN SOLUTION
    action()
    calls = 1
    while True:
        spans = []
        for _ in range(rounds):
            started = clock()
            for _ in range(calls):
                action()
            spans.append(clock() - started)
        median = sorted(spans)[rounds // 2]
        if median >= enough:
            return median / calls
        calls *= 2
    ### END SOLUTION
