"""The number of rounds is not asked."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    action()
    calls = 1
    while True:
        spans = []
        for _ in range(7):
            started = clock()
            for _ in range(calls):
                action()
            spans.append(clock() - started)
        median = sorted(spans)[3]
        if median >= enough:
            return median / calls
        calls *= 2
