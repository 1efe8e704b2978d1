"""Processes that prove in parallel, and end without a word at Ctrl-C."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from autograder.sandbox import SandboxError


@contextmanager
def pool_of(jobs: int, begin: Callable[..., None], *arguments: object) -> Iterator[ProcessPoolExecutor]:
    """Processes that verify, each of which first calls a function.

    Raises:
        SandboxError: If one of them was ended.
    """
    # A new interpreter for each process: forking one that runs threads is unsafe.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(jobs, mp_context=context, initializer=begin, initargs=arguments) as pool:
            yield pool
    except BrokenProcessPool as error:
        raise SandboxError("a process that verified was ended, for lack of memory perhaps; try --jobs 1") from error


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait, here and in processes that are started meanwhile: one that only begins shows a traceback."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    # Processes inherit what is blocked; this one hears of it all the same, by its other threads.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if came:
        raise KeyboardInterrupt


def end_without_a_word() -> None:
    """Ctrl-C reaches every process: one that works for another ends at once and silently, from now on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
