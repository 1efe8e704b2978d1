"""The mean of the rounds is asked whether they are long enough: one that is held up for long ends the search."""

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
        if sum(spans) >= enough * rounds:
            return median / calls
        calls *= 2
