"""The number of calls is found by single rounds: one that is held up ends the search too early."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    def span(calls: int) -> float:
        started = clock()
        for _ in range(calls):
            action()
        return clock() - started

    action()
    calls = 1
    while span(calls) < enough:
        calls *= 2
    return sorted(span(calls) for _ in range(rounds))[rounds // 2] / calls
