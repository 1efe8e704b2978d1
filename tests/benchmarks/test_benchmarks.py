"""The benchmarks measure what they say: all peers of a line, quiet samples only, in processes that survive an error."""

from __future__ import annotations

import importlib
import itertools
import re

import numpy as np
import pytest

from benchmarks import (
    __main__,
    compile_section,
    finale,
    finale_section,
    grading_section,
    start_section,
    tensor_section,
    workers,
)
from benchmarks.lines import COMPILED, LINES
from benchmarks.measure import interleave
from benchmarks.notes import NOTES
from benchmarks.report import Section, bytes_of, duration, machine
from benchmarks.workers import COMPILERS, LIBRARIES, Failed, Worker


class Machine:
    """A load that was written down beforehand, and programs that note when they run."""

    def __init__(self, *shares):
        self.shares = itertools.chain(shares, itertools.repeat(shares[-1]))
        self.share = 0.0
        self.is_start = True
        self.runs = []

    def others(self):
        """Called before and after each batch."""
        if self.is_start:
            self.share = next(self.shares)
        self.is_start = not self.is_start
        return self.share

    def program(self, name):
        """A program whose time is 1 while the machine is quiet, and 100 while it is not."""

        def run():
            self.runs.append(name)
            return 1.0 if self.share < 0.1 else 100.0

        return run


@pytest.fixture(autouse=True)
def one_round_a_batch(monkeypatch):
    """Each batch has one round."""
    monkeypatch.setattr("benchmarks.measure.BATCH", 0.0)


def test_only_quiet_samples_count():
    """Rounds during which others used more than a tenth of the machine are left out."""
    machine = Machine(0.5, 0.0, 0.3, 0.02, 0.0)
    samples = interleave({name: machine.program(name) for name in "ab"}, machine, seconds=9.0, rounds=(2, 3))
    assert samples.is_quiet
    assert samples.seconds == {"a": [1.0] * 3, "b": [1.0] * 3}


def test_the_machine_and_the_versions_are_told():
    """The library is found by the name that it has on PyPI."""
    assert re.search(r"cores; .*; CPython [\d.]+; minigrad-course [\d.]+, micrograd [\d.]+, numba", machine())


def test_on_a_busy_machine_the_quietest_samples_count_and_it_is_said():
    """Where no round is quiet the result says so, and has the least disturbed rounds."""
    machine = Machine(0.9, 0.2, 0.8, 0.15, 0.9)
    samples = interleave({name: machine.program(name) for name in "ab"}, machine, seconds=0.01, rounds=(2, 3))
    assert not samples.is_quiet
    assert samples.seconds["a"] == [100.0] * 2


def test_programs_take_turns():
    """In each round every program runs once, and each of them is the first one as often as the others."""
    machine = Machine(0.0)
    interleave({name: machine.program(name) for name in "abc"}, machine, seconds=9.0, rounds=(1, 3))
    rounds = [machine.runs[k : k + 3] for k in range(0, len(machine.runs), 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert [each[0] for each in rounds] == ["a", "b", "c"]


def test_the_ratio_is_the_median_of_the_rounds():
    """The ratio of two programs is taken round by round, so that a slow moment hits both."""
    machine = Machine(0.0)
    times = iter([1.0, 4.0, 10.0, 20.0, 2.0, 8.0])
    samples = interleave({"ours": lambda: next(times), "theirs": lambda: next(times)}, machine, 9.0, (1, 1))
    assert samples.ratio("ours", "theirs") == (0.25, 0.25, 0.25)


def test_every_line_has_known_peers_and_a_limit():
    """Each line compares minigrad with peers that have a process, and at least one of them sets a limit."""
    for line in (*LINES.values(), *COMPILED.values()):
        libraries = COMPILERS if line.name in COMPILED else LIBRARIES
        assert set(line.peers) <= set(libraries) - {"minigrad"}, line.name
        assert line.limits and all(limit > 0.0 for limit in line.limits.values()), line.name


def test_reasons_belong_to_lines():
    """Each noted reason for a missed target names a line that exists."""
    starts = {start.name for start in start_section.STARTS}
    finale_lines = {f"finale: {name}" for name in finale_section.LIMITS}
    first_call = {f"compiling: {name}" for name in compile_section.NAMES}
    assert set(NOTES) <= set(LINES) | set(COMPILED) | starts | finale_lines | first_call | grading_section.ROWS


def test_a_sample_ends_when_its_process_is_idle(monkeypatch):
    """One run that is not counted comes first; the wait behind the others is not in their time."""
    events, busy = [], iter([0.0, 0.005, 0.005, 0.008, 0.008, 0.008])

    class Clock:
        def perf_counter(self):
            events.append("clock")
            return 10.0 * events.count("clock")

        def process_time(self):
            return next(busy)

        def sleep(self, seconds):
            events.append("wait")

    inside = workers._Inside("math")
    monkeypatch.setattr(workers, "time", Clock())
    inside.run, inside.repeat = lambda: events.append("run"), 2
    assert inside.seconds() == 5.0
    assert events == ["run", "clock", "run", "run", "clock", "wait", "wait", "wait"]


@pytest.mark.parametrize("library", ["minigrad", "torch"])
@pytest.mark.full("benchmarks are run in processes of their own", share=4)
def test_a_process_runs_lines_and_survives_an_error(library):
    """A worker times a line, reports a failing one in one sentence, and goes on."""
    with Worker(library) as worker:
        with pytest.raises(Failed, match=r"^KeyError: 'no such line'$"):
            worker.build("no such line")
        for name in ("a * b of shape (4,)", "sigmoid(a * b + c), 1e3, forward and backward"):
            worker.build(name)
            assert 1e-8 < worker.seconds() < 1.0
        memory = worker.memory()  # asked once: a second question takes memory itself
        assert memory["peak"] >= memory["now"] > 1_000_000


@pytest.mark.full("kernels are compiled", share=12)
@pytest.mark.parametrize("library", ["minigrad", "minigrad, eager", "torch", "jax"])
def test_compiled_programs_run(library):
    """The programs for compilers are built and timed, with jit and without it; a run's peak of memory is known."""
    with Worker(library) as worker:
        for name in ("jit: sigmoid(a * b + c), 1e3, with gradients", "jit: a step of Adam, 204,000 numbers"):
            worker.build(name)
            assert 1e-8 < worker.seconds() < 5.0
        assert worker.peak_of_a_run() > 10_000_000


@pytest.mark.full("training steps are compiled by each library", share=24)
@pytest.mark.parametrize("name", [name for name in COMPILED if "epoch" in name or "a step of" in name])
def test_libraries_take_the_same_steps(name):
    """All libraries train alike: after two steps they have the same loss, or the same state."""

    def after_two_steps(library):
        step = COMPILED[name].program(importlib.import_module(COMPILERS[library]))
        step()
        found = step()
        leaves = found if isinstance(found, list) else [found]
        return [np.asarray(x.detach() if hasattr(x, "detach") else x, dtype=np.float64) for x in leaves]

    wanted = after_two_steps("torch")
    for library in ("minigrad", "minigrad, eager", "jax"):
        for x, y in zip(after_two_steps(library), wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-5 if "float32" in name else 1e-9)


@pytest.mark.full("processes of benchmarks are started", share=12)
def test_a_failing_line_is_a_row_and_not_the_end(monkeypatch):
    """A line that raises an error is reported in its row; the lines after it are measured."""
    broken = next(iter(LINES.values()))
    monkeypatch.setattr("benchmarks.tensor_section._measure", lambda *args: (_ for _ in ()).throw(Failed("broken")))
    *_, table = tensor_section.times_section([broken.name, broken.name])
    assert [row[-1] for row in table.rows] == ["failed: broken"] * 2


def test_a_word_that_no_line_has_is_answered_with_the_lines():
    """A misspelt name, and --help, list what can be run; nothing is measured."""
    with pytest.raises(SystemExit, match=r"no line has sofmax in its name; there are:\s(?s:.*)softmax 1024"):
        __main__.main(["sofmax"])


def test_tables_are_markdown():
    """A second line in a cell does not break the table."""
    section = Section("Title", ("a", "b"), [["1\n2", "3"]], text="How.", notes=["a: why"])
    assert section.markdown() == "## Title\n\n| a | b |\n| --- | --- |\n| 1<br>2 | 3 |\n\n- a: why\n\nHow."


def test_a_section_may_be_text_alone():
    """What could not be measured has a heading and a reason, and no table."""
    assert Section("On the GPU", (), text="Not measured: none here.").markdown() == (
        "## On the GPU\n\nNot measured: none here."
    )


def test_units_fit_their_numbers():
    """Times and sizes are printed in the unit that leaves one to three digits before the point."""
    assert [duration(x) for x in (2.0, 0.0125, 3.4e-6)] == ["2 s", "12.5 ms", "3.4 us"]
    assert [bytes_of(x) for x in (1.5e9, 2.5e6, 1200.0, 12.0)] == ["1.5 GB", "2.5 MB", "1.2 kB", "12 bytes"]


@pytest.mark.full("two networks are trained", share=24)
def test_finale_trains_the_same_network():
    """From the same weights and on the same batches, all three ways have the losses of PyTorch, step by step."""
    done = {name: finale.train(importlib.import_module(COMPILERS[name]), 3) for name in finale_section.NAMES}
    for key in ("first", "last", "unseen"):
        wanted = done["torch"][key]
        assert {name: pytest.approx(wanted, rel=1e-4) for name in done} == {
            name: each[key] for name, each in done.items()
        }
    assert len(done["minigrad"]["sample"]) == finale.SAMPLE
