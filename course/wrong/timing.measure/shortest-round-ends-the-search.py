"""The shortest round is asked whether they are long enough, and not the one in the middle."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
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
        if min(spans) >= enough:
            return median / calls
        calls *= 2
