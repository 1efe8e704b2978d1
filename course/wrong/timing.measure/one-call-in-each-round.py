"""A round is a single call, however short it is."""

import time
from collections.abc import Callable


def measure(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter, rounds: int = 7, enough: float = 0.001
) -> float:
    action()
    spans = []
    for _ in range(rounds):
        started = clock()
        action()
        spans.append(clock() - started)
    return sorted(spans)[rounds // 2]
