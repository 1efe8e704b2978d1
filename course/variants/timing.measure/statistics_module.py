"""By the median of the standard library, in a function for one round."""

import time
from collections.abc import Callable
from statistics import median


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    def round_of(calls: int) -> float:
        start = clock()
        for _ in range(calls):
            action()
        return clock() - start

    action()
    calls, middle = 1, median(round_of(1) for _ in range(rounds))
    while middle < enough:
        calls = 2 * calls
        middle = median(round_of(calls) for _ in range(rounds))
    return middle / calls
