"""Many workers that train one model: each has a part of the batch, and they send each other arrays along a ring.

- `Worker` can send to the next one and receive from the one before; `run` lets several of them work at once.
- `reduce_scatter` and `all_gather` are the two halves of `all_reduce`, the sum of all workers' arrays.
- `is_ring` decides whether a function is such a sum, and sends no more than one.
- `mean_gradients` is the gradient of the whole batch.
- `buckets` and `schedule` say which gradients travel together, and when.
- `optimizer_state` and `sharded_adam_step` share Adam's running means out among the workers.

Here the workers are threads. They can be processes, too, on one machine or on many: a `Worker` is made of two
functions, of which one sends an array and the other receives one.

Sources: Pitch Patarasuk and Xin Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009;
Shen Li and others, PyTorch distributed: experiences on accelerating data parallel training, 2020; Samyam Rajbhandari
and others, ZeRO: memory optimizations toward training trillion parameter models, 2020
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, product
from typing import Any

import numpy as np

from minigrad import training
from minigrad.errors import WorkerError

__all__ = [
    "Worker",
    "all_gather",
    "all_reduce",
    "buckets",
    "is_ring",
    "mean_gradients",
    "optimizer_state",
    "reduce_scatter",
    "run",
    "schedule",
    "sharded_adam_step",
]


class Worker:
    """One of several workers in a ring: it sends to the next one, and receives from the one before.

    Attributes:
        rank: Its number, from 0.
        workers: How many there are.
        messages: How many arrays it has sent.
        sent: How many bytes these had.
    """

    def __init__(
        self,
        rank: int,
        workers: int,
        send: Callable[[np.ndarray], object],
        receive: Callable[[], np.ndarray],
        compare: Callable[[int, tuple[int, ...]], None] = lambda number, shape: None,
    ) -> None:
        self.rank = rank
        self.workers = workers
        self.messages = 0
        self.sent = 0
        self._send, self._receive, self._compare = send, receive, compare
        self._sums = 0

    def send(self, array: np.ndarray) -> None:
        """Send a copy of an array to worker ``rank + 1``; the last worker sends to worker 0."""
        copy = np.array(array)
        self.messages += 1
        self.sent += copy.nbytes
        self._send(copy)

    def receive(self) -> np.ndarray:
        """Wait for the next array from worker ``rank - 1``; worker 0 receives from the last one."""
        return self._receive()

    def begins_a_sum(self, shape: tuple[int, ...]) -> None:
        """Refuse a shape that is not that of the others. Workers that share no memory cannot compare."""
        self._sums += 1
        self._compare(self._sums, shape)


class _Ring:
    """What is under way between the workers of one run."""

    def __init__(self, workers: int) -> None:
        self.arrays = [deque[np.ndarray]() for _ in range(workers)]
        self._waiting = set[int]()
        self._ended = set[int]()
        self._over = ""
        self._shapes: dict[int, dict[int, tuple[int, ...]]] = {}
        self._changed = threading.Condition()

    def put(self, rank: int, array: np.ndarray) -> None:
        """Put down an array for a worker."""
        with self._changed:
            self._go_on()
            self.arrays[rank].append(array)
            self._changed.notify_all()

    def take(self, rank: int) -> np.ndarray:
        """Wait for an array for a worker."""
        with self._changed:
            self._waiting.add(rank)
            self._look()
            while not self.arrays[rank]:
                self._go_on()
                self._changed.wait()
            self._waiting.discard(rank)
            return self.arrays[rank].popleft()

    def compare(self, rank: int, number: int, shape: tuple[int, ...]) -> None:
        """Compare the shape of a worker's next sum with the others'; workers count their sums."""
        with self._changed:
            shapes = self._shapes.setdefault(number, {})
            shapes[rank] = shape
            first, *others = sorted(shapes)
            for other in others:
                if shapes[other] != shapes[first]:
                    raise ValueError(
                        f"all_reduce: worker {first} has an array of shape {shapes[first]}, worker {other} one of "
                        f"shape {shapes[other]}; all must have the same shape"
                    )
            if len(shapes) == len(self.arrays):
                del self._shapes[number]

    def end(self, rank: int, why: str = "") -> None:
        """Note that a worker has ended, and why all others must."""
        with self._changed:
            self._ended.add(rank)
            self._over = self._over or why
            self._look()
            self._changed.notify_all()

    def _go_on(self) -> None:
        if self._over:
            raise WorkerError(self._over)

    def _look(self) -> None:
        """End the run if all who are still there wait for an array that nobody will send."""
        stuck = [rank for rank in self._waiting - self._ended if not self.arrays[rank]]
        if stuck and len(stuck) + len(self._ended) == len(self.arrays):
            first = min(stuck)
            before = (first - 1) % len(self.arrays)
            self._over = self._over or f"worker {first} waits for an array that worker {before} does not send"
            self._changed.notify_all()


def run(workers: int, work: Callable[..., Any], *shares: Sequence[Any]) -> list[Any]:
    """Let several workers do the same work at once, each on its own share, and return their results by rank.

    Args:
        workers: How many; each but the first is a thread.
        work: Called as ``work(worker, *its_shares)``.
        *shares: Sequences with one element for each worker.

    Raises:
        WorkerError: If workers wait for arrays that nobody sends, or some were sent that nobody received.

    >>> minigrad.workers.run(3, lambda worker, x: worker.rank * x, [1.0, 2.0, 3.0])
    [0.0, 2.0, 6.0]
    """
    ring = _Ring(workers)
    results: list[Any] = [None] * workers
    errors: dict[int, Exception] = {}

    def begin(rank: int) -> None:
        send, receive = partial(ring.put, (rank + 1) % workers), partial(ring.take, rank)
        worker = Worker(rank, workers, send, receive, partial(ring.compare, rank))
        try:
            results[rank] = work(worker, *(share[rank] for share in shares))
        except Exception as error:
            errors[rank] = error
            ring.end(rank, f"worker {rank} has stopped")
        finally:
            ring.end(rank)

    threads = [threading.Thread(target=begin, args=(rank,), daemon=True) for rank in range(1, workers)]
    for thread in threads:
        thread.start()
    try:
        begin(0)  # in this thread, which can be interrupted
        for thread in threads:
            thread.join()
    finally:
        ring.end(0, "the run has ended")
    if errors:
        raise errors[min(errors, key=lambda rank: (isinstance(errors[rank], WorkerError), rank))]
    for rank, left in enumerate(ring.arrays):
        if left:
            raise WorkerError(f"worker {rank} did not receive {len(left)} of the arrays that were sent to it")
    return results


def reduce_scatter(worker: Worker, array: np.ndarray) -> np.ndarray:
    """Return one part of the sum of all workers' arrays: part number `worker.rank`.

    The array is cut into as many parts as there are workers, by ``np.array_split``. A
    worker sends one array in each of ``worker.workers - 1`` rounds, and in each it is
    one part: what has come together of its sum so far.

    Args:
        worker: The worker that calls this. All workers call it at once.
        array: Of one axis, with the same size at each worker. It stays as it is.

    Returns:
        The part of the sum, of the array's type. Some parts may have one element more
        than others, and some may have none.
    """
    ### BEGIN SOLUTION
    parts = np.array_split(array, worker.workers)
    total = parts[worker.rank - 1]
    for back in range(2, worker.workers + 1):
        worker.send(total)
        total = worker.receive() + parts[worker.rank - back]
    return total
    ### END SOLUTION


def all_gather(worker: Worker, part: np.ndarray) -> np.ndarray:
    """Return the parts of all workers, joined in the order of their ranks.

    A worker sends one array in each of ``worker.workers - 1`` rounds: its own part, and
    after that what it has received in the round before.

    Args:
        worker: The worker that calls this. All workers call it at once.
        part: Of one axis. Its size may differ from worker to worker.
    """
    ### BEGIN SOLUTION
    parts = {worker.rank: part}
    for back in range(1, worker.workers):
        worker.send(part)
        part = worker.receive()
        parts[(worker.rank - back) % worker.workers] = part
    return np.concatenate([parts[rank] for rank in range(worker.workers)])
    ### END SOLUTION


def all_reduce(worker: Worker, array: np.ndarray) -> np.ndarray:
    """Return the sum of all workers' arrays, the same bits at each worker.

    Args:
        worker: The worker that calls this. All workers call it at once.
        array: Of any shape, the same at each worker.

    Raises:
        ValueError: If another worker of the same `run` has an array of another shape.
    """
    worker.begins_a_sum(np.shape(array))
    return all_gather(worker, reduce_scatter(worker, np.ravel(array))).reshape(np.shape(array))


def is_ring(all_reduce: Callable[[Worker, np.ndarray], np.ndarray]) -> bool:
    """Decide by trying whether a function does what `all_reduce` should.

    It may add in any order, cut arrays at any places, and send any number of messages.
    What it returns is the sum but for rounding, of the array's shape and type, and the
    same bits at each worker. Arrays that it was given stay as they are. Of n workers
    none sends more than ``2 * (n - 1)`` parts; a part is the n-th part of the elements,
    rounded up.

    Args:
        all_reduce: The function, called as ``all_reduce(worker, array)`` by all workers
            at once: one worker or many, with arrays of float32 or float64 of any shape.
            They may have fewer elements than there are workers. An error that it raises
            need not be caught: it is a refusal, too.

    Returns:
        True if it is right.
    """

    ### BEGIN SOLUTION
    def work(worker: Worker, array: np.ndarray) -> tuple[np.ndarray, bool]:
        kept = array.copy()
        total = all_reduce(worker, array)
        part = -(-array.size // worker.workers) * array.itemsize
        is_kept = np.array_equal(array, kept) and (total.shape, total.dtype) == (array.shape, array.dtype)
        return total, is_kept and worker.sent <= 2 * (worker.workers - 1) * part

    for n, shape, dtype in product((1, 4), ((), (3, 5)), (np.float32, np.float64)):
        given = [np.array(each, dtype) for each in np.random.default_rng(0).normal(size=(n, *shape))]
        found = run(n, work, given)
        totals = [total for total, _ in found]
        if not (all(good for _, good in found) and np.array_equal(totals, totals[:1] * n)):
            return False
        if not np.allclose(totals[0], np.sum(given, 0), atol=1e-4):
            return False
    return True
    ### END SOLUTION


def mean_gradients(
    worker: Worker,
    gradients: Sequence[np.ndarray],
    examples: int,
) -> list[np.ndarray]:
    """Return the gradients of the mean loss of all workers' examples.

    All gradients travel together, in one ``all_reduce`` of one array that holds the
    number of examples as well.

    Args:
        worker: The worker that calls this. All workers call it at once.
        gradients: Those of the mean loss of this worker's own examples: arrays of any
            shapes, and of one type. They stay as they are.
        examples: How many examples this worker has; others may have more or fewer. With
            0 examples its gradients do not count, whatever they hold: a mean of nothing
            is nan.

    Returns:
        Arrays of the same shapes and of the same type, equal at all workers.
    """
    ### BEGIN SOLUTION
    flat = np.concatenate([*map(np.ravel, gradients), np.ones(1, gradients[0].dtype)])
    sums = all_reduce(worker, flat * examples if examples else np.zeros_like(flat))
    ends = np.cumsum([each.size for each in gradients])
    pieces = zip(np.split(sums / sums[-1], ends), gradients, strict=False)
    return [piece.reshape(each.shape) for piece, each in pieces]
    ### END SOLUTION


def buckets(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Group gradients into buckets, each of which travels in one all-reduce.

    Gradients stay in order. Each joins the bucket before it, as long as that has at
    most `most` bytes with it. If not, it begins a new bucket. So a gradient that is
    larger than `most` is in a bucket alone.

    Args:
        sizes: The bytes of each gradient, in the order in which the backward pass makes
            them.
        most: The bytes of a full bucket.

    Returns:
        For each bucket the indices of its gradients; no bucket is empty.
    """
    ### BEGIN SOLUTION
    grouped: list[list[int]] = []
    for i, size in enumerate(sizes):
        if grouped and sum(sizes[j] for j in grouped[-1]) + size <= most:
            grouped[-1].append(i)
        else:
            grouped.append([i])
    return grouped
    ### END SOLUTION


def schedule(
    seconds: Sequence[float],
    sizes: Sequence[int],
    grouped: Sequence[Sequence[int]],
    cost: Callable[[int], float],
) -> list[tuple[float, float]]:
    """Return when the all-reduce of each bucket begins and ends.

    The backward pass begins at 0 and never waits. The all-reduce of a bucket begins as
    soon as the last of its gradients is there and the one before has ended: there is
    one connection, and buckets travel in order.

    Args:
        seconds: How long the backward pass works on each gradient, in its order.
        sizes: The bytes of each gradient.
        grouped: The indices of each bucket's gradients, as `buckets` returns them.
        cost: ``cost(bytes)`` is how many seconds an all-reduce of that size takes.

    Returns:
        For each bucket its begin and its end, in seconds.
    """
    ### BEGIN SOLUTION
    ready = list(accumulate(seconds))
    found = []
    end = 0.0
    for group in grouped:
        begin = max(ready[group[-1]], end)
        end = begin + cost(sum(sizes[i] for i in group))
        found.append((begin, end))
    return found
    ### END SOLUTION


def optimizer_state(
    worker: Worker,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return Adam's two running means before the first step, for this worker's part.

    The parts are those of ``np.array_split``; part number `worker.rank` is this
    worker's. No worker keeps more than its part.

    Args:
        worker: The worker that calls this.
        weights: All weights of the model, as one array of one axis.

    Returns:
        Two arrays of zeros, of the size of the part, and of the weights' type.
    """
    ### BEGIN SOLUTION
    own = np.array_split(weights, worker.workers)[worker.rank]
    return np.zeros_like(own), np.zeros_like(own)
    ### END SOLUTION


def sharded_adam_step(
    worker: Worker,
    weights: np.ndarray,
    gradient: np.ndarray,
    state: tuple[np.ndarray, np.ndarray],
    step: int,
    lr: float = 1e-3,
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return all weights and this worker's state after one step of Adam.

    Each worker gets its part of the mean gradient, moves its part of the weights by
    ``adam_step``, and the parts are joined. Nobody ever has the whole mean gradient.
    What a worker sends is as much as in one all-reduce.

    Args:
        worker: The worker that calls this. All workers call it at once.
        weights: All weights, as one array of one axis; the same at each worker. They
            stay as they are.
        gradient: That of this worker's own examples, of the same size. All workers have
            equally many examples.
        state: This worker's part of Adam's running means, mean and square.
        step: The number of this step; the first is 1.
        lr: The learning rate.

    Returns:
        All weights, the same at each worker, and the new mean and square of this
        worker's part.
    """
    ### BEGIN SOLUTION
    own = np.array_split(weights, worker.workers)[worker.rank]
    slope = reduce_scatter(worker, gradient) / worker.workers
    own, *means = training.adam_step(own, slope, *state, step, lr)
    return all_gather(worker, own), (means[0], means[1])
    ### END SOLUTION
