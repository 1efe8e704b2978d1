"""Loading beside PyTorch's: what a batch is made of, and every argument of a loader."""

import collections
import inspect
import itertools

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg

Pair = collections.namedtuple("Pair", "x y")
WIDER = {
    "uint8": "int64",
    "int8": "int64",
    "int16": "int64",
    "uint16": "int64",
    "uint32": "int64",
    "float16": "float32",
}


class Numbers(list):
    """A class of lists of a user's own."""


def data_of(m):
    """Return the library's module of data."""
    return m.data if m is mg else torch.utils.data


def shown(x):
    """Return classes of containers, types, shapes and values of what stands in a batch."""
    if isinstance(x, list | tuple | collections.deque):
        return [type(x).__name__, *map(shown, x)]
    if isinstance(x, collections.abc.Mapping):
        return [type(x).__name__, {key: shown(value) for key, value in x.items()}]
    if hasattr(x, "requires_grad"):
        kind = str(x.dtype).removeprefix("torch.")
        return [WIDER.get(kind, kind), tuple(x.shape), x.tolist()]
    return [type(x).__name__, x.tolist() if hasattr(x, "tolist") else x]


BATCHES = {
    **{f"arrays of {kind}": [np.array([1, 2], kind), np.array([3, 4], kind)] for kind in [*WIDER, "int32", "int64"]},
    **{f"numbers of {kind}": [np.dtype(kind).type(1), np.dtype(kind).type(2)] for kind in [*WIDER, "int32", "float32"]},
    "arrays of float32": [np.ones((2, 3), "f4"), np.zeros((2, 3), "f4")],
    "arrays of float64": [np.ones((2, 3)), np.zeros((2, 3))],
    "arrays of bool": [np.array([True, False])] * 3,
    "arrays without axes": [np.array(1.5), np.array(2.5)],
    "arrays without elements": [np.ones((0, 2))] * 2,
    "numbers of NumPy in double": [np.float64(0.1), np.float64(0.2)],
    "truth of NumPy": [np.bool_(True), np.bool_(False)],
    "texts of NumPy": [np.str_("a"), np.str_("bc")],
    "bytes of NumPy": [np.bytes_(b"a"), np.bytes_(b"bc")],
    "floats": [0.1, 0.2],
    "a float and an integer": [0.5, 1],
    "an integer and a float": [1, 0.5],
    "integers": [1, 2**40],
    "truth": [True, False],
    "texts": ["a", "bc"],
    "bytes": [b"ab", b"c"],
    "bytes of one length": [b"ab", b"cd"],
    "named tuples": [Pair(1, 2.0), Pair(3, 4.0)],
    "named tuples in named tuples": [Pair(Pair(1, "a"), b"x"), Pair(Pair(2, "b"), b"y")],
    "tuples": [(1, "a", b"b"), (2, "c", b"d")],
    "lists": [[1, 2.0], [3, 4.0]],
    "lists of another class": [Numbers([1, 2]), Numbers([3, 4])],
    "ranges": [range(2), range(2)],
    "queues": [collections.deque([1, 2]), collections.deque([3, 4])],
    "empty lists": [[], []],
    "dictionaries": [{"a": 1, "b": ("x", 1.0)}, {"a": 2, "b": ("y", 2.0)}],
    "dictionaries with more keys": [{"a": 1}, {"a": 2, "b": 3}],
    "ordered dictionaries": [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
    "dictionaries with defaults": [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
    "one example": [(np.ones(2), 1.0)],
}
REFUSED = {
    "nothing in common": [{"a": 1}, {"b": 1}],
    "None": [None, None],
    "sets": [{1}, {2}],
    "complex numbers": [1j, 2j],
    "arrays of text": [np.array(["a"])] * 2,
    "arrays of objects": [np.array([object()])] * 2,
    "arrays of different shapes": [np.ones(1), np.ones(2)],
    "different lengths": [[1], [1, 2]],
    "no examples": [],
}


@pytest.mark.parametrize("examples", BATCHES.values(), ids=BATCHES)
def test_batches_are_those_of_pytorch(examples):
    """Classes, types, shapes and values; types that tensors do not have become the next wider one."""
    ours, theirs = (shown(data_of(m).default_collate(examples)) for m in (mg, torch))
    assert ours == theirs


@pytest.mark.parametrize("examples", REFUSED.values(), ids=REFUSED)
def test_what_makes_no_batch_in_pytorch_makes_none_here(examples):
    """The error here is one sentence about a batch."""
    with pytest.raises((TypeError, RuntimeError, LookupError)):
        data_of(torch).default_collate(examples)
    with pytest.raises((TypeError, ValueError), match="a batch cannot be made of"):
        mg.data.default_collate(examples)


def test_tensors_in_a_batch():
    """Tensors are stacked, those with gradients with their history; arrays beside them, and mirrored ones, too."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    batch = mg.data.default_collate([x, x * 2.0])
    (batch * mg.tensor([[1.0, 1.0], [10.0, 10.0]])).sum().backward()
    assert x.grad.tolist() == [21.0, 21.0]
    assert shown(mg.data.default_collate([mg.tensor([1]), mg.tensor([2.5])])) == ["float32", (2, 1), [[1.0], [2.5]]]
    assert shown(mg.data.default_collate([mg.ones(1), np.zeros(1, "f4")])) == ["float32", (2, 1), [[1.0], [0.0]]]
    mirrored = [np.arange(3.0)[::-1], np.arange(3.0)]
    assert mg.data.default_collate(mirrored).tolist() == [[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]
    assert mg.data.default_convert(mirrored[0]).tolist() == [2.0, 1.0, 0.0]


CONVERTED = {
    "array": np.ones(2),
    "number of NumPy": np.float64(1.5),
    "text of NumPy": np.str_("a"),
    "array of text": np.array(["a", "b"]),
    "numbers": [1, 2.5, True, "text", b"bytes", None],
    "named tuple": Pair(np.ones(1, "f4"), 2.0),
    "tuple": (np.ones(1, "i4"), (np.zeros(1), 3)),
    "dictionary": {"a": np.ones(1), "b": [np.zeros(1)]},
    "text": "text",
}


@pytest.mark.parametrize("example", CONVERTED.values(), ids=CONVERTED)
def test_conversion_is_that_of_pytorch(example):
    """Arrays become tensors, and everything else stays."""
    ours, theirs = (shown(data_of(m).default_convert(example)) for m in (mg, torch))
    assert ours == theirs


class Squares:
    """A set of six numbers and their squares."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        return float(index), index**2


class Listed(Squares):
    """The same, which knows what to do with a list of numbers."""

    def __getitems__(self, indices):
        return [(float(index), -1) for index in indices]


class WithTake(Squares):
    """The same, with a method of the name of one of a TensorDataset's."""

    def take(self, n):
        return [self[index] for index in range(n)]


def in_tensors(m, kind=None):
    """Return six examples in tensors; kind may be a function that makes the class."""
    base = data_of(m).TensorDataset
    return (kind(base) if kind else base)(m.arange(6), m.arange(6) * 10)


def doubled(base):
    class Doubled(base):
        def __getitem__(self, index):
            return tuple(2 * x for x in super().__getitem__(index))

    return Doubled


def named(base):
    class Named(base):
        def take(self, n):
            raise AssertionError("a loader has no business here")

    return Named


def part(m, dataset, numbers, base=None):
    """Return a part of a set."""
    return (base or data_of(m).Subset)(dataset, numbers)


LOADERS = {
    "by default": lambda m, d: d.DataLoader(Squares()),
    "by place": lambda m, d: d.DataLoader(Squares(), 4, False, None, None, 0, None, False, True),
    "a list": lambda m, d: d.DataLoader([3, 4, 5], batch_size=2),
    "no batches": lambda m, d: d.DataLoader(Squares(), batch_size=None),
    "no batches of arrays": lambda m, d: d.DataLoader([np.ones(2), np.zeros(1)], batch_size=None),
    "no batches, by a function": lambda m, d: d.DataLoader(Squares(), batch_size=None, collate_fn=lambda pair: pair[1]),
    "no batches, by a sampler": lambda m, d: d.DataLoader(Squares(), batch_size=None, sampler=[5, 0]),
    "no batches, a list of numbers": lambda m, d: d.DataLoader(np.arange(9.0), batch_size=None, sampler=[[1, 2], [8]]),
    "a sampler": lambda m, d: d.DataLoader(Squares(), 2, sampler=[5, 0, 3]),
    "a sampler, the rest dropped": lambda m, d: d.DataLoader(Squares(), 2, sampler=[5, 0, 3], drop_last=True),
    "a sampler of tensors": lambda m, d: d.DataLoader(in_tensors(m), 2, sampler=m.tensor([5, 0, 3])),
    "numbers from behind": lambda m, d: d.DataLoader(in_tensors(m), 2, sampler=[-2, -1, 0, 1]),
    "batches of a sampler": lambda m, d: d.DataLoader(Squares(), batch_sampler=[[0], [5, 1], [2, 2]]),
    "batches of a set in tensors": lambda m, d: d.DataLoader(in_tensors(m), batch_sampler=[[0], [5, 1], [2, 2]]),
    "named sampler": lambda m, d: d.DataLoader(Squares(), 4, sampler=d.SequentialSampler(Squares())),
    "named batches": lambda m, d: d.DataLoader(Squares(), batch_sampler=d.BatchSampler([1, 2, 3], 2, False)),
    "named batches, the rest dropped": lambda m, d: d.DataLoader(
        Squares(), batch_sampler=d.BatchSampler(d.SequentialSampler([0] * 5), 2, drop_last=True)
    ),
    "weights": lambda m, d: d.DataLoader(Squares(), 2, sampler=d.WeightedRandomSampler([0, 0, 0, 2.0, 0, 0], 3)),
    "some by chance": lambda m, d: d.DataLoader(Squares(), 2, sampler=d.SubsetRandomSampler([4])),
    "by chance of one": lambda m, d: d.DataLoader([7], 2, sampler=d.RandomSampler([7], num_samples=3)),
    "again by chance": lambda m, d: d.DataLoader([7], 2, sampler=d.RandomSampler([7], replacement=True, num_samples=3)),
    "a set that takes lists": lambda m, d: d.DataLoader(Listed(), 4),
    "a set with a take of its own": lambda m, d: d.DataLoader(WithTake(), 4),
    "in tensors": lambda m, d: d.DataLoader(in_tensors(m), 4),
    "in tensors, changed": lambda m, d: d.DataLoader(in_tensors(m, doubled), 4),
    "in tensors, with a take of its own": lambda m, d: d.DataLoader(in_tensors(m, named), 4),
    "a part": lambda m, d: d.DataLoader(part(m, in_tensors(m), [3, 4, 5]), 2),
    "a part of a part": lambda m, d: d.DataLoader(part(m, part(m, in_tensors(m), [5, 3, 1]), [2, 0]), 2),
    "a part of a set with a take": lambda m, d: d.DataLoader(part(m, WithTake(), [3, 1]), 2),
    "what has no effect": lambda m, d: d.DataLoader(
        Squares(), 3, pin_memory=False, timeout=0, worker_init_fn=print, multiprocessing_context=None, in_order=True
    ),
}


@pytest.mark.parametrize("make", LOADERS.values(), ids=LOADERS)
def test_loaders_are_those_of_pytorch(make):
    """Two passes, and their length."""
    found = []
    for m in (mg, torch):
        loader = make(m, data_of(m))
        found.append([[shown(batch) for batch in loader] for _ in range(2)] + [len(loader)])
    assert found[0] == found[1]


def test_a_part_of_another_class_says_what_its_examples_are():
    """PyTorch refuses a Subset with a __getitem__ of its own in a loader, where it would be passed over."""
    loader = mg.data.DataLoader(part(mg, in_tensors(mg), [3, 1], doubled(mg.data.Subset)), 2)
    assert [[x.tolist() for x in batch] for batch in loader] == [[[6, 2], [60, 20]]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sampler": [0], "shuffle": True}, "sampler decides alone, so shuffle cannot be given with it"),
        ({"batch_sampler": [[0]], "batch_size": 4}, "batch_sampler decides alone, so batch_size cannot"),
        ({"batch_sampler": [[0]], "shuffle": True, "drop_last": True}, "so shuffle and drop_last cannot be given"),
        ({"batch_sampler": [[0]], "sampler": [0]}, "so sampler cannot be given"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None decides alone, so drop_last cannot"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_arguments_that_contradict_each_other(arguments, words):
    """They are refused, by both."""
    with pytest.raises(ValueError):  # noqa: PT011 - PyTorch's own words
        data_of(torch).DataLoader(Squares(), **arguments)
    with pytest.raises(ValueError, match=words):
        mg.data.DataLoader(Squares(), **arguments)


def test_a_number_beyond_the_set_is_refused():
    """Also in a row of numbers, where a slice would end early."""
    for m in (mg, torch):
        with pytest.raises(IndexError):
            list(data_of(m).DataLoader(part(m, in_tensors(m), [4, 5, 6]), 3))


def test_a_batch_may_be_changed():
    """The set stays as it is, whatever order its examples come in."""
    for m in (mg, torch):
        examples = data_of(m).TensorDataset(m.zeros(6))
        for options in ({}, {"shuffle": True}, {"sampler": [0, 1, 2]}):
            for (batch,) in data_of(m).DataLoader(examples, 3, **options):
                batch += 1.0
        assert examples.tensors[0].tolist() == [0.0] * 6


def test_a_sampler_without_end():
    """Batches are made when they are asked for."""
    for m in (mg, torch):
        loader = data_of(m).DataLoader(Squares(), 2, sampler=itertools.cycle([1, 2, 3]))
        assert [shown(batch)[2][2] for batch in itertools.islice(loader, 3)] == [[1, 4], [9, 1], [4, 9]]


@pytest.mark.parametrize("replacement", [True, False])
def test_a_sampler_for_a_loader_that_never_ends(replacement):
    """10 ** 10 examples are drawn as they are asked for: together they would fill 75 GB."""
    for m in (mg, torch):
        data = data_of(m)
        sampler = data.RandomSampler(range(10), replacement=replacement, num_samples=10**10)
        drawn = list(itertools.islice(iter(sampler), 5000))
        assert (set(drawn), len(drawn)) == (set(range(10)), 5000)
        assert all(isinstance(number, int) for number in drawn)
        assert len(next(iter(data.DataLoader(range(10), 4, sampler=sampler)))) == 4


def test_samplers_by_chance():
    """The seed decides; without replacement each example comes once before any comes again."""

    def drawn(seed, **options):
        return list(mg.data.RandomSampler(range(10), generator=mg.Generator(seed), **options))

    assert sorted(drawn(1)) == list(range(10))
    assert (drawn(1) == drawn(1), drawn(1) == drawn(2)) == (True, False)
    twice = drawn(3, num_samples=25)
    assert [sorted(twice[:10]), sorted(twice[10:20])] == [list(range(10))] * 2
    assert len(twice) == 25
    again = drawn(3, replacement=True, num_samples=1000)
    assert set(again) == set(range(10))
    assert len(again) == 1000
    weighted = list(mg.data.WeightedRandomSampler([1.0, 3.0], 4000, generator=mg.Generator(0)))
    assert 0.72 < sum(weighted) / 4000 < 0.78
    assert sorted(mg.data.WeightedRandomSampler([1.0, 3.0, 1.0], 3, replacement=False)) == [0, 1, 2]
    for make in (
        lambda: mg.data.RandomSampler([1], num_samples=0),
        lambda: mg.data.BatchSampler([1], 0, False),
        lambda: mg.data.WeightedRandomSampler([[1.0]], 1),
    ):
        with pytest.raises(ValueError, match=r"(Random|Batch)Sampler: "):
            make()
    with pytest.raises(TypeError, match="Sampler does not define __iter__"):
        iter(mg.data.Sampler())


@pytest.mark.parametrize(
    "name",
    [
        *["DataLoader", "Subset", "ConcatDataset", "random_split", "default_collate", "default_convert"],
        *["BatchSampler", "RandomSampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler"],
    ],
)
def test_classes_take_pytorchs_arguments(name):
    """In PyTorch's order, by its names, with its defaults where those are plain values."""
    ours, theirs = (
        [
            (p.name, p.kind, p.default if isinstance(p.default, int | str | None) else "")
            for p in inspect.signature(getattr(data_of(m), name)).parameters.values()
        ]
        for m in (mg, torch)
    )
    for a, b in zip(ours, theirs, strict=True):
        assert a[:2] == b[:2]
        assert a[2] == b[2] or name == "random_split"  # which has a generator for a default
