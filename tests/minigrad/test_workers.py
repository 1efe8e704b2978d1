"""Many workers: sums in a ring, steps that are shared out, and workers that wait in vain."""

import itertools
import threading

import numpy as np
import pytest

from minigrad import training, workers
from minigrad.errors import WorkerError


@pytest.mark.parametrize(("count", "size"), [*itertools.product([1, 2, 3, 5, 8], [0, 1, 7, 40])])
def test_all_reduce_is_the_sum(count, size):
    """All workers get the same bits, which are the sum; what each sends is 2 (n - 1) parts."""
    given = np.random.default_rng(size).normal(size=(count, size)).astype(np.float32)
    kept = given.copy()

    def work(worker, array):
        return workers.all_reduce(worker, array), worker.messages, worker.sent

    found = workers.run(count, work, given)
    for total, messages, sent in found:
        np.testing.assert_allclose(total, given.sum(0), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(total, found[0][0])
        assert (total.dtype, messages) == (np.float32, 2 * (count - 1))
        largest = -(-size // count)
        assert sent <= 2 * (count - 1) * largest * 4
    assert sum(sent for _, _, sent in found) == 2 * (count - 1) * size * 4
    np.testing.assert_array_equal(given, kept)


def test_all_reduce_keeps_shapes():
    """Arrays with two axes and with none are added up, too."""
    found = workers.run(3, workers.all_reduce, [np.full((2, 2), 1.0 + rank) for rank in range(3)])
    assert [each.tolist() for each in found] == [[[6.0, 6.0], [6.0, 6.0]]] * 3
    assert workers.run(2, workers.all_reduce, [np.array(1.0), np.array(2.0)])[1].shape == ()


@pytest.mark.parametrize("shapes", [[(3,), (2,)], [(2,), (1,)], [(1,), ()], [(2, 2), (4,)], [(3,), (3,), (5,)]])
def test_unequal_shapes_are_refused(shapes):
    """One sentence names a worker and both shapes, also where NumPy would add them without a word."""
    with pytest.raises(ValueError, match="worker ") as refused:
        workers.run(len(shapes), workers.all_reduce, [np.ones(each) for each in shapes])
    said = str(refused.value)
    odd = len(shapes) - 1
    assert f"worker {odd} one of shape {shapes[odd]}" in said and f"has an array of shape {shapes[0]}" in said


def test_shapes_may_change_from_sum_to_sum():
    """What one worker adds up next is not compared with what another adds up still."""

    def work(worker, array):
        sums = [workers.all_reduce(worker, array[:size]) for size in (3, 1, 2)]
        return [each.tolist() for each in sums]

    assert workers.run(3, work, np.ones((3, 3))) == [[[3.0] * 3, [3.0], [3.0] * 2]] * 3


def test_mean_gradients_are_those_of_all_examples():
    """Over any shares, of whom some have no example, they are those of one worker, to 1e-12."""
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=3)

    def gradients(x, y):
        with np.errstate(invalid="ignore", divide="ignore"):
            return [np.divide(2.0 * (x @ w - y) @ x, len(x)), np.asarray(np.divide(((x @ w - y) ** 2).sum(), len(x)))]

    for cuts in ([7], [1, 1, 19], [0, 13, 20]):
        shares = list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))
        counts = [len(share) for share, _ in shares]
        found = workers.run(len(counts), workers.mean_gradients, [gradients(*each) for each in shares], counts)
        for means in found:
            for seen, wanted in zip(means, gradients(x, y), strict=True):
                np.testing.assert_allclose(seen, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_sharded_steps_are_those_of_one_worker(count):
    """Five steps with parts of unequal sizes, some of them empty, move the weights as one worker does, to 1e-12."""
    rng = np.random.default_rng(1)
    weights, gradients = rng.normal(size=5), rng.normal(size=(5, count, 5))

    def work(worker):
        now, state = weights, workers.optimizer_state(worker, weights)
        for t, each in enumerate(gradients, 1):
            now, state = workers.sharded_adam_step(worker, now, each[worker.rank], state, t, 0.1)
        return now, sum(part.nbytes for part in state)

    wanted, mean, square = weights, np.zeros(5), np.zeros(5)
    for t, each in enumerate(gradients.mean(1), 1):
        wanted, mean, square = training.adam_step(wanted, each, mean, square, t, 0.1)
    found = workers.run(count, work)
    for now, _ in found:
        np.testing.assert_allclose(now, wanted, rtol=0, atol=1e-12)
    assert sum(held for _, held in found) == 2 * weights.nbytes


def test_schedule_of_nothing():
    """Without gradients there are no buckets, and nothing travels."""
    assert workers.buckets([], 8) == []
    assert workers.schedule([], [], [], float) == []


def test_waiting_in_vain_is_told():
    """Workers that wait for each other, or for one that has ended, raise instead of waiting for ever."""
    with pytest.raises(WorkerError, match="worker 0 waits for an array that worker 2 does not send"):
        workers.run(3, lambda worker: worker.receive())
    with pytest.raises(WorkerError, match="worker 1 waits for an array that worker 0 does not send"):
        workers.run(2, lambda worker: worker.rank and worker.receive())


def test_arrays_that_nobody_receives_are_told():
    """An array that is left over would be read by the next all-reduce as one of its own."""
    with pytest.raises(WorkerError, match="worker 0 did not receive 1 of the arrays"):
        workers.run(2, lambda worker: worker.send(np.ones(1)) if worker.rank else None)


def test_an_error_ends_all_workers():
    """The error of the worker that failed is raised, not that of those who waited for it; no thread is left."""

    def work(worker):
        if worker.rank == 2:
            raise KeyError("here")
        worker.receive()

    before = threading.active_count()
    with pytest.raises(KeyError, match="here"):
        workers.run(4, work)
    assert threading.active_count() == before


def test_what_is_sent_is_a_copy():
    """A worker may change its array after sending it."""

    def work(worker):
        array = np.ones(2)
        worker.send(array)
        array[:] = 5.0
        return worker.receive().tolist()

    assert workers.run(2, work) == [[1.0, 1.0]] * 2
