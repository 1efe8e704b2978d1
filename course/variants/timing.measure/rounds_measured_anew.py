"""The search has rounds of its own; what is returned is measured after it."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    def seconds(calls: int) -> list[float]:
        found = []
        for _ in range(rounds):
            begun = clock()
            for _ in range(calls):
                action()
            found.append(clock() - begun)
        found.sort()
        return found

    action()
    calls = 1
    while seconds(calls)[rounds // 2] < enough:
        calls += calls
    return seconds(calls)[rounds // 2] / calls
