"""Hidden tests of what measures. Program and clock are false: the test says how long each call takes."""

import functools

import pytest

from autograder import expect

measure = functools.partial(pytest.mark.exercise, "timing.measure")


def measured(mg, first, then, tick, rounds, enough):
    """Probe: measure a program whose first calls take these times and all later ones those, in turn.

    Returns:
        The result, how often the program was called, how often the clock was read, and the different numbers of calls
        that lie between two readings.
    """
    import itertools

    spans = itertools.chain(first, itertools.cycle(then))
    now, calls, before, readings, lengths = 0.0, 0, 0, 0, set()

    def action():
        nonlocal now, calls
        now += next(spans)
        calls += 1

    def clock():
        nonlocal before, readings
        if readings and calls > before:
            lengths.add(calls - before)
        before, readings = calls, readings + 1
        return now // tick * tick if tick else now

    seconds = mg.timing.measure(action, clock, rounds=rounds, enough=enough)
    return [seconds, calls, readings, sorted(lengths)]


@measure(group="warm_up", because="timing.measure: 'The first call is a warm-up and counts for nothing'")
def test_first_call_is_a_warm_up(student):
    """A first call that compiles for minutes leaves no trace in the result."""
    found = student(measured, [300.0], [4.0], 0.0, 1, 2.0)
    expect(
        found[0],
        4.0,
        hint="call action once before the clock is read",
        misconception="no-warm-up",
    )


@measure(group="ticks", because="timing.measure: 'the median of the rounds is at least `enough`'")
def test_clock_of_coarse_ticks(student):
    """A call takes an eighth of a tick, and a round 200 ticks: the result is right to a hundredth."""
    found = student(measured, [], [0.125], 1.0, 3, 200.0)
    expect(
        found[0],
        0.125,
        tolerance=0.00125,
        hint="double the number of calls until the rounds last as long as asked, then divide by it",
        misconception="one-call-in-each-round",
    )


@measure(group="ticks", because="timing.measure: 'found by doubling: 1, 2, 4 and so on, and no more'")
def test_long_calls_are_few(student):
    """A call that lasts long enough by itself is a round: 21 rounds need no hundred calls."""
    seconds, calls, *_ = student(measured, [], [64.0], 1.0, 21, 10.0)
    expect(
        [seconds, calls <= 64],
        [64.0, True],
        hint="the number of calls in a round begins at 1",
        misconception="a-hundred-calls",
    )


@measure(group="ticks", because="timing.measure: 'found by doubling: 1, 2, 4 and so on, and no more'")
def test_number_of_calls_doubles(student):
    """Of calls of a second, 16 are eleven seconds or more, after 1, 2, 4 and 8."""
    *_, lengths = student(measured, [], [1.0], 0.0, 3, 11.0)
    expect(
        lengths,
        [1, 2, 4, 8, 16],
        hint="how many calls the rounds have: twice as many each time",
        misconception="ten-times-as-many",
    )


@measure(group="ticks", because="timing.measure: 'the median of the rounds is at least `enough`'")
def test_median_is_long_enough(student):
    """Of three rounds of one call two are long enough: there is no need of more calls."""
    seconds, *_, lengths = student(measured, [1.0, 12.0, 5.0], [12.0], 0.0, 3, 10.0)
    expect(
        [seconds, lengths],
        [12.0, [1]],
        hint="the result, and how many calls the rounds have: their median is asked, and not the shortest",
        misconception="shortest-round-ends-the-search",
    )


@measure(group="clock", because="timing.measure: 'it is read only before and after a round'")
def test_clock_is_read_twice_a_round(student):
    """Five rounds of 512 calls, and their search, read the clock a hundred times and no thousand times."""
    seconds, _, readings, _ = student(measured, [], [0.015625], 0.0, 5, 8.0)
    expect(
        [seconds, readings <= 200],
        [0.015625, True],
        hint="reading the clock takes time as well: once before the calls of a round, once after",
        misconception="clock-read-at-each-call",
    )


@measure(group="median", because="timing.measure: 'The median of the rounds, in seconds for one call.'")
def test_median_of_the_rounds(student):
    """Of five rounds of different length the one in the middle counts, and neither the mean nor the shortest."""
    found = student(measured, [], [6.0, 2.0, 90.0, 4.0, 7.0], 0.0, 5, 1.0)
    expect(
        found[0],
        6.0,
        hint="sort the rounds and take the one in the middle",
        when={
            21.8: ("mean-of-the-rounds", "a mean follows the longest round: take the median"),
            2.0: ("shortest-round", "that is the shortest round: take the median"),
        },
    )


@measure(group="median", because="timing.measure: 'How many rounds the median is taken of'")
def test_as_many_rounds_as_asked(student):
    """Eleven of 25 rounds are held up, the first eleven: the others decide."""
    seconds, calls, *_ = student(measured, [3.0] + [50.0] * 11, [3.0], 0.0, 25, 1.0)
    expect(
        [seconds, calls >= 25],
        [3.0, True],
        hint="make as many rounds as the argument says",
        misconception="always-seven-rounds",
    )


@measure(group="median", because="timing.measure: 'they must not make rounds of too few calls look long enough'")
def test_one_long_round_does_not_end_the_search(student):
    """A call that is held up while the number of calls is looked for does not make the rounds short."""
    found = student(measured, [0.25, 75.0], [0.25], 1.0, 5, 60.0)
    expect(
        found[0],
        0.25,
        tolerance=0.006,
        hint="make all rounds with a number of calls, and ask their median whether they are long enough",
        misconception="one-round-ends-the-search",
    )


@measure(group="median", because="timing.measure: 'as long as they hit fewer than half of the rounds'")
def test_two_long_rounds_of_five_do_not_end_the_search(student):
    """Two of five rounds are held up for long: neither their mean nor the median of the first three is asked."""
    found = student(measured, [0.25, 1000.0, 1000.0], [0.25], 1.0, 5, 60.0)
    expect(
        found[0],
        0.25,
        tolerance=0.006,
        hint="as many rounds as the argument says, and their median: a mean follows the longest round",
        misconception="mean-ends-the-search",
    )


@measure(group="median", because="timing.measure: 'The median of the rounds, in seconds for one call.'")
def test_rounds_of_fewer_calls_do_not_count(student):
    """The calls of the search take two seconds, those of the rounds that are long enough one second."""
    found = student(measured, [1.0] + [2.0] * 21, [1.0], 0.0, 3, 10.0)
    expect(
        found[0],
        1.0,
        hint="the median is that of the rounds with the last number of calls: begin each number with an empty list",
        misconception="rounds-of-all-numbers",
    )
