"""Hidden tests of a student's test of rings: right functions must pass, and wrong ones must not."""

import functools

import pytest

from autograder import Hunt, expect

is_ring = functools.partial(pytest.mark.exercise, "workers.is_ring")

BOTH_HALVES = """
reduce_scatter = all_gather = None


def all_reduce(worker, array):
    return all_gather(worker, reduce_scatter(worker, np.ravel(array))).reshape(np.shape(array))
"""
"""The answers define both halves; those written below define `all_reduce` in place of this one."""

RINGS = Hunt("workers.ring", "workers.is_ring(all_reduce)", given=BOTH_HALVES)

RING = """
def send(worker, array, size):
    worker.send(array)


def receive(worker, size):
    return worker.receive()


def scattered(worker, parts):
    n, rank = worker.workers, worker.rank
    parts = [each.copy() for each in parts]
    for step in range(n - 1):
        i, j = (rank - step - 1) % n, (rank - step - 2) % n
        send(worker, parts[i], len(parts[0]))
        parts[j] += receive(worker, len(parts[0]))[: len(parts[j])]
    return parts


def gathered(worker, parts):
    n, rank, sizes = worker.workers, worker.rank, [len(each) for each in parts]
    for step in range(n - 1):
        i, j = (rank - step) % n, (rank - step - 1) % n
        send(worker, parts[i], sizes[0])
        parts[j] = receive(worker, sizes[0])[: sizes[j]]
    return parts


def in_ring(worker, array):
    return gathered(worker, scattered(worker, np.array_split(array.ravel(), worker.workers)))


def all_reduce(worker, array):
    return np.concatenate(in_ring(worker, array)).reshape(array.shape)
"""

IN_COLUMNS = """
def all_reduce(worker, array):
    n, flat = worker.workers, np.array(array.ravel())
    for step in range(2 * n - 2):
        worker.send(flat[(worker.rank - step) % n :: n])
        place = slice((worker.rank - step - 1) % n, None, n)
        passed = worker.receive()
        flat[place] = passed + flat[place] if step < n - 1 else passed
    return flat.reshape(array.shape)
"""

PADDED = (
    RING
    + """
def send(worker, array, size):
    worker.send(np.append(array, np.zeros(size - len(array), array.dtype)))
"""
)

IN_TWO_MESSAGES = (
    RING
    + """
def send(worker, array, size):
    for half in np.array_split(array, 2):
        worker.send(half)


def receive(worker, size):
    return np.concatenate([worker.receive(), worker.receive()])
"""
)

TWICE_IF_ALONE = """
def all_reduce(worker, array):
    n, rank = worker.workers, worker.rank
    parts = np.array_split(array.ravel(), n)
    total = parts[rank - 1] + parts[rank - 2] if n == 1 else parts[rank - 1]
    for back in range(2, n + 1):
        worker.send(total)
        total = worker.receive() + parts[rank - back]
    parts[rank] = total
    for back in range(n - 1):
        worker.send(parts[rank - back])
        parts[(rank - back - 1) % n] = worker.receive()
    return np.concatenate(parts).reshape(array.shape)
"""

SENT_IN_FLOAT32 = (
    RING
    + """
def all_reduce(worker, array):
    parts = scattered(worker, np.array_split(array.ravel(), worker.workers))
    own = parts[worker.rank]
    parts[worker.rank] = own.astype(np.float32)
    parts = gathered(worker, parts)
    parts[worker.rank] = own
    return np.concatenate(parts).astype(array.dtype).reshape(array.shape)
"""
)

LAST_WORKER_KEEPS_ITS_OWN = (
    RING
    + """
def all_reduce(worker, array):
    parts = in_ring(worker, array)
    if worker.rank == worker.workers - 1 > 0:
        parts[0] = array.ravel()[: len(parts[0])]
    return np.concatenate(parts).reshape(array.shape)
"""
)

ALONG = """
def along(worker, array, first):
    n, place = worker.workers, (worker.rank - first) % worker.workers
    total = array.copy() if place == 0 else worker.receive() + array
    if place < n - 1:
        worker.send(total)
        total = worker.receive()
    if n > 1 and place != n - 2:
        worker.send(total)
    return total
"""

ALONG_FROM_0 = ALONG + "\n\ndef all_reduce(worker, array):\n    return along(worker, array, 0)\n"
ALONG_FROM_1 = ALONG + "\n\ndef all_reduce(worker, array):\n    return along(worker, array, 1 % worker.workers)\n"

TWICE_ROUND = """
def all_reduce(worker, array):
    if worker.workers == 1:
        return array.copy()
    if worker.rank == 0:
        worker.send(array)
        total = worker.receive()
        worker.send(total)
        return worker.receive()
    worker.send(worker.receive() + array)
    total = worker.receive()
    worker.send(total)
    return total
"""

AS_MANY_PARTS_AS_ELEMENTS = """
def all_reduce(worker, array):
    n, rank = worker.workers, worker.rank
    parts = [each.copy() for each in np.array_split(array.ravel(), min(n, array.size))]
    for step in range(n - 1):
        worker.send(parts[(rank - step - 1) % n])
        parts[(rank - step - 2) % n] += worker.receive()
    for step in range(n - 1):
        worker.send(parts[(rank - step) % n])
        parts[(rank - step - 1) % n] = worker.receive()
    return np.concatenate(parts).reshape(array.shape)
"""

WHAT_IS_LEFT_OVER_STAYS = (
    RING
    + """
def all_reduce(worker, array):
    flat, n = array.ravel(), worker.workers
    divided = max(1, array.size // n) * n
    return np.append(np.concatenate(in_ring(worker, flat[:divided])), flat[divided:]).reshape(array.shape)
"""
)

ARRAY_KEEPS_ITS_PART = (
    RING
    + """
def all_reduce(worker, array):
    parts = scattered(worker, np.array_split(array.ravel(), worker.workers))
    array[...] = 0.0
    own = np.array_split(array.reshape(-1), worker.workers)[worker.rank]
    own[...] = parts[worker.rank]
    return np.concatenate(gathered(worker, parts)).reshape(array.shape)
"""
)

ALWAYS_ONE_AXIS = (
    RING
    + """
def all_reduce(worker, array):
    return np.concatenate(in_ring(worker, array))
"""
)

ALWAYS_FLOAT64 = (
    RING
    + """
def all_reduce(worker, array):
    total, first = np.zeros(array.size), 0
    for part in in_ring(worker, array):
        total[first : first + len(part)] = part
        first += len(part)
    return total.reshape(array.shape)
"""
)


@is_ring(
    group="sums",
    because="workers.is_ring: 'What it returns is the sum but for rounding, of the array's shape and type, and the'",
)
def test_sums(student):
    """Three right functions pass; one that forgets a worker, and one that mixes parts up, do not."""
    expect(
        RINGS(student, "by_round", "turned_round", IN_COLUMNS, "last-round-missing", "part-of-the-next"),
        ["passes", "passes", "passes", "refused", "refused"],
        example="three right functions, one that forgets a worker, and one that returns the parts at other places",
        hint="compare the result with the sum, element by element",
        misconception="sum-not-looked-at",
        when={
            ("passes", "passes", "passes", "refused", "passes"): (
                "totals-compared",
                "the elements may stand at wrong places: compare each one",
            ),
            ("passes", "passes", "refused", "refused", "refused"): (
                "one-order-only",
                "it is right, and adds in another order: compare with the sum up to rounding",
            ),
        },
    )


@is_ring(
    group="workers",
    because="workers.is_ring: 'at once: one worker or many, with arrays of float32 or float64 of any shape.'",
)
def test_numbers_of_workers(student):
    """Functions that are wrong for one worker alone, or for more than two, are refused."""
    expect(
        RINGS(student, "by_round", TWICE_IF_ALONE, "own-part-again"),
        ["passes", "refused", "refused"],
        example="a right function, one that is wrong for one worker, and one that is wrong for more than two",
        hint="let more than two workers work as well",
        misconception="two-workers",
        when={("passes", "passes", "refused"): ("never-alone", "one worker is a number of workers, too")},
    )


@is_ring(
    group="bits",
    because="workers.is_ring: 'same bits at each worker. Arrays that it was given stay as they are. Of n workers'",
)
def test_the_same_bits(student):
    """Functions are refused that send in float32 what they keep in float64, or that are wrong at the last worker."""
    expect(
        RINGS(student, "turned_round", SENT_IN_FLOAT32, LAST_WORKER_KEEPS_ITS_OWN),
        ["passes", "refused", "refused"],
        example="a right function, one that sends float64 as float32, and one that is wrong at the last worker",
        hint="in float64, compare the results of all workers with each other, to the last bit",
        misconception="nearly-equal",
        when={("passes", "passes", "passes"): ("first-worker-only", "look at what each worker returns")},
    )


@is_ring(
    group="bytes",
    because="workers.is_ring: 'none sends more than ``2 * (n - 1)`` parts; a part is the n-th part of the elements,'",
)
def test_bytes(student):
    """Parts padded to equal sizes pass, and so do more messages; functions that send whole arrays do not."""
    wrong = ("whole-arrays-travel", ALONG_FROM_0, ALONG_FROM_1, TWICE_ROUND)
    expect(
        RINGS(student, "by_round", PADDED, IN_TWO_MESSAGES, *wrong),
        ["passes", "passes", "passes", "refused", "refused", "refused", "refused"],
        example="three right functions, and four that send whole arrays, all workers or some of them",
        hint="worker.sent is what a worker has sent",
        misconception="bytes-not-counted",
        when={
            ("passes", "passes", "passes", "refused", "passes", "passes", "passes"): (
                "two-arrays-allowed",
                "the bound is below two arrays: 2 (n - 1) / n of one",
            ),
            ("passes", "passes", "passes", "refused", "passes", "passes", "refused"): (
                "two-workers",
                "with two workers the bound is one array, and some wrong functions send no more",
            ),
            ("passes", "passes", "passes", "refused", "refused", "passes", "refused"): (
                "bytes-of-the-first",
                "count the bytes of each worker",
            ),
            ("passes", "refused", "passes", "refused", "refused", "refused", "refused"): (
                "parts-not-rounded-up",
                "a part is rounded up, so a worker may send a few numbers more",
            ),
            ("passes", "passes", "refused", "refused", "refused", "refused", "refused"): (
                "messages-counted",
                "bytes are bounded, messages are not",
            ),
        },
    )


@is_ring(
    group="sizes",
    because="workers.is_ring: 'They may have fewer elements than there are workers. An error that it raises'",
)
def test_sizes(student):
    """Functions that lose what is left over, or that cannot add fewer elements than workers, are refused."""
    expect(
        RINGS(student, "by_round", "equal-parts-only", WHAT_IS_LEFT_OVER_STAYS, AS_MANY_PARTS_AS_ELEMENTS),
        ["passes", "refused", "refused", "refused"],
        example="a right function, two for sizes that the number of workers divides, and one for large arrays",
        hint="let the size be no multiple of the number of workers",
        misconception="divisible-only",
        when={("passes", "refused", "refused", "passes"): ("large-arrays-only", "try fewer elements than workers")},
    )


@is_ring(
    group="form",
    because="workers.is_ring: 'What it returns is the sum but for rounding, of the array's shape and type, and the'",
)
def test_form(student):
    """Functions that lose axes or the type are refused, and two that change the arrays which they were given."""
    expect(
        RINGS(student, "turned_round", ALWAYS_ONE_AXIS, ALWAYS_FLOAT64, "changed-in-place", ARRAY_KEEPS_ITS_PART),
        ["passes", "refused", "refused", "refused", "refused"],
        example="a right function, one that loses axes, one that always returns float64, and two that change arrays",
        hint="give arrays of several axes, and compare shapes",
        misconception="one-axis",
        when={
            ("passes", "refused", "passes", "refused", "refused"): ("float64-only", "give arrays of float32 as well"),
            ("passes", "refused", "refused", "passes", "passes"): (
                "copies-handed-over",
                "look at the arrays that you handed over",
            ),
        },
    )
