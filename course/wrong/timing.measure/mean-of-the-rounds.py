"""The mean is returned: one round that is held up moves it."""

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
        if sorted(spans)[rounds // 2] >= enough:
            return sum(spans) / rounds / calls
        calls *= 2
