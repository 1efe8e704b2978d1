"""Hidden tests of many workers: what each of them returns, and what it sends."""

import functools

import numpy as np
import pytest

from autograder import expect

ring = functools.partial(pytest.mark.exercise, "workers.ring")
mean = functools.partial(pytest.mark.exercise, "workers.mean_gradients")
plan = functools.partial(pytest.mark.exercise, "workers.schedule")
shard = functools.partial(pytest.mark.exercise, "workers.sharded_adam_step")


# --- a ring ---------------------------------------------------------------------------------------------------------


def in_ring(mg, name, arrays):
    """Let workers call one half of an all-reduce; return what each returns, and whether an array was changed."""
    given = [np.array(each) for each in arrays]
    found = mg.workers.run(len(given), getattr(mg.workers, name), given)
    stayed = all(np.array_equal(each, old) for each, old in zip(given, arrays, strict=True))
    return [np.asarray(each).tolist() for each in found], stayed


def alone(mg, name, rank, workers, array, received):
    """Let one worker call it, with what the others send it written down; return what it sends and what it returns."""
    sent: list[object] = []
    waiting = [np.array(each) for each in received]
    worker = mg.workers.Worker(rank, workers, sent.append, lambda: waiting.pop(0))
    found = getattr(mg.workers, name)(worker, np.array(array))
    return [np.asarray(each).tolist() for each in sent], np.asarray(found).tolist()


def powers(workers, size):
    """Return an array for each worker, in whose sums one sees who has added what."""
    return [(np.arange(size) + 1.0) * 10.0**rank for rank in range(workers)]


def parts(arrays):
    """Return the parts of the arrays' sum."""
    return [each.tolist() for each in np.array_split(np.sum(arrays, 0), len(arrays))]


@ring(group="sums", because="workers.reduce_scatter: 'Return one part of the sum of all workers' arrays'")
def test_every_part_is_complete(student):
    """Five workers: each part has the numbers of all of them."""
    arrays = powers(5, 10)
    expect(
        student(in_ring, "reduce_scatter", arrays)[0],
        parts(arrays),
        hint="the parts come together in worker.workers - 1 rounds",
        misconception="last-round-missing",
    )


@ring(group="sums", because="workers.reduce_scatter: 'It stays as it is.'")
def test_array_stays(student):
    """The arrays that the workers were given are not changed."""
    expect(
        student(in_ring, "reduce_scatter", powers(3, 6))[1],
        True,
        hint="parts are views of the array: += on them changes it",
        misconception="changed-in-place",
    )


@ring(group="places", because="workers.reduce_scatter: 'part number `worker.rank`'")
def test_part_of_the_rank(student):
    """Of three workers, the one of rank 0 ends with the first part."""
    arrays = powers(3, 3)
    expect(
        student(in_ring, "reduce_scatter", arrays)[0],
        parts(arrays),
        hint="begin with the part of number rank - 1: it travels on, and after the last round yours has come",
        misconception="part-of-the-next",
    )


@ring(group="places", because="workers.reduce_scatter: 'Some parts may have one element more than others'")
def test_unequal_parts(student):
    """Seven numbers among three workers, and two among three."""
    for size in (7, 2):
        arrays = powers(3, size)
        expect(
            student(in_ring, "reduce_scatter", arrays)[0],
            parts(arrays),
            hint="np.array_split cuts any size",
            misconception="equal-parts-only",
        )


@ring(group="gathering", because="workers.all_gather: 'joined in the order of their ranks'")
def test_in_order_of_ranks(student):
    """Parts of different sizes are joined in the order of ranks at each of four workers."""
    given = [np.array([1.0]), np.array([2.0, 3.0]), np.array([4.0]), np.array([5.0, 6.0])]
    expect(
        student(in_ring, "all_gather", given)[0],
        [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 4,
        hint="what comes in round k began at rank - k",
        misconception="order-of-arrival",
    )


@ring(group="gathering", because="workers.all_gather: 'and after that what it has received in the round before'")
def test_parts_are_sent_on(student):
    """Worker 2 of 3 sends its own part, then the one that it has received."""
    expect(
        student(alone, "all_gather", 2, 3, [7.0, 8.0], [[4.0], [1.0, 2.0]]),
        ([[7.0, 8.0], [4.0]], [1.0, 2.0, 4.0, 7.0, 8.0]),
        hint="a part that is not sent on never comes to the worker after the next",
        misconception="own-part-again",
    )


@ring(group="messages", because="workers.reduce_scatter: 'what has come together of its sum so far'")
def test_what_each_round_sends(student):
    """Worker 1 of 3 sends its own numbers of part 0, then those of part 2 with what has come of it."""
    expect(
        student(alone, "reduce_scatter", 1, 3, [1.0, 2.0, 3.0], [[30.0], [220.0]]),
        ([[1.0], [33.0]], [222.0]),
        hint="no message is longer than a part",
        misconception="whole-arrays-travel",
    )


@ring(group="messages", because="workers.all_gather: 'in each of ``worker.workers - 1`` rounds'")
def test_rounds(student):
    """With two workers there is one round in each half, and with one worker none."""
    found = [
        student(alone, "reduce_scatter", 0, 2, [1.0, 2.0], [[10.0]])[0],
        student(alone, "all_gather", 0, 2, [1.0], [[2.0], [1.0]])[0],
        student(alone, "all_gather", 0, 1, [1.0], [[1.0]])[0],
    ]
    expect(
        found,
        [[[2.0]], [[1.0]], []],
        hint="after worker.workers - 1 rounds everyone has everything",
        misconception="a-round-too-many",
    )


# --- one step, shared out -------------------------------------------------------------------------------------------


def shared(mg, gradients, examples):
    """Return each worker's mean gradients, with their shapes and types, and the messages that it sent."""

    def work(worker, own, count):
        found = mg.workers.mean_gradients(worker, own, count)
        return [[list(np.shape(each)), str(each.dtype), np.asarray(each).tolist()] for each in found], worker.messages

    return mg.workers.run(len(gradients), work, gradients, examples)


def values(found):
    """Return the numbers alone."""
    return [[each[2] for each in gradients] for gradients, _ in found]


@mean(group="mean", because="workers.mean_gradients: 'Return the gradients of the mean loss of all workers' examples.'")
def test_unequal_shares(student):
    """A worker with three examples counts three times as much as one with a single example."""
    gradients = [[np.array([1.0, 2.0])], [np.array([5.0, -2.0])], [np.array([0.0, 8.0])]]
    expect(
        values(student(shared, gradients, [3, 1, 4])),
        [[[(3.0 + 5.0) / 8, (6.0 - 2.0 + 32.0) / 8]]] * 3,
        hint="a mean times its number of examples is a sum, and sums may be added",
        misconception="mean-of-means",
    )


@mean(group="mean", because="workers.mean_gradients: 'the gradients of the mean loss'")
def test_equal_shares(student):
    """Two workers with two examples each, of the slopes 1 and 3: the mean is 2."""
    expect(
        values(student(shared, [[np.array([1.0])], [np.array([3.0])]], [2, 2])),
        [[[2.0]]] * 2,
        hint="divide by the number of all examples",
        misconception="never-divided",
    )


@mean(group="form", because="workers.mean_gradients: 'Arrays of the same shapes and of the same type'")
def test_shapes(student):
    """The means of a number without axes, of a table and of a vector keep their shapes and their order."""
    given = [np.array(2.0), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0])]
    others = [np.array(each + 2.0) for each in given]
    expect(
        [[each[0], each[2]] for each in student(shared, [given, others], [1, 1])[0][0]],
        [[[], 3.0], [[2, 2], [[2.0, 3.0], [4.0, 5.0]]], [[1], [6.0]]],
        hint="reshape each piece as its gradient was",
        misconception="shapes-lost",
    )


@mean(group="form", because="workers.mean_gradients: 'of the same type, equal at all workers'")
def test_type(student):
    """Gradients of float32 stay float32: in float64 twice as many bytes would travel."""
    given = [np.ones(3, np.float32)]
    expect(
        [each[1] for each in student(shared, [given, given], [1, 2])[0][0]],
        ["float32"],
        hint="np.concatenate of float32 and of a list of ints is float64",
        misconception="double-precision",
    )


@mean(group="form", because="workers.mean_gradients: 'They stay as they are.'")
def test_gradients_stay(student):
    """The gradients that were given are not changed."""

    def observe(mg):
        gradients = [[np.array([1.0, 2.0])], [np.array([3.0, 4.0])]]
        mg.workers.run(2, mg.workers.mean_gradients, gradients, [2, 3])
        return [each[0].tolist() for each in gradients]

    expect(
        student(observe),
        [[1.0, 2.0], [3.0, 4.0]],
        hint="gradient *= examples changes the array of whoever called",
        misconception="changed-in-place",
    )


@mean(group="messages", because="workers.mean_gradients: 'in one ``all_reduce`` of one array'")
def test_one_array_travels(student):
    """Three gradients of four workers travel in six messages each, those of one all-reduce."""
    given = [np.ones(5), np.ones((2, 3)), np.ones(1)]
    expect(
        [messages for _, messages in student(shared, [given] * 4, [1] * 4)],
        [6] * 4,
        hint="join all gradients and the number of examples first",
        misconception="one-all-reduce-each",
    )


@mean(
    group="nothing", because="workers.mean_gradients: 'With 0 examples its gradients do not count, whatever they hold'"
)
def test_no_examples(student):
    """A worker without examples, whose means are nan, changes nothing."""
    gradients = [[np.array([1.0, 2.0])], [np.array([np.nan, np.nan])], [np.array([4.0, 5.0])]]
    expect(
        values(student(shared, gradients, [1, 0, 2])),
        [[[3.0, 4.0]]] * 3,
        hint="nan times 0 is nan",
        misconception="nan-of-nothing",
    )


# --- while the backward pass goes on --------------------------------------------------------------------------------


def grouped(mg, sizes, most):
    """Return buckets."""
    return [list(each) for each in mg.workers.buckets(sizes, most)]


def planned(mg, seconds, sizes, groups, start, rate):
    """Return begins and ends, where an all-reduce costs `start` and its bytes over `rate`."""
    found = mg.workers.schedule(seconds, sizes, groups, lambda size: start + size / rate)
    return [list(each) for each in found]


@plan(group="buckets", because="workers.buckets: 'as long as that has at most `most` bytes with it'")
def test_full_to_the_last_byte(student):
    """Sizes of 2, 4, 1, 2 and 3, at most 6: 2 and 4 fill a bucket, 1, 2 and 3 as well."""
    expect(
        student(grouped, [2, 4, 1, 2, 3], 6),
        [[0, 1], [2, 3, 4]],
        hint="a bucket of exactly `most` bytes is allowed",
        misconception="never-quite-full",
    )


@plan(group="buckets", because="workers.buckets: 'If not, it begins a new bucket.'")
def test_never_over_full(student):
    """Sizes of 4, 3 and 3, at most 6: the second one would be too much beside the first."""
    expect(
        student(grouped, [4, 3, 3, 5], 6),
        [[0], [1, 2], [3]],
        hint="look before you put it in",
        misconception="closed-too-late",
    )


@plan(group="buckets", because="workers.buckets: 'a gradient that is larger than `most` is in a bucket alone'")
def test_large_gradients(student):
    """Of sizes above `most` the first begins the first bucket, and no bucket is empty."""
    expect(
        student(grouped, [9, 1, 8, 2, 2], 6),
        [[0], [1], [2], [3, 4]],
        hint="there is no bucket before the first one that could be closed",
        misconception="empty-bucket-first",
    )


@plan(group="begin", because="workers.schedule: 'as soon as the last of its gradients is there'")
def test_waits_for_its_last(student):
    """A bucket of gradients that take 1, 2 and 4 seconds begins after 7."""
    expect(
        student(planned, [1.0, 2.0, 4.0, 8.0], [1, 1, 2, 4], [[0, 1, 2], [3]], 0.5, 4.0),
        [[7.0, 8.5], [15.0, 16.5]],
        hint="ready is the running sum of the seconds, at the bucket's last index",
        misconception="waits-for-the-first",
    )


@plan(group="begin", because="workers.schedule: 'The backward pass begins at 0 and never waits.'")
def test_does_not_wait_for_the_end(student):
    """Single gradients travel while the others are still computed."""
    expect(
        student(planned, [0.5, 1.0, 2.0], [2, 2, 2], [[0], [1], [2]], 0.0, 4.0),
        [[0.5, 1.0], [1.5, 2.0], [3.5, 4.0]],
        hint="only the bucket's own gradients count",
        misconception="after-the-backward-pass",
    )


@plan(group="begin", because="workers.schedule: 'there is one connection, and buckets travel in order'")
def test_one_connection(student):
    """A bucket that is ready while another one travels begins when that has ended."""
    expect(
        [begin for begin, _ in student(planned, [1.0, 1.0, 1.0], [8, 8, 8], [[0], [1], [2]], 0.0, 2.0)],
        [1.0, 5.0, 9.0],
        hint="the later of two times: when it is ready, and when the one before has ended",
        misconception="several-at-once",
    )


@plan(group="end", because="workers.schedule: '``cost(bytes)`` is how many seconds an all-reduce of that size takes'")
def test_one_cost_for_a_bucket(student):
    """Three gradients in one bucket pay the delay of 2 seconds once."""
    expect(
        student(planned, [1.0, 1.0, 1.0], [4, 8, 4], [[0, 1, 2]], 2.0, 4.0),
        [[3.0, 9.0]],
        hint="cost(sum of the sizes), not the sum of costs",
        misconception="cost-of-each",
    )


@plan(group="end", because="workers.schedule: 'For each bucket its begin and its end, in seconds.'")
def test_end_follows_the_begin(student):
    """A bucket that had to wait ends later by as much."""
    expect(
        [end for _, end in student(planned, [1.0, 1.0], [8, 4], [[0], [1]], 1.0, 4.0)],
        [4.0, 6.0],
        hint="the end is the begin, not the time when it was ready, plus the cost",
        misconception="wait-forgotten",
    )


# --- a part of the optimizer ----------------------------------------------------------------------------------------


def states(mg, size, dtype, workers):
    """Return the sizes, types and numbers of each worker's first state."""
    weights = np.ones(size, dtype)
    found = mg.workers.run(workers, mg.workers.optimizer_state, [weights] * workers)
    return [[[str(each.dtype), each.tolist()] for each in state] for state in found]


def trained(mg, weights, gradients, workers):
    """Take a step for each list of the workers' gradients; return weights, state and bytes sent of each worker."""

    def work(worker):
        now = np.array(weights)
        parts = np.array_split(now, workers)[worker.rank]
        state = np.zeros_like(parts), np.zeros_like(parts)
        for t, each in enumerate(gradients, 1):
            now, state = mg.workers.sharded_adam_step(worker, now, np.array(each[worker.rank]), state, t, 0.1)
        return np.asarray(now).tolist(), [np.asarray(part).tolist() for part in state], worker.sent

    return mg.workers.run(workers, work)


def adam(weights, gradients):
    """Return weights, mean and square after a step for each gradient."""
    w, mean, square = np.array(weights), np.zeros(len(weights)), np.zeros(len(weights))
    for t, each in enumerate(gradients, 1):
        mean = 0.9 * mean + 0.1 * np.array(each)
        square = 0.999 * square + 0.001 * np.array(each) ** 2
        w = w - 0.1 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return w, mean, square


WEIGHTS = [1.0, -2.0, 3.0, 0.5, 4.0]
GRADIENTS = [
    [[1.0, 2.0, -3.0, 4.0, 0.5], [3.0, -6.0, 1.0, 0.0, 0.5]],
    [[-1.0, 0.5, 2.0, 1.0, 7.0], [0.0, 4.0, 2.0, -8.0, -1.0]],
    [[0.5, 0.5, 0.5, 2.0, -3.0], [0.25, -1.0, 6.0, 1.0, 0.0]],
]


@shard(group="state", because="workers.optimizer_state: 'No worker keeps more than its part.'")
def test_state_of_a_part(student):
    """Of seven weights and three workers, the workers keep the running means of three, two and two."""
    expect(
        student(states, 7, "float64", 3),
        [[["float64", [0.0] * size]] * 2 for size in (3, 2, 2)],
        hint="np.array_split(weights, worker.workers)[worker.rank]",
        misconception="whole-state",
    )


@shard(group="state", because="workers.optimizer_state: 'of the weights' type'")
def test_type_of_the_state(student):
    """The running means of weights of float32 are float32."""
    expect(
        [each[0] for each in student(states, 4, "float32", 2)[0]],
        ["float32"] * 2,
        hint="np.zeros makes float64; np.zeros_like keeps the type",
        misconception="double-precision",
    )


@shard(group="weights", because="workers.sharded_adam_step: 'Each worker gets its part of the mean gradient'")
def test_gradients_of_all_workers(student):
    """After one step each weight has moved as one worker would move it by the mean gradient."""
    wanted = adam(WEIGHTS, np.mean(GRADIENTS[:1], 1))[0].tolist()
    expect(
        [each[0] for each in student(trained, WEIGHTS, GRADIENTS[:1], 2)],
        [wanted] * 2,
        hint="the gradient of one worker is not that of all: reduce_scatter adds them up",
        misconception="own-gradient-only",
    )


@shard(group="weights", because="workers.sharded_adam_step: 'All weights, the same at each worker'")
def test_all_weights_at_each_worker(student):
    """Each worker has all five weights after the step."""
    expect(
        [len(each[0]) for each in student(trained, WEIGHTS, GRADIENTS[:1], 2)],
        [5, 5],
        hint="all_gather joins the parts that were moved",
        misconception="parts-not-gathered",
    )


@shard(group="weights", because="workers.sharded_adam_step: 'The number of this step; the first is 1.'")
def test_three_steps(student):
    """Three steps, with different gradients, are those of Adam on one worker."""
    wanted = adam(WEIGHTS, np.mean(GRADIENTS, 1))[0].tolist()
    expect(
        [each[0] for each in student(trained, WEIGHTS, GRADIENTS, 2)],
        [wanted] * 2,
        hint="adam_step corrects its means by the number of the step",
        misconception="always-the-first-step",
    )


@shard(group="weights", because="workers.sharded_adam_step: 'They stay as they are.'")
def test_weights_stay(student):
    """The weights that were given are not changed."""

    def observe(mg):
        weights = [np.array([1.0, 2.0]), np.array([1.0, 2.0])]

        def work(worker, own):
            mg.workers.sharded_adam_step(worker, own, np.ones(2), (np.zeros(1), np.zeros(1)), 1, 0.5)

        mg.workers.run(2, work, weights)
        return [each.tolist() for each in weights]

    expect(
        student(observe),
        [[1.0, 2.0]] * 2,
        hint="a part is a view of the weights",
        misconception="changed-in-place",
    )


@shard(group="means", because="workers.sharded_adam_step: 'the new mean and square of this worker's part'")
def test_means_of_the_mean_gradient(student):
    """After three steps each worker has its part of the running means of the mean gradient."""
    _, means, squares = adam(WEIGHTS, np.mean(GRADIENTS, 1))
    wanted = [[means[part].tolist(), squares[part].tolist()] for part in (slice(3), slice(3, 5))]
    expect(
        [each[1] for each in student(trained, WEIGHTS, GRADIENTS, 2)],
        wanted,
        hint="reduce_scatter gives a sum: divide by worker.workers",
        misconception="sum-of-gradients",
    )


@shard(group="messages", because="workers.sharded_adam_step: 'What a worker sends is as much as in one all-reduce.'")
def test_bytes(student):
    """Four workers and eight weights of float64: each sends six parts of two numbers, 96 bytes."""
    gradients = [[[1.0] * 8] * 4]
    expect(
        [each[2] for each in student(trained, [1.0] * 8, gradients, 4)],
        [96] * 4,
        hint="the whole gradient is needed nowhere",
        misconception="gradient-all-reduced",
    )
