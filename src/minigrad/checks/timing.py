"""Visible tests of what measures, on a clock that the test moves: the machine's own speed plays no part."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from types import SimpleNamespace

from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.runner import visible

SECTION = "07b 'A measurement of your own'"


class FalseMachine:
    """A program and a clock on which a call takes as long as the test says.

    Args:
        spans: How many seconds each call takes, one after the other.
        tick: The clock moves in steps of so many seconds; 0.0 for a clock that moves smoothly.

    Attributes:
        calls: How often the program was called.
        readings: How often the clock was read.
    """

    def __init__(self, spans: Iterable[float], tick: float = 0.0) -> None:
        self._spans, self._tick, self._now = iter(spans), tick, 0.0
        self.calls = self.readings = 0

    def action(self) -> None:
        """Run the program once."""
        self._now += next(self._spans)
        self.calls += 1

    def clock(self) -> float:
        """Return the time that the clock shows, in seconds."""
        self.readings += 1
        return self._now // self._tick * self._tick if self._tick else self._now


@visible("timing.measure", SECTION)
def the_first_call_does_not_count(student: SimpleNamespace) -> None:
    """The first call takes 100 seconds, since it compiles, and each later one 2: the result is 2."""
    machine = FalseMachine(itertools.chain([100.0], itertools.repeat(2.0)))
    found = student.measure(machine.action, machine.clock, rounds=1, enough=1.0)
    expect(found, 2.0, hint="call action once before the first round", when={100.0: "that is the first call"})
    told = f"{machine.calls} calls of 2 seconds were made for one round of a second"
    expect_that(machine.calls <= 4, told, "begin with one call in a round, and double only while that is too short")


@visible("timing.measure", SECTION)
def a_clock_of_whole_seconds(student: SimpleNamespace) -> None:
    """Four calls a second, and a clock that shows whole seconds only: rounds of 100 seconds tell a quarter of one."""
    machine = FalseMachine(itertools.repeat(0.25), tick=1.0)
    found = student.measure(machine.action, machine.clock, rounds=3, enough=100.0)
    when = {
        0.0: "one call is shorter than a tick: a round has many calls",
        1.0: "one call is shorter than a tick: a round has many calls",
        128.0: "that is a round: divide by the number of its calls",
    }
    expect(found, 0.25, tolerance=0.004, hint="double the number of calls until a round lasts 100 seconds", when=when)
    told = f"the clock was read {machine.readings} times for {machine.calls} calls"
    expect_that(machine.readings < machine.calls / 4, told, "read it before and after a round only")


@visible("timing.measure", SECTION)
def the_median_of_the_rounds(student: SimpleNamespace) -> None:
    """Of five rounds of 50, 4, 1, 2 and 3 seconds, the one in the middle counts: 3."""
    machine = FalseMachine(itertools.cycle([3.0, 50.0, 4.0, 1.0, 2.0]))
    found = student.measure(machine.action, machine.clock, rounds=5, enough=0.5)
    when = {
        12.0: "that is the mean, which follows the longest round",
        1.0: "that is the shortest round",
        4.0: "that is the middle one of seven: make as many rounds as asked",
    }
    expect(found, 3.0, hint="sort the rounds and take the one in the middle", when=when)


@visible("timing.measure", SECTION)
def one_long_call_is_no_long_round(student: SimpleNamespace) -> None:
    """The second call is held up for a minute; all others take a quarter of a second, on a clock of whole seconds."""
    machine = FalseMachine(itertools.chain([0.25, 60.0], itertools.repeat(0.25)), tick=1.0)
    found = student.measure(machine.action, machine.clock, rounds=5, enough=50.0)
    when = {0.0: "one round was long by chance: ask the median of all rounds whether they are long enough"}
    expect(found, 0.25, tolerance=0.006, hint="ask the median of the rounds whether they are long enough", when=when)
