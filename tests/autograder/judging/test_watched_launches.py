"""A kernel cannot tell by its arguments whether its work is looked at: the same launch is judged by its values."""

import importlib.util
from collections import defaultdict

import numpy as np
import pytest

import minigrad
from autograder.course.loading import DEFAULT_COURSE
from minigrad import compiling, cuda_ops, debug, fast_ops  # noqa: F401  # the probes reach the last two by `minigrad`
from minigrad.checks import launches
from minigrad.debug.source import unwrap

HIDDEN = DEFAULT_COURSE / "hidden"
BY_VALUES_TOO = {"threads", "layout", "aligned", "inner", "transactions", "passes"}
"""Watched groups whose tests compare the results of the launches that they watch."""
VALUES_OF_ITS_OWN = {"test_pool_keeps_every_digit", "test_scan_keeps_every_digit", "test_sum_keeps_every_digit"}
"""Tests of other watched groups that look at nothing but the results of their launch."""


def plain(value):
    """The parts of an argument that a kernel can see."""
    return (value.shape, tuple(map(repr, map(float, value.flat)))) if isinstance(value, np.ndarray) else repr(value)


def made_with(kernel):
    """The functions of numbers that a kernel was made with."""
    cells = [cell.cell_contents for cell in unwrap(kernel).__closure__ or ()]
    codes = [unwrap(each).__code__ for each in cells if hasattr(unwrap(each), "__code__")]
    return tuple((code.co_code, code.co_consts) for code in codes)


@pytest.fixture
def seen(monkeypatch):
    """The launches of kernels, as they come."""
    found = []

    def note(kernel, args):
        found.append((made_with(kernel), tuple(map(plain, args))))

    def logged(run):
        def watch(kernel, *args, **options):
            note(kernel, args)
            return run(kernel, *args, **options)

        return watch

    def called(make):
        def interpret(kernel):
            def run(*args):
                note(kernel, args)
                return make(kernel)(*args)

            return run

        return interpret

    races, cuda_races, interpreted = debug.races, debug.cuda_races, compiling.interpreted
    monkeypatch.setattr(debug, "races", logged(races), raising=False)
    monkeypatch.setattr(debug, "cuda_races", logged(cuda_races), raising=False)
    monkeypatch.setattr(launches, "cuda_races", logged(cuda_races))
    monkeypatch.setattr(compiling, "interpreted", called(interpreted))
    monkeypatch.setattr(compiling, "compile_kernel", called(interpreted))
    return found


@pytest.mark.full("kernels are launched in the simulator of a GPU", share=16)
@pytest.mark.parametrize("file", ["test_fast_ops.py", "test_cuda_ops.py"])
def test_each_launch_that_is_watched_is_one_of_a_test_of_values(seen, file):
    """Waiting, memory and parallel loops are looked at where a wrong result would cost the points for values."""
    spec = importlib.util.spec_from_file_location("hidden_kernels", HIDDEN / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    by_values, watched = defaultdict(set), defaultdict(dict)
    for name, test in vars(module).items():
        marks = [each for each in getattr(test, "pytestmark", ()) if each.name == "exercise"]
        if not marks:
            continue
        seen.clear()
        test(lambda observe, *args: observe(minigrad, *args))
        (exercise,), group = marks[0].args, marks[0].kwargs["group"]
        assert seen, name
        if group in set(module.WATCHED) - BY_VALUES_TOO and name not in VALUES_OF_ITS_OWN:
            watched[exercise].update(dict.fromkeys(seen, name))
        elif group == "values" or name in VALUES_OF_ITS_OWN:
            by_values[exercise].update(seen)
    assert len(watched) >= 3
    for exercise, found in watched.items():
        assert {name for launch, name in found.items() if launch not in by_values[exercise]} == set(), exercise
