"""The median is that of all rounds, also of those of too few calls."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    action()
    calls, seconds = 1, []
    while True:
        spans = []
        for _ in range(rounds):
            started = clock()
            for _ in range(calls):
                action()
            spans.append(clock() - started)
        median = sorted(spans)[rounds // 2]
        seconds += [span / calls for span in spans]
        if median >= enough:
            return sorted(seconds)[len(seconds) // 2]
        calls *= 2
