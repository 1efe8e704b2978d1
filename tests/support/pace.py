"""The pace of this machine just now. What a slow or a busy one takes longer for is not the fault of what is timed."""

import time

__all__ = ["slowness"]

USUAL = 0.04
"""Seconds in which a core counts to a million on the machine that tests' bounds are meant for, when it is idle."""


def slowness() -> float:
    """Return how many times as long as there something takes here, in seconds of a thread."""
    spans = []
    for _ in range(5):
        begun, count = time.thread_time(), 0
        while count < 1_000_000:
            count += 1
        spans.append(time.thread_time() - begun)
    return sorted(spans)[2] / USUAL
