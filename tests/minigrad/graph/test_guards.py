"""Whatever a jitted function reads of its surroundings: after a change it answers as the function itself does."""

import array
import collections
import contextvars
import dataclasses
import decimal
import enum
import fractions
import functools
import importlib
import operator
import sys
import types
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn


@pytest.fixture(autouse=True)
def _interpreted():
    """Which graph serves a call is chosen before it is compiled, and compiling takes longer than all else here."""
    with mg.backend("python"):
        yield


X = mg.tensor([1.0, 2.0, 3.0])


def check(fun, *changes, arguments=(), **options):
    """Compare a jitted function with itself after each change, and see that two more calls are no new traces."""
    quick = mg.jit(fun, **options)
    for change in (lambda: None, *changes):
        change()
        for _ in range(2):
            assert quick(X, *arguments).tolist() == fun(X, *arguments).tolist()
    quick(X, *arguments)  # the function itself may have changed what it counts
    known = quick.cache_info()
    for _ in range(2):
        quick(X, *arguments)
    assert quick.cache_info().misses == known.misses


class Box:
    """An object of the user's."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slots:
    """An object with a slot, which is not filled."""

    __slots__ = ("k",)


@dataclasses.dataclass
class Settings:
    """Two numbers."""

    k: float = 2.0
    other: float = 1.0


class ListWithMore(list):
    """A list with an attribute."""


class Attributes(dict):
    """A dictionary whose entries are attributes."""

    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


class Own(collections.UserDict):
    """A dictionary of the user's class."""


def list_with_more():
    held = ListWithMore([1.0])
    held.k = 2.0
    return held


def object_array():
    held = np.empty(1, dtype=object)
    held[0] = 2.0
    return held


HOLDERS = {
    "a ChainMap": (lambda: collections.ChainMap({"k": 2.0}), lambda c: c["k"], lambda c: c.maps[0].update(k=3.0)),
    "a Counter": (lambda: collections.Counter(k=2), lambda c: c["k"], lambda c: c.update(k=3)),
    "a UserDict": (lambda: collections.UserDict(k=2.0), lambda c: c["k"], lambda c: c.update(k=3.0)),
    "a user's UserDict": (lambda: Own(k=2.0), lambda c: c["k"], lambda c: c.update(k=3.0)),
    "a dictionary of attributes": (lambda: Attributes(k=2.0), lambda c: c.k, lambda c: setattr(c, "k", 3.0)),
    "a subclass of list": (list_with_more, lambda c: c[0] * c.k, lambda c: setattr(c, "k", 3.0)),
    "a read-only view": (
        lambda: (d := {"k": 2.0}, types.MappingProxyType(d)),
        lambda c: c[1]["k"],
        lambda c: c[0].update(k=3.0),
    ),
    "values of a dictionary": (
        lambda: (lambda d: Box(d=d, view=d.values()))({"k": 2.0}),
        lambda c: sum(c.view),
        lambda c: c.d.update(k=3.0),
    ),
    "a bound method of a dictionary": (
        lambda: (lambda d: Box(d=d, get=d.get))({"k": 2.0}),
        lambda c: c.get("k"),
        lambda c: c.d.update(k=3.0),
    ),
    "a bound method of a list": (
        lambda: (lambda d: Box(d=d, get=d.__getitem__))([2.0]),
        lambda c: c.get(0),
        lambda c: c.d.__setitem__(0, 3.0),
    ),
    "keys that are tuples": (
        lambda: {(1, 0): 2.0},
        lambda c: sum(v * k[0] for k, v in c.items()),
        lambda c: (c.clear(), c.update({(5, 0): 2.0})),
    ),
    "keys that are objects": (
        lambda: {Box(k=2.0): 1.0},
        lambda c: sum(v * each.k for each, v in c.items()),
        lambda c: [setattr(each, "k", 3.0) for each in c],
    ),
    "a set of objects": (
        lambda: {Box(k=2.0)},
        lambda c: sum(each.k for each in c),
        lambda c: [setattr(each, "k", 3.0) for each in c],
    ),
    "an array of Python's": (lambda: array.array("f", [2.0]), lambda c: c[0], lambda c: c.__setitem__(0, 3.0)),
    "a bytearray": (lambda: bytearray([2]), lambda c: float(c[0]), lambda c: c.__setitem__(0, 3)),
    "an array of objects": (object_array, lambda c: c[0], lambda c: c.__setitem__(0, 3.0)),
    "an array without dimensions": (lambda: np.array(2.0), float, lambda c: c.__setitem__((), 3.0)),
    "a transposed array": (lambda: np.ones((2, 3)).T, lambda c: c[0, 1], lambda c: c.__setitem__((0, 1), 3.0)),
    "a context variable": (
        lambda: contextvars.ContextVar("k", default=2.0),
        lambda c: c.get(),
        lambda c: c.set(3.0),
    ),
    "a weak reference": (
        lambda: (lambda box: Box(box=box, of=weakref.ref(box)))(Box(k=2.0)),
        lambda c: c.of().k,
        lambda c: setattr(c.box, "k", 3.0),
    ),
    "a namespace by a getter": (
        lambda: types.SimpleNamespace(inner=types.SimpleNamespace(k=2.0)),
        operator.attrgetter("inner.k"),
        lambda c: setattr(c.inner, "k", 3.0),
    ),
    "an attribute by a computed name": (
        lambda: Box(k1=2.0),
        lambda c: object.__getattribute__(c, f"k{1}"),
        lambda c: setattr(c, "k1", 3.0),
    ),
    "fields as a tuple": (Settings, lambda c: sum(dataclasses.astuple(c)), lambda c: setattr(c, "other", 5.0)),
    "fields as a dictionary": (
        Settings,
        lambda c: sum(dataclasses.asdict(c).values()),
        lambda c: setattr(c, "other", 5.0),
    ),
    "fields that are compared": (Settings, lambda c: 2.0 if c == Settings() else 7.0, lambda c: setattr(c, "k", 5.0)),
    "an attribute with a default": (Box, lambda c: getattr(c, "k", 1.0), lambda c: setattr(c, "k", 3.0)),
    "a slot that is filled later": (
        Slots,
        lambda c: c.k if hasattr(c, "k") else 1.0,
        lambda c: setattr(c, "k", 3.0),
    ),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_something_holds(holder):
    """The object stays, and what it holds is another."""
    make, read, change = HOLDERS[holder]
    held = make()
    contextvars.copy_context().run(check, lambda x: x * read(held), lambda: change(held))


class Kind(enum.Enum):
    """Two members."""

    A = 2.0
    B = 3.0


OTHERS = {
    "fractions": (fractions.Fraction(1, 2), fractions.Fraction(1, 4), float),
    "decimals": (decimal.Decimal("0.5"), decimal.Decimal("0.25"), float),
    "polynomials": (np.poly1d([2.0]), np.poly1d([3.0]), lambda c: float(c(0))),
    "vectorized functions": (np.vectorize(lambda a: a * 2.0), np.vectorize(lambda a: a * 3.0), lambda c: float(c(1))),
    "functions with a cache": (functools.lru_cache(lambda n: n * 2.0), functools.lru_cache(lambda n: n * 3.0), 1.0),
    "partial functions": (functools.partial(operator.mul, 2.0), functools.partial(operator.mul, 3.0), 1.0),
    "members of an enumeration": (Kind.A, Kind.B, lambda c: c.value),
    "members by themselves": (Kind.A, Kind.B, lambda c: 2.0 if c is Kind.A else 5.0),
    "types": (int, float, lambda c: float(c(2.5))),
    "ranges": (range(3), range(4), lambda c: float(sum(c))),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_value(other):
    """The variable has another value of the same type."""
    value, second, read = OTHERS[other]

    def change():
        nonlocal value
        value = second

    if callable(read):
        check(lambda x: x * read(value), change)
    else:
        check(lambda x: x * value(read), change)


def test_tensors_of_another_library():
    """Their elements are what counts, also after a change in place."""
    torch = pytest.importorskip("torch")
    box = Box(t=torch.tensor([2.0]))
    check(lambda x: x * box.t.item(), lambda: box.t.fill_(3.0), lambda: setattr(box, "t", torch.tensor([4.0])))


# --- variables -----------------------------------------------------------------------------------------------------

scale = 2.0


def of_a_global(n):
    return scale * n


class Pair(collections.namedtuple("Pair", "a b")):
    """A named tuple with a method that reads a global variable."""

    def total(self):
        return (self.a + self.b) * scale


def test_global_variables(monkeypatch):
    """By way of a dictionary of them, of a method, of a function with a cache; and one that hides a built-in."""
    pair, cached = Pair(1.0, 2.0), functools.lru_cache(of_a_global)

    def change():
        monkeypatch.setitem(globals(), "scale", globals()["scale"] + 1.0)
        cached.cache_clear()

    check(lambda x: x * globals()["scale"], change)
    check(lambda x: x * pair.total(), change)
    check(lambda x: x * cached(1), change)
    check(lambda x: x * max(1.0, 2.0), lambda: monkeypatch.setitem(globals(), "max", lambda a, b: 10.0))


def test_modules_that_the_function_imports(tmp_path, monkeypatch):
    """A variable of a module of the user's, imported in the function."""
    (tmp_path / "settings_of_a_user.py").write_text("K = 2.0\n")
    monkeypatch.syspath_prepend(tmp_path)

    def whole(x):
        import settings_of_a_user

        return x * settings_of_a_user.K

    def single(x):
        from settings_of_a_user import K

        return x * K

    for fun in (whole, single):
        sys.modules.pop("settings_of_a_user", None)
        check(fun, lambda: setattr(importlib.import_module("settings_of_a_user"), "K", 5.0))
    sys.modules.pop("settings_of_a_user", None)


def test_a_variable_that_gets_its_value_later():
    """A cell that is empty at the trace."""

    def fun(x):
        try:
            return x * later
        except NameError:
            return x

    def change():
        nonlocal later
        later = 3.0

    check(fun, change)
    later = 1.0


def test_two_variables_of_one_name():
    """One is a counter that the function itself changes; the other one is not."""

    def counter():
        n = 0

        def tick():
            nonlocal n
            n += 1

        return tick

    tick, n = counter(), 2.0

    def fun(x):
        tick()
        return x * n

    def change():
        nonlocal n
        n = 3.0

    check(fun, change)


def test_code():
    """The code of the function itself is exchanged."""

    def fun(x):
        return x * 2

    def other(x):
        return x * 3

    check(fun, lambda: setattr(fun, "__code__", other.__code__))


def test_the_mode_of_gradients():
    """A function that asks whether gradients are on."""
    with mg.enable_grad():
        check(lambda x: x * (2.0 if mg.is_grad_enabled() else 1.0), lambda: mg.set_grad_enabled(False))


# --- classes -------------------------------------------------------------------------------------------------------


class Base:
    """A class with a number and a method."""

    k = 2.0

    def by(self, x, n):
        return x * n * self.k


def test_attributes_that_hide_others():
    """An object's attribute in the place of another one; a subclass's own number and method."""

    class Derived(Base):
        twice = functools.partialmethod(Base.by, n=2.0)

    box = Derived()
    box.unused = 1.0

    def exchange():
        del box.unused
        box.k = 5.0

    check(
        lambda x: box.twice(x),
        exchange,
        lambda: delattr(box, "k"),
        lambda: setattr(Derived, "k", 7.0),
        lambda: setattr(Derived, "by", lambda self, x, n: x * 11.0),
        lambda: setattr(Derived, "twice", functools.partialmethod(Base.by, n=3.0)),
    )


def test_a_method_that_is_registered():
    """A function that chooses by type, one of whose ways reads a variable."""
    k = 2.0

    @functools.singledispatch
    def choose(n, x):
        return x

    choose.register(int, lambda n, x: x * k)

    def change():
        nonlocal k
        k = 3.0

    check(lambda x: choose(1, x), change, lambda: choose.register(int, lambda n, x: x * 11.0))


def test_what_a_pattern_reads():
    """An attribute that `match` names."""
    box = Box(k=2.0)

    def fun(x):
        match box:
            case Box(k=k):
                return x * k

    check(fun, lambda: setattr(box, "k", 3.0))


@dataclasses.dataclass(frozen=True)
class Frozen:
    """An object that holds another one."""

    box: Box


@pytest.mark.parametrize("wrap", [lambda box: (box,), Frozen, lambda box: (1, (box,))], ids=["tuple", "class", "deep"])
def test_objects_in_static_arguments(wrap):
    """A static argument is compared by its value, and what it holds may change."""
    box = Box(k=2.0)
    check(lambda x, held: x * box.k, lambda: setattr(box, "k", 3.0), arguments=(wrap(box),), static_argnums=1)


# --- what the function itself changes ------------------------------------------------------------------------------


class Masked(nn.Module):
    """A layer that makes its mask once, and one for each length, and counts."""

    def __init__(self):
        super().__init__()
        self.mask, self.ready, self.masks, self.calls, self.last = None, False, {}, [], None

    def forward(self, x):
        if self.mask is None:
            self.mask = mg.ones(1) * 2
        if not self.ready:
            self.bias, self.ready = 1.0, True
        if (len(x), "mask") not in self.masks:
            self.masks[(len(x), "mask")] = mg.ones(len(x)) * 3
        self.calls.append(1)
        self.last = y = x * self.mask * self.masks[(len(x), "mask")] + self.bias
        return y


def test_what_the_function_fills_in_once():
    """A mask, a mark that it is ready, an entry for each length: each is guarded, and no reason to trace again."""
    module = Masked()
    check(
        module,
        lambda: setattr(module, "mask", mg.ones(1) * 5),
        lambda: module.mask.mul_(2.0),
        lambda: setattr(module, "mask", None),
        lambda: setattr(module, "bias", 7.0),
        lambda: setattr(module, "ready", False),
        lambda: module.masks.update({(3, "mask"): mg.ones(3) * 9}),
        lambda: module.masks.clear(),
    )
    quick = mg.jit(Masked())
    with mg.no_grad():
        for n in (1, 2, 3, 1, 2, 3, 1, 2, 3):
            quick(mg.ones(n))
    assert quick.cache_info().misses <= 4  # the mark and the mask are there from the first trace on


# --- what is no reason to trace again ------------------------------------------------------------------------------


def test_gradients_that_nobody_reads():
    """A function that takes derivatives does not read those that stand in captured parameters."""
    layer = nn.Linear(3, 1)
    quick = mg.jit(lambda x: mg.func.grad(lambda x: layer(x).sum())(x))
    for _ in range(2):
        quick(X)
        layer(X).sum().backward()
    assert quick.cache_info() == (1, 1, 1)


class Trainer:
    """What a loop keeps beside the model."""

    def __init__(self):
        self.layer, self.scale, self.epoch, self.losses = nn.Linear(3, 1).requires_grad_(False), 2.0, 0, []


def test_what_other_code_counts():
    """A layer in reach does not make every attribute of every object a reason to trace again."""
    trainer = Trainer()
    quick = mg.jit(lambda x: trainer.layer(x) * getattr(trainer, "scale", 1.0))
    for n in range(5):
        quick(X)
        trainer.epoch += 1
        trainer.losses.append(n)
    assert quick.cache_info() == (4, 1, 1)


@pytest.mark.parametrize("way", ["the function", "an argument"])
def test_what_function_and_others_change(way):
    """A list that both append to: each answer is that of the function, and two instances are two answers."""

    class Filled(Box):
        def __call__(self, x):
            if not self.held:
                self.held.append(2.0)
            self.count += 1
            return x * self.held[0]

    first, second = Filled(held=[], count=0), Filled(held=[7.0], count=0)
    quick = mg.jit(lambda box, x: box(x))
    runs = {"the function": (mg.jit(first), mg.jit(second)), "an argument": (lambda x: quick(first, x), None)}[way]
    other = runs[1] or (lambda x: quick(second, x))

    def see(of_first, of_second):
        for _ in range(2):
            assert (runs[0](X)[0].item(), other(X)[0].item()) == (of_first, of_second)

    see(2.0, 7.0)
    first.held[0] = 5.0
    see(5.0, 7.0)
    second.held.clear()
    see(5.0, 2.0)


def test_what_another_thread_changes_during_a_trace():
    """It is not taken for something that the function itself does at each trace."""
    box = Box(k=2.0)

    def fun(x):
        if box.k == 2.0 and len(box.__dict__) == 1:
            box.k = 3.0  # as another thread might
        return x * box.k

    quick = mg.jit(fun)
    quick(X)
    box.k = 50.0
    assert quick(X)[0].item() == quick(X)[0].item() == 50.0


class Word(str):
    """A word with a number of its own."""

    k = 2.0


def test_more_kinds_of_surroundings(monkeypatch):
    """Library modules by another name, attributes of jitted functions, order and identity of parts, odd values."""
    library = types.ModuleType("library")
    library.sqrt = lambda x: 7.0
    box = Box(lib=np, a=nn.Linear(3, 1, bias=False), b=nn.Linear(3, 1, bias=False), word=Word("a"), slots=Slots())
    both = nn.ModuleList([box.a, box.b]).requires_grad_(False)
    values = {"set": {1}, "range": range(0, 3, 2), "number": 0j, "key": {1: 2.0}}

    @mg.jit
    def scaled(x):
        return x * scaled.scale

    scaled.scale = 2.0
    quick = mg.jit(lambda x: scaled(x))
    assert quick(X)[0].item() == 2.0
    scaled.scale = 5.0
    assert quick(X)[0].item() == 5.0
    check(lambda x: x * float(box.lib.sqrt(4.0)), lambda: setattr(box, "lib", library))
    check(lambda x: x * sum(p.sum() for p in both.parameters()), lambda: setattr(box.a, "weight", box.b.weight))
    check(lambda x: x * box.word.k, lambda: setattr(box.word, "k", 3.0))
    check(lambda x: x * next(iter(values["set"])), lambda: values.update(set={1.5}), lambda: values.update(set={True}))
    check(lambda x: x * values["range"].stop, lambda: values.update(range=range(0, 4, 2)))
    check(lambda x: x * float(str(values["number"]).count("-")), lambda: values.update(number=-0j))
    check(lambda x: x * next(iter(values["key"])), lambda: values.update(key={1.0: 2.0}))

    def in_order(x):
        for p in both[0].parameters():
            x = x * 2.0 + p.sum()
        return x

    both[0].bias = nn.Parameter(mg.ones(1), requires_grad=False)

    def exchange():
        weight = both[0].weight
        del both[0].weight
        both[0].weight = weight

    check(in_order, exchange)


def test_special_methods(monkeypatch):
    """One that the class gets later, one that is no plain function, that of a metaclass, a private slot."""

    class Meta(type):
        def __getitem__(cls, key):
            return scale

    class Private(metaclass=Meta):
        __slots__ = ("__k",)

        def __init__(self):
            self.__k = 2.0

        def set(self, k):
            self.__k = k

        def by(self, x):
            return x * self.__k

        def twice(self, x, n):
            return x * n * scale

        __call__ = functools.partialmethod(twice, n=2.0)

    private = Private()
    check(private.by, lambda: private.set(5.0))
    check(lambda x: private(x), lambda: monkeypatch.setitem(globals(), "scale", 3.0))
    check(lambda x: x * Private["a"], lambda: monkeypatch.setitem(globals(), "scale", 4.0))
    check(lambda x: x * (2.0 if private else 3.0), lambda: setattr(Private, "__bool__", lambda self: False))


def test_objects_that_refuse_to_be_looked_at():
    """Attributes that raise are no reason for the function not to run."""

    class Refusing:
        k = 2.0

        def __getattr__(self, name):
            raise KeyError(name)

    refusing = Refusing()
    check(lambda x: x * refusing.k, lambda: setattr(refusing, "k", 3.0))
    refusing_module = types.ModuleType("refusing")
    refusing_module.__getattr__ = lambda name: {}[name]
    check(lambda x: x * 2.0 if refusing_module else x)


def test_what_tensors_say_of_themselves():
    """Whether one is a leaf, and how its elements lie in memory."""
    box = Box(w=mg.ones(2, 3), leaf=mg.ones(3))
    check(lambda x: x * (2.0 if box.w.is_contiguous() else 3.0), lambda: setattr(box, "w", mg.ones(3, 2).T))
    result = mg.ones(3, requires_grad=True) * 1.0
    with mg.no_grad():
        check(lambda x: x * (2.0 if box.leaf.is_leaf else 3.0), lambda: setattr(box, "leaf", result))
