"""What threads and iterations could share beside arrays is found, and no read or write of an array goes uncounted."""

import contextlib
import functools

import numpy as np
import pytest

from minigrad.debug import cuda_races, races
from minigrad.debug.arrays import Recorded
from minigrad.debug.memory import READ, WRITE, Root
from minigrad.machine._numba import cuda, numba

SIZE = 4
NUMBERS = np.arange(1.0, SIZE + 1)
STEPS, LIMITS, TABLE = [1, 2], {"least": 0.0}, np.array([0.0, 1.0])
BOX, DEEP, ITEMS = {}, ([{}],), set()
FEED = iter(range(10**6))
ARRAYS = [np.zeros(SIZE)]
MADE = np.zeros(SIZE)


@functools.lru_cache(None)
def place(k):
    return []


def keep(k):
    BOX[k] = 1.0
    return 0


def fill(k):
    MADE[k] = 1.0
    return 0


def by_dict(out, a):
    BOX[cuda.grid(1)] = a[cuda.grid(1)]


def by_nested(out, a):
    DEEP[0][0][cuda.grid(1)] = 1.0


def by_set(out, a):
    ITEMS.add(cuda.grid(1))


def by_iterator(out, a):
    out[cuda.grid(1)] = next(FEED)


def by_cache(out, a):
    place(0).append(1)


def by_helper(out, a):
    keep(cuda.grid(1))


def by_key(out, a):
    max([cuda.grid(1)], key=keep)


def by_map(out, a):
    list(map(keep, [cuda.grid(1)]))


def by_default(out, a, box=[0.0] * SIZE):
    box[cuda.grid(1)] = 1.0


def by_default_array(out, a, box=MADE.copy()):  # noqa: B008
    box[cuda.grid(1)] = 1.0


def by_array_in_list(out, a):
    ARRAYS[0][cuda.grid(1)] = 1.0


def in_turns(out, a):
    BOX[0] = 1.0
    cuda.syncthreads()
    BOX.clear()


def by_closure():
    kept = []

    def kernel(out, a):
        kept.append(1.0)

    return kernel


@pytest.mark.parametrize(
    "kernel",
    [by_dict, by_nested, by_set, by_iterator, by_cache, by_helper, by_key, by_map, by_default, by_default_array,
     by_array_in_list, in_turns, by_closure()],
    ids=lambda kernel: kernel.__qualname__,
)  # fmt: skip
def test_what_threads_share_beside_arrays_is_a_finding(kernel):
    """A container that changes, and an object whose contents cannot be seen, is a finding with its name and line."""
    for known in (BOX, DEEP[0][0], ITEMS):
        known.clear()
    report = cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS)
    assert "outside" in report.kinds
    race = next(race for race in report.races if race.kind == "outside")
    assert race.line and race.array and "share arrays only" in race.message


def test_an_array_of_the_module_is_an_array():
    """Writes to a module's array are noted, also by a function that a builtin calls; the array itself stays."""

    def kernel(out, a):
        max([0], key=fill)

    assert cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS).kinds == {"write-write"}
    assert not MADE.any()


def test_constants_of_the_module_may_be_used():
    """Lists, dictionaries, arrays and functions that nobody changes are constants."""

    def kernel(out, a):
        total = LIMITS["least"] + TABLE[0]
        for step in STEPS:
            total += float(np.float64(step))
        out[cuda.grid(1)] = a[cuda.grid(1)] + total

    report = cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS)
    assert not report and report.steady and report.args[0].tolist() == [4.0, 5.0, 6.0, 7.0]


def test_a_container_that_holds_itself():
    """Containers may hold each other in a circle."""
    circle = [1.0]
    circle.append(circle)

    def kernel(out, a):
        circle[0] = a[cuda.grid(1)]

    assert cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS).kinds == {"outside"}


def test_iterations_share_arrays_only():
    """A dictionary from before the loop, and one of the module, is a finding in a prange loop."""

    def local(out, a):
        kept = {}
        for i in numba.prange(SIZE):
            kept[i] = a[i]

    def outer(out, a):
        for i in numba.prange(SIZE):
            BOX[-1 - i] = a[i]

    for kernel in (local, outer):
        (race,) = races(kernel, np.zeros(SIZE), NUMBERS).races
        assert race.kind == "outside" and "iterations share arrays only" in race.message


def test_results_that_depend_on_the_order_of_threads():
    """A report says whether another order gives another result, for rounding apart."""

    def last(out, a):
        cuda.atomic.exch(out, 0, a[cuda.grid(1)])

    def whole(out, a):
        cuda.atomic.add(out, 0, a[cuda.grid(1)] / 3.0)

    assert not cuda_races(last, 1, SIZE, np.zeros(1), NUMBERS).steady
    assert cuda_races(whole, 1, SIZE, np.zeros(1), NUMBERS).steady


def test_elements_hold_numbers():
    """Shared memory of objects, or of text, would hold more than is counted."""

    def kernel(out, a):
        cuda.shared.array(1, "O")

    with pytest.raises(ValueError, match=r"cuda\.shared\.array holds numbers, such as numba\.float64, not object"):
        cuda_races(kernel, 1, 1, np.zeros(1), NUMBERS)


def test_fresh_memory_holds_no_news():
    """Memory of truth values begins with the same values for all threads."""

    def kernel(out, a):
        fresh = np.empty(SIZE, dtype=np.bool_)
        out[cuda.grid(1)] = fresh.sum()
        fresh[:] = False

    assert set(cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS).args[0].tolist()) == {float(SIZE)}


def test_constants_are_arrays_that_nobody_counts_or_writes():
    """Shapes are arrays of all threads: reading them is no traffic, and no value passes between threads in them."""

    def reads(out, shape):
        out[cuda.grid(1)] = shape[0] + shape.shape[0]

    def writes(out, shape):
        shape[0] = cuda.grid(1)

    shape = np.array([7, 2])
    report = cuda_races(reads, 1, SIZE, np.zeros(SIZE), shape, constants=[1])
    assert report.args[0].tolist() == [9.0] * SIZE
    assert (report.most.global_reads, report.most.global_writes) == (0, 1)
    with pytest.raises(ValueError, match="read-only"):
        cuda_races(writes, 1, SIZE, np.zeros(SIZE), shape, constants=[1])
    assert shape.flags.writeable


def test_an_array_of_all_threads_has_one_shape():
    """The shape of a shared array cannot tell the others a thread's value; a compiler has to know it anyway."""

    def kernel(out, a):
        i = cuda.threadIdx.x
        box = cuda.shared.array(int(a[i]), numba.float64)
        out[i] = len(box)

    with pytest.raises(ValueError, match=r"the shape \(1,\) of float64, and thread 1 of block 0 asks for \(2,\)"):
        cuda_races(kernel, 1, SIZE, np.zeros(SIZE), NUMBERS)


USED = 77.0
FRESH = {
    "a call by map": lambda: next(map(np.empty, (41,))),
    "a call by reduce": lambda: functools.reduce(np.empty, (41, np.float64)),
    "a call by a partial function that map calls": lambda: next(map(functools.partial(np.empty, 41), (np.float64,))),
    "what an operation leaves out": lambda: np.add([False] * 41, 0.0, where=False),
    "what an outer operation leaves out": lambda: np.add.outer([False] * 41, 0.0, where=False),
    "what an operation that map calls leaves out": lambda: next(
        map(functools.partial(np.add, where=False), ([False] * 41,), (0.0,))
    ),
}


@pytest.mark.parametrize("means", FRESH)
def test_no_thread_finds_what_another_one_has_let_go_of(means):
    """Memory that NumPy has used before tells no values, whoever asks for it and however it is called."""
    take = FRESH[means]

    def kernel(out, a):
        i = cuda.threadIdx.x
        if i == 0:
            used = np.full(41, USED)
            used = 0  # noqa: F841
        cuda.syncthreads()
        if i > 0:
            out[i] = take()[5]

    assert USED not in cuda_races(kernel, 1, 2, np.zeros(2), NUMBERS).args[0].tolist()


class Noted:
    """A watcher that remembers what was touched."""

    def __init__(self):
        self.touched = set()

    def touch(self, root, address, kind):
        self.touched.add((address - root.address, kind))

    def touch_many(self, root, found, kind):
        for address in np.ravel(found).tolist():
            self.touch(root, address, kind)

    def outside(self, *given):
        return True

    def adopt(self, value, name=""):
        return value


def recorded():
    """A recorded array of four numbers, its watcher, and its memory."""
    raw, noted = NUMBERS.copy(), Noted()
    return Recorded(raw, Root(raw, "a"), noted), noted, raw


ALL_READ = {(8 * k, READ) for k in range(SIZE)}


@pytest.mark.parametrize(
    "look",
    [repr, str, format, "{}".format, lambda a: "%s" % a,  # noqa: UP031
     lambda a: f"{a!r:>9}", list, tuple, set, sorted, sum, max, min, all,
     lambda a: [*a], lambda a: list(map(float, a)), lambda a: list(reversed(a)), lambda a: dict(enumerate(a)),
     lambda a: 9.0 in a, lambda a: a == a, lambda a: a @ a, lambda a: np.array(a), lambda a: np.array(a, copy=None),
     lambda a: np.array([a]), lambda a: np.asarray(a), lambda a: np.ascontiguousarray(a), lambda a: np.stack([a, a]),
     lambda a: np.where(a > 0, a, a), lambda a: np.einsum("i->", a), lambda a: np.array_equal(a, a),
     lambda a: a.tobytes(),
     lambda a: str(a[:]) , lambda a: str(a[::-1]), lambda a: a.reshape(2, 2).tolist(), lambda a: repr(a.T),
     lambda a: [*a.reshape(2, 2)[:, 0], *a[1::2]], lambda a: np.flip(a).tolist(), lambda a: a[[0, 1, 2, 3]],
     lambda a: a[a > 0], lambda a: np.split(a, 2)[0].tolist() + np.split(a, 2)[1].tolist(), lambda a: print(a)],
)  # fmt: skip
def test_looking_at_all_of_an_array_counts_as_reading_it(look):
    """Text, iteration, membership, arithmetic, copies, views and NumPy's functions read each element that they show."""
    array, noted, _ = recorded()
    look(array)
    assert noted.touched >= ALL_READ


@pytest.mark.parametrize(
    "write",
    [lambda a: np.cumsum(np.ones(4), 0, None, a), lambda a: np.ones(4).cumsum(0, None, a.T),
     lambda a: np.dot(np.eye(4), np.ones(4), a), lambda a: np.clip(np.ones(4), 0, 1, a),
     lambda a: a.clip(0, 0, a), lambda a: a.cumsum(0, None, a), lambda a: np.concatenate([[1.0], a[1:]], 0, a),
     lambda a: np.array(a, copy=None).fill(9.0), lambda a: np.asarray(a).fill(9.0), lambda a: np.add(a, 1.0, a),
     lambda a: np.add(a, 1.0, out=a), lambda a: a.cumsum(out=a), lambda a: np.cumsum(a, out=a), lambda a: a.fill(9.0),
     lambda a: np.copyto(a, 9.0), lambda a: np.add.at(a, [0, 1, 2, 3], 1.0), lambda a: a.sort(),
     lambda a: a.reshape(2, 2).fill(9.0), lambda a: np.split(a, 1)[0].fill(9.0)],
)  # fmt: skip
def test_no_write_is_unnoticed(write):
    """Whatever writes to the memory of an array is noted as writing; other ways leave the memory as it was."""
    array, noted, raw = recorded()
    with contextlib.suppress(ValueError, TypeError):
        write(array)
    assert np.array_equal(raw, NUMBERS) or {(8 * k, WRITE) for k in range(SIZE)} <= noted.touched


@pytest.mark.parametrize("name", ["base", "ctypes", "data", "flat", "setflags"])
def test_doors_to_memory_are_shut(name):
    """What leads to memory without being watched is refused by its name."""
    with pytest.raises(ValueError, match=rf"through \.{name} of an array cannot be watched"):
        getattr(recorded()[0], name)


def test_functions_round_as_they_do_unwatched():
    """A function of NumPy gets copies that lie in memory as the arrays do, so that it adds in the same order."""
    raw = np.random.default_rng(0).normal(size=(3, 40, 7))
    array = Recorded(raw, Root(raw, "a"), Noted())
    for axes, cut in (("ij", np.s_[:, 3:36, 2]), ("ijk", np.s_[::-1, ::3, 1:4]), ("i", np.s_[0, :, 5])):
        assert np.einsum(f"{axes}->", array[cut]) == np.einsum(f"{axes}->", raw[cut])
