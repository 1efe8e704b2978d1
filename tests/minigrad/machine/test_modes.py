"""Settings of one thread: random programs of `no_grad` and its kin beside PyTorch, and backends beside `no_grad`."""

from __future__ import annotations

import random
import threading

import pytest
from pytorch import torch

import minigrad as mg
from minigrad import backends

MODES = {
    "no_grad": lambda lib: lib.no_grad(),
    "enable_grad": lambda lib: lib.enable_grad(),
    "set_grad_enabled(True)": lambda lib: lib.set_grad_enabled(True),
    "set_grad_enabled(False)": lambda lib: lib.set_grad_enabled(False),
    "inference_mode": lambda lib: lib.inference_mode(),
    "inference_mode(False)": lambda lib: lib.inference_mode(False),
}
BARE = {"no_grad": "no_grad", "enable_grad": "enable_grad", "inference_mode": "inference_mode"}
BACKENDS = ("python", "numba")


class Interrupted(Exception):
    """What a random program raises and catches."""


class Player:
    """Plays a random program of modes: the same seed does the same things with each library.

    Args:
        seed: Decides what happens.
        make: Makes a new mode by name.
        bare: The names of modes that decorate without parentheses, and how to do it.
        look: Returns the setting that holds.
    """

    def __init__(self, seed, make, names, bare, look):
        self.random = random.Random(seed)
        self.make, self.names, self.bare, self.look = make, names, bare, look
        self.kept = {name: make(name) for name in names if "set" not in name and name not in BACKENDS}
        self.inside = set()
        self.seen = []

    def note(self):
        self.seen.append(self.look())

    def play(self, depth=0):
        """Do a few random things, one inside the other; note the setting before and after each."""
        for _ in range(self.random.randint(1, 3)):
            self.note()
            if depth < 4:
                self.random.choice((self.block, self.again, self.function, self.generator, self.failing))(depth + 1)
        self.note()

    def block(self, depth):
        with self.make(self.random.choice(self.names)):
            self.play(depth)

    def again(self, depth):
        """Enter an object that was made at the beginning; PyTorch's remember one block only, so never inside itself."""
        names = sorted(set(self.kept) - self.inside)
        if not names:
            return
        name = self.random.choice(names)
        self.inside.add(name)
        with self.kept[name]:
            self.play(depth)
        self.inside.discard(name)

    def decorated(self, function):
        name = self.random.choice(self.names)
        if name in self.bare and self.random.random() < 0.5:
            return self.bare[name](function)
        return self.make(name)(function)

    def function(self, depth):
        def body(count):
            self.play(depth)
            if count:
                decorated(count - 1)

        decorated = self.decorated(body)
        self.note()
        decorated(self.random.randint(0, 2))

    def generator(self, depth):
        """Run a generator that is decorated, sent to, thrown at, closed or used up."""

        def body(count):
            try:
                for each in range(count):
                    self.note()
                    try:
                        self.seen.append((yield each))
                    except Interrupted:
                        self.note()
            finally:
                self.note()
            return "done"

        steps = self.decorated(body)(self.random.randint(0, 4))
        self.note()
        try:
            self.seen.append(next(steps))
            for _ in range(self.random.randint(0, 5)):
                self.note()
                mode = self.make(self.random.choice(self.names))
                with mode:
                    what = self.random.choice(("send", "throw", "close", "play"))
                    if what == "send":
                        self.seen.append(steps.send("sent"))
                    elif what == "throw":
                        self.seen.append(steps.throw(Interrupted()))
                    elif what == "close":
                        steps.close()
                    else:
                        self.play(depth + 1)
                    self.note()
        except StopIteration as end:
            self.seen.append(end.value)
        except Interrupted:
            self.seen.append("interrupted")
        steps.close()
        self.note()

    def failing(self, depth):
        try:
            with self.make(self.random.choice(self.names)):
                self.play(depth)
                raise Interrupted
        except Interrupted:
            self.note()


def recorded(lib, seed):
    """Return what a seed's program of modes sees: whether operations are recorded."""
    bare = {name: getattr(lib, name) for name in BARE}
    player = Player(seed, lambda name: MODES[name](lib), list(MODES), bare, lib.is_grad_enabled)
    player.play()
    return player.seen


def computed(seed):
    """Return what a seed's program of backends sees: the name of the backend."""
    player = Player(seed, mg.backend, BACKENDS, {}, backends.chosen)
    player.play()
    return player.seen


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_programs_of_modes_go_as_in_pytorch(start):
    """Blocks, objects entered again, recursive functions, generators and exceptions leave the setting as there."""
    for seed in range(start, start + 100):
        assert recorded(mg, seed) == recorded(torch, seed), seed
        assert mg.is_grad_enabled()


def test_programs_of_backends_end_where_they_began():
    """The same with `backend`: what holds after a program is what held before, and both were chosen on the way."""
    seen = [computed(seed) for seed in range(60)]
    assert {each[0] for each in seen} == {each[-1] for each in seen} == {"numba"}
    assert sum("python" in each for each in seen) > 40


MADE = [
    *[(lambda make=make: make(mg), mg.is_grad_enabled) for make in MODES.values()],
    *[(lambda name=name: mg.backend(name), backends.chosen) for name in BACKENDS],
]


@pytest.mark.parametrize(("make", "look"), MADE, ids=[*MODES, *BACKENDS])
def test_one_object_holds_in_each_of_its_blocks(make, look):
    """It may be entered again, after another choice and inside itself; each block ends with what held before it."""
    first = look()
    with make():
        value = look()
    for around in ("no_grad", "enable_grad"):
        with MODES[around](mg), mg.backend("numba"):
            before = look()
            mode = make()
            with mode:
                assert look() == value
            assert look() == before
            with mode:
                with mode:
                    assert look() == value
                assert look() == value
            assert look() == before
            with pytest.raises(Interrupted), mode:
                raise Interrupted
            assert look() == before
    assert look() == first


def test_a_setting_that_is_entered_after_another_choice_ends_with_that():
    """The block of a setting that was made long ago ends with what held at its beginning."""
    chosen = mg.backend("python")
    mg.backend("numba")
    with chosen:
        assert backends.chosen() == "python"
    assert backends.chosen() == "numba"
    recording = mg.set_grad_enabled(True)
    mg.set_grad_enabled(False)
    with recording:
        assert mg.is_grad_enabled()
    assert not mg.is_grad_enabled()
    mg.set_grad_enabled(True)


@pytest.mark.parametrize(("make", "look"), MADE, ids=[*MODES, *BACKENDS])
def test_two_threads_share_an_object_and_no_setting(make, look):
    """A thread begins with the first setting whatever others chose, and ends its blocks with its own."""
    beginning, seen, turns = look(), [], threading.Barrier(2)
    with MODES["no_grad"](mg), mg.backend("python"):
        here, mode = look(), make()
        with mode:
            value = look()

        def other():
            seen.append(look())
            turns.wait(10)
            with mode:
                turns.wait(10)
                seen.append(look())
                turns.wait(10)
            seen.append(look())

        thread = threading.Thread(target=other)
        thread.start()
        turns.wait(10)
        with mode:
            turns.wait(10)
        assert look() == here
        turns.wait(10)
        thread.join()
        assert look() == here
    assert seen == [beginning, value, beginning]


def test_a_new_thread_begins_with_the_environments_backend(monkeypatch):
    """Where MINIGRAD_BACKEND says "python", quick forms of methods, which all threads share, never stand there."""
    monkeypatch.setattr(backends, "_at_first", "python")
    seen = []
    with mg.backend("numba"):
        thread = threading.Thread(target=lambda: seen.append(backends.chosen()))
        thread.start()
        thread.join()
        assert not backends.is_quick_in_all_threads()
    assert seen == ["python"]


def test_a_block_inside_a_generator_may_end_in_another_thread():
    """The other thread keeps its own setting."""

    def steps():
        with mg.no_grad():
            yield mg.is_grad_enabled()

    generator, seen = steps(), []

    def begin():
        seen.extend((next(generator), mg.is_grad_enabled()))

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    assert next(generator, "end") == "end"
    assert seen == [False, False]
    assert mg.is_grad_enabled()


@pytest.mark.parametrize(("make", "look"), MADE, ids=[*MODES, *BACKENDS])
def test_what_cannot_be_decorated_is_told(make, look):
    """A class, an asynchronous function and a number are refused, in words, and nothing stays switched."""

    async def waits():
        return None

    async def waits_and_yields():
        yield None

    before = look()
    for thing, words in (
        (Interrupted, "decorate the methods of Interrupted, not the class"),
        (waits, "an asynchronous function would run after the mode has ended"),
        (waits_and_yields, "an asynchronous function would run after the mode has ended"),
        (3, "decorates a function, not 3"),
    ):
        with pytest.raises(TypeError, match=words):
            make()(thing)
        assert look() == before


def test_a_decorated_function_keeps_its_name():
    """Wrapped functions and generator functions keep name and text, also without parentheses."""

    @mg.no_grad
    def square(x):
        """Return x * x."""
        return x * x

    @mg.enable_grad
    def squares(x):
        """Yield x * x."""
        yield x * x

    assert (square.__name__, square.__doc__) == ("square", "Return x * x.")
    assert (squares.__name__, squares.__doc__) == ("squares", "Yield x * x.")
    x = mg.ones(1, requires_grad=True)
    assert not square(x).requires_grad
    with mg.no_grad():
        assert next(squares(x)).requires_grad
