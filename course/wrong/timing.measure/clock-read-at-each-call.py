"""The clock is read before and after each call, and the differences are added up."""

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
            span = 0.0
            for _ in range(calls):
                started = clock()
                action()
                span += clock() - started
            spans.append(span)
        median = sorted(spans)[rounds // 2]
        if median >= enough:
            return median / calls
        calls *= 2
