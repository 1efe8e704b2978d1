"""Visible tests of many workers, on arrays of few numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import workers
from minigrad.checks.blaming import blaming, called_by, fault_of
from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible

RING = "14 'A ring'"
HUNT = "14 'A hunt'"
STEP = "14 'One step, shared out'"
OVERLAP = "14 'While the backward pass goes on'"
OPTIMIZER = "14 'A part of the optimizer'"


def arrays(*rows: list[float]) -> list[np.ndarray]:
    """Return an array of float64 for each worker."""
    return [np.array(row, np.float64) for row in rows]


def as_lists(found: list[Any]) -> list[Any]:
    """Return what each worker returned, as lists."""
    return [np.asarray(each).tolist() for each in found]


# --- a ring ---------------------------------------------------------------------------------------------------------

TOO_FEW = "a round is missing: with n workers there are n - 1"
NOTHING_ADDED = "what is received is not added to: add your own numbers of the part that it is of"
OTHER_PART = (
    "numbers of several parts are added up: what is received is of the part before: add your numbers of that part"
)


@visible("workers.ring", RING)
def a_part_for_each(student: SimpleNamespace) -> None:
    """Worker 0 has [1, 2, 3], worker 1 [10, 20, 30], worker 2 [100, 200, 300]: the parts are [111], [222], [333]."""
    found = workers.run(3, student.reduce_scatter, arrays([1, 2, 3], [10, 20, 30], [100, 200, 300]))
    meanings = {
        ((333.0,), (111.0,), (222.0,)): "each worker ends with the part of the one before: "
        "begin with part rank - 1, one further on",
        ((222.0,), (333.0,), (111.0,)): "each worker ends with the part of the next one: "
        "begin with part rank - 1, one further back",
        ((202.0,), (33.0,), (110.0,)): TOO_FEW,
        ((10.0,), (200.0,), (3.0,)): NOTHING_ADDED,
        ((213.0,), (213.0,), (213.0,)): OTHER_PART,  # the numbers of one part, again and again
        ((211.0,), (223.0,), (313.0,)): OTHER_PART,  # of the part after
        ((123.0,), (312.0,), (231.0,)): OTHER_PART,  # of the part after, and from another one on
        ((311.0,), (221.0,), (323.0,)): OTHER_PART,  # of the worker's own part
    }
    expect(as_lists(found), [[111.0], [222.0], [333.0]], hint="worker r ends with part r of the sum", when=meanings)


@visible("workers.ring", RING)
def parts_of_unequal_sizes(student: SimpleNamespace) -> None:
    """Of [1, 2, 3] and [10, 20, 30], two workers get the parts [11, 22] and [33]."""
    given = arrays([1, 2, 3], [10, 20, 30])
    found = workers.run(2, student.reduce_scatter, given)
    meanings = {
        ((33.0,), (11.0, 22.0)): "each worker ends with the other's part",
        ((3.0,), (10.0, 20.0)): TOO_FEW,
        ((10.0, 20.0), (3.0,)): NOTHING_ADDED,
        ((13.0, 23.0), (13.0, 23.0)): OTHER_PART,
    }
    hint = "np.array_split makes the first parts one element longer"
    expect(as_lists(found), [[11.0, 22.0], [33.0]], hint=hint, when=meanings)
    expect(given[0].tolist(), [1.0, 2.0, 3.0], hint="+= changes the array that was given", of="worker 0's array")


@visible("workers.ring", RING)
def all_parts_in_order(student: SimpleNamespace) -> None:
    """Of the parts [1, 2], [3] and [4], each of three workers gets [1, 2, 3, 4]."""
    found = workers.run(3, student.all_gather, arrays([1, 2], [3], [4]))
    whose = "it is that of rank - 1 in the first round, of rank - 2 in the second"
    meanings = {
        ((1.0, 2.0, 4.0, 4.0), (1.0, 2.0, 3.0, 1.0, 2.0), (3.0, 3.0, 4.0)): "one's own part is sent in each round: "
        "send on what has just been received",
        (
            (1.0, 2.0, 4.0, 3.0),
            (4.0, 3.0, 1.0, 2.0),
            (3.0, 1.0, 2.0, 4.0),
        ): f"a part stands at the wrong place: {whose}",
        (
            (1.0, 2.0, 4.0, 3.0),
            (3.0, 1.0, 2.0, 4.0),
            (4.0, 3.0, 1.0, 2.0),
        ): f"the parts stand in the order in which they came; note whose part is received: {whose}",
    }
    hint = "a part belongs to the worker that began with it: one rank further back in each round"
    expect(as_lists(found), [[1.0, 2.0, 3.0, 4.0]] * 3, hint=hint, when=meanings)


@visible("workers.ring", RING)
def one_part_in_each_round(student: SimpleNamespace) -> None:
    """In each half each of four workers sends three arrays of 2 numbers, 48 bytes."""

    def sent(worker: workers.Worker, array: np.ndarray) -> list[int]:
        part = student.reduce_scatter(worker, array)
        half = [worker.messages, worker.sent]
        student.all_gather(worker, part)
        return [*half, worker.messages, worker.sent]

    found = workers.run(4, sent, list(np.ones((4, 8))))
    hint = (
        "messages and bytes after the first half, and after both: in each of n - 1 rounds one part, and no whole array"
    )
    meanings = {
        ((2, 32, 5, 80),) * 4: "reduce_scatter has 2 rounds here, one too few: 3 with 4 workers",
        ((4, 64, 7, 112),) * 4: "reduce_scatter has 4 rounds here, one too many: 3 with 4 workers",
        ((3, 48, 5, 80),) * 4: "all_gather has 2 rounds here, one too few: 3 with 4 workers",
        ((3, 48, 7, 112),) * 4: "all_gather has 4 rounds here, one too many: 3 with 4 workers",
        ((3, 192, 6, 240),)
        * 4: "reduce_scatter sends four times as much as it must: one part in each message, no whole array",
    }
    expect(found, [[3, 48, 6, 96]] * 4, hint=hint, of="what each worker has sent", when=meanings)


# --- a hunt ---------------------------------------------------------------------------------------------------------


def _backwards(worker: workers.Worker, array: np.ndarray) -> np.ndarray:
    """The numbers in the opposite order: other parts, and so other sums, as right."""
    return workers.all_reduce(worker, np.ravel(array)[::-1])[::-1].reshape(array.shape)


def _along_the_ring(worker: workers.Worker, array: np.ndarray) -> np.ndarray:
    last = worker.workers - 1
    so_far = array if worker.rank == 0 else worker.receive() + array
    if worker.rank < last:
        worker.send(so_far)
        so_far = worker.receive()
    if worker.rank != last - 1 and last:
        worker.send(so_far)
    return so_far


def _passed_around(worker: workers.Worker, array: np.ndarray) -> np.ndarray:
    total = passed = array
    for _ in range(worker.workers - 1):
        worker.send(passed)
        passed = worker.receive()
        total = total + passed
    return total


@visible("workers.is_ring", HUNT)
def right_rings_pass(student: SimpleNamespace) -> None:
    """The ring of the lesson passes, and so does one that gets the numbers in the opposite order."""
    of = "the verdict on a right function"
    hint = "this function is right: compare the sum up to rounding, and allow a part's bytes for a size rounded up"
    expect(bool(student.is_ring(workers.all_reduce)), True, hint=hint, of=of)
    expect(bool(student.is_ring(_backwards)), True, hint=hint, of=of)


@visible("workers.is_ring", HUNT)
def wrong_rings_are_refused(student: SimpleNamespace) -> None:
    """Two functions of the lesson are refused: the one that adds along the ring, and the first idea."""
    of = "the verdict on a wrong function"
    hint = "this function adds along the ring: with more than two workers, some send two whole arrays"
    expect(bool(student.is_ring(_along_the_ring)), False, hint=hint, of=of)
    hint = "this function lets each array travel round: its sums differ, and it sends n - 1 arrays"
    expect(bool(student.is_ring(_passed_around)), False, hint=hint, of=of)


# --- one step, shared out -------------------------------------------------------------------------------------------


def wrong_ring(student: SimpleNamespace) -> Expectation | None:
    """Return the fault of the notebook's two halves of an all-reduce, if the answer uses them."""
    asked = (getattr(student, name, None) for name in ("mean_gradients", "sharded_adam_step"))
    answer = next((each for each in asked if each is not None), None)
    if answer is None:
        return None
    scatter, gather = (getattr(workers, name) for name in ("reduce_scatter", "all_gather"))
    both = SimpleNamespace(
        reduce_scatter=called_by(answer, "reduce_scatter", workers) or scatter,
        all_gather=called_by(answer, "all_gather", workers) or gather,
    )
    tests = (a_part_for_each, parts_of_unequal_sizes, all_parts_in_order)
    return fault_of("workers.ring", both, tests)


@visible("workers.mean_gradients", STEP)
@blaming(wrong_ring)
def counted_by_examples(student: SimpleNamespace) -> None:
    """Worker 0 has three examples of the mean slope 1, worker 1 has one of the slope 5: both get the mean 2."""
    given = [[np.array([1.0])], [np.array([5.0])]]
    found = workers.run(2, student.mean_gradients, given, [3, 1])
    meanings = {
        (((3.0,),), ((3.0,),)): "this is the mean of the means: three examples count three times",
        (((6.0,),), ((6.0,),)): "this is the sum of the means",
        (((8.0,),), ((8.0,),)): "this is the sum over all examples: divide by how many they are",
        (((4.0,),), ((4.0,),)): "divide by the number of examples, which is 4, and not by that of workers",
    }
    hint = "(3 * 1 + 1 * 5) / 4"
    expect([as_lists(each) for each in found], [[[2.0]], [[2.0]]], hint=hint, when=meanings)


@visible("workers.mean_gradients", STEP)
@blaming(wrong_ring)
def shapes_stay(student: SimpleNamespace) -> None:
    """A single number and a table of float32 come back in their shapes, and as float32."""
    given = [[np.array(2.0, np.float32), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)] for _ in range(2)]
    found = workers.run(2, student.mean_gradients, given, [1, 2])[0]
    expect(as_lists(found), [2.0, [[1.0, 2.0], [3.0, 4.0]]], hint="cut the array at the sizes, then reshape")
    hint = "what is joined to an array of float32 must be float32 as well"
    expect([str(each.dtype) for each in found], ["float32"] * 2, hint=hint, of="the types")


@visible("workers.mean_gradients", STEP)
@blaming(wrong_ring)
def one_array_travels(student: SimpleNamespace) -> None:
    """Two gradients of two workers travel in two messages: one all-reduce."""

    def messages(worker: workers.Worker, gradients: list[np.ndarray]) -> int:
        student.mean_gradients(worker, gradients, 2)
        return worker.messages

    found = workers.run(2, messages, [arrays([1, 2], [3]), arrays([1, 2], [3])])
    expect(found, [2, 2], hint="join all gradients and the number of examples before all_reduce", of="messages sent")


# --- while the backward pass goes on --------------------------------------------------------------------------------


@visible("workers.schedule", OVERLAP)
def full_buckets(student: SimpleNamespace) -> None:
    """With at most 6 bytes, sizes of 9, 4, 2, 5 and 3 make the buckets 0, 1 2, 3 and 4."""
    meanings = {
        ((0,), (1,), (2,), (3,), (4,)): "a bucket may be full to the last byte: 4 + 2 fit",
        ((0,), (1, 2), (3, 4)): "a bucket is closed before it has more than `most` bytes: 5 + 3 are too many",
        ((), (0,), (1, 2), (3,), (4,)): "the first gradient begins the first bucket; no bucket is empty",
    }
    hint = "9 is alone, since it fits nowhere; 4 + 2 fit into 6; 5 + 3 do not"
    expect(student.buckets([9, 4, 2, 5, 3], 6), [[0], [1, 2], [3], [4]], hint=hint, when=meanings)


@visible("workers.schedule", OVERLAP)
def buckets_begin_early(student: SimpleNamespace) -> None:
    """Four gradients of one second each, in pairs that travel for half a second: from 2 to 2.5 and from 4 to 4.5."""
    found = student.schedule([1.0] * 4, [4] * 4, [[0, 1], [2, 3]], lambda size: size / 16)
    meanings = {
        ((4.0, 4.5), (4.5, 5.0)): "the first bucket does not wait for the end of the backward pass",
        ((1.0, 1.5), (3.0, 3.5)): "a bucket waits for its last gradient",
    }
    expect(as_lists(found), [[2.0, 2.5], [4.0, 4.5]], hint="a bucket is ready with its last gradient", when=meanings)


@visible("workers.schedule", OVERLAP)
def one_after_the_other(student: SimpleNamespace) -> None:
    """Two gradients of one second, each of which travels for three: from 1 to 4, and from 4 to 7."""
    found = student.schedule([1.0, 1.0], [8, 8], [[0], [1]], lambda size: 1.0 + size / 4)
    meanings = {((1.0, 4.0), (2.0, 5.0)): "there is one connection: the second waits until the first has ended"}
    expect(as_lists(found), [[1.0, 4.0], [4.0, 7.0]], hint="it begins at the later of two times", when=meanings)


# --- a part of the optimizer ----------------------------------------------------------------------------------------


@visible("workers.sharded_adam_step", OPTIMIZER)
def a_part_of_the_state(student: SimpleNamespace) -> None:
    """Of five weights of float32, worker 0 of two keeps the means of three, worker 1 those of two."""
    weights = np.ones(5, np.float32)
    found = workers.run(2, student.optimizer_state, [weights] * 2)
    hint = "zeros like the worker's part: np.array_split(weights, worker.workers)[worker.rank]"
    expect([as_lists(each) for each in found], [[[0.0] * 3] * 2, [[0.0] * 2] * 2], hint=hint)
    expect(str(np.asarray(found[0][0]).dtype), "float32", hint="np.zeros_like keeps the type", of="the type")


@visible("workers.sharded_adam_step", OPTIMIZER)
@blaming(wrong_ring)
def first_step(student: SimpleNamespace) -> None:
    """In the first step each weight moves by lr against its mean gradient: 1, 1, 1 become 0.5, 0.5, 1.5."""
    gradients, zeros = arrays([8, 0, -6], [2, 4, 2]), [(np.zeros(2),) * 2, (np.zeros(1),) * 2]
    found = workers.run(2, student.sharded_adam_step, [np.ones(3)] * 2, gradients, zeros, [1] * 2, [0.5] * 2)
    hint = "the mean gradient is (5, 2, -2); each worker moves its part, then the parts are gathered"
    weights, means = [each[0] for each in found], [each[1][0] for each in found]
    expect([np.round(each, 6).tolist() for each in weights], [[0.5, 0.5, 1.5]] * 2, hint=hint, of="the weights")
    meanings = {
        ((1.0, 0.4), (-0.4,)): "the gradient is the mean over workers: divide the sum by worker.workers",
    }
    hint = "the mean is a tenth of the worker's part of (5, 2, -2)"
    expect(
        [np.round(each, 6).tolist() for each in means], [[0.5, 0.2], [-0.2]], hint=hint, when=meanings, of="the mean"
    )


@visible("workers.sharded_adam_step", OPTIMIZER)
@blaming(wrong_ring)
def no_more_than_an_all_reduce(student: SimpleNamespace) -> None:
    """With two workers and four weights each worker sends two parts of two numbers, 32 bytes."""

    def sent(worker: workers.Worker) -> int:
        state = np.zeros(2), np.zeros(2)
        student.sharded_adam_step(worker, np.ones(4), np.ones(4), state, 1, 0.5)
        return worker.sent

    hint = "reduce_scatter of the gradient and all_gather of the weights; nothing else travels"
    expect(workers.run(2, sent), [32, 32], hint=hint, of="the bytes sent")
