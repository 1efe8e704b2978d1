"""Hidden tests that are collected once and called for one submission after the other.

A run of pytest costs more than the tests of an exercise do. So pytest collects them once for each judge; a test that
asks for nothing but `student` and its parameters is then called directly, and means the same. Where a test asks for
more (a fixture, a class, a setup function), its exercise goes through pytest each time.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import pickle
import random
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from types import FunctionType, GeneratorType, ModuleType
from typing import Any

import pytest

from autograder.judging.hidden_tests import watched_groups
from autograder.judging.plugin import HiddenTestError, HiddenTests, quiet_process, run_hidden_tests
from autograder.results import Verdict


class Ended(KeyboardInterrupt):
    """The process that grades is told to end: no fault of the test that was running.

    Like Ctrl-C, and unlike SystemExit, it passes through hypothesis and pytest: neither takes it for a failed test.
    """


class WarmTests:
    """The hidden tests of one exercise.

    Args:
        exercise: The exercise's id.
        groups: For each exercise of the course, the names of its groups.
        hidden: The directory of hidden tests.

    Attributes:
        watched: The groups of points that rest on what a witness inside the sandbox reports.

    Raises:
        HiddenTestError: If they cannot be collected.
    """

    def __init__(self, exercise: str, groups: Mapping[str, Sequence[str]], hidden: Path) -> None:
        self._hidden = hidden
        plugin = HiddenTests(exercise, groups, None, lambda probe: b"", 0)
        run_hidden_tests(plugin, hidden)
        self.watched = watched_groups(plugin.items)
        self._items = [item for item in plugin.items if isinstance(item, pytest.Function)]
        self._is_plain = len(self._items) == len(plugin.items) and all(map(_is_plain, self._items))
        self._modules = list({id(item.module): item.module for item in self._items}.values())
        self._before = [_state(module) for module in self._modules]

    def run(self, plugin: HiddenTests) -> list[Verdict]:
        """Judge one submission.

        Raises:
            HiddenTestError: If a hidden test is at fault.
            BaseException: The sandbox could not do its work.
        """
        if not self._is_plain:
            return run_hidden_tests(plugin, self._hidden)
        output, generators = io.StringIO(), _generators()
        with quiet_process(()), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            for item in self._items:
                _call(plugin, item)
                if plugin.fault is not None:
                    raise plugin.fault
        self._refuse_changes()
        if drawn := [name for name, state in generators.items() if state != _generators()[name]]:
            raise HiddenTestError(f"{plugin.exercise}: a test draws from {drawn[0]}'s shared generator; seed its own")
        return plugin.verdicts

    def _refuse_changes(self) -> None:
        """Refuse changes in a module of tests, other numbers and texts too: the next submission is judged by them."""
        for module, before in zip(self._modules, self._before, strict=True):
            after = _state(module)
            changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
            if changed:
                file = Path(module.__file__ or "").name
                raise HiddenTestError(f"{file}: a test changed its module's {changed[0]}; make it anew in each test")


def _is_plain(item: pytest.Function) -> bool:
    """Return whether a test can be called with `student` and its parameters alone."""
    params = set(item.callspec.params) if hasattr(item, "callspec") else set()
    indirect = any(marker.kwargs.get("indirect") for marker in item.iter_markers("parametrize"))
    return item.cls is None and not indirect and set(item.fixturenames) <= params | {"student"}


def _call(plugin: HiddenTests, item: pytest.Function) -> None:
    """Run a test as pytest would, and let the plugin judge how it ended."""
    error: BaseException | None = None
    plugin.prepare(item)
    try:
        if not plugin.is_decided(item):
            arguments = dict(item.callspec.params) if hasattr(item, "callspec") else {}
            if "student" in item.fixturenames:
                arguments["student"] = plugin.new_student()
            with plugin.effort.spent():
                item.obj(**arguments)
    except KeyboardInterrupt:
        raise
    except pytest.exit.Exception as stop:
        raise KeyboardInterrupt from stop
    except BaseException as raised:
        error = raised
    plugin.conclude(item, "call", error)


def _state(module: ModuleType) -> dict[str, object]:
    """Tell what a test could change of its module: each name's object, with all that it holds of the module's own."""
    return {
        name: _told(value, module.__name__, frozenset())
        for name, value in vars(module).items()
        if not name.startswith("__")
    }


def _generators() -> dict[str, object]:
    """The states of the generators of random numbers that a process shares."""
    numpy = sys.modules.get("numpy.random")
    return {"random": random.getstate(), **({"numpy.random": pickle.dumps(numpy.get_state())} if numpy else {})}


def _told(value: Any, module: str, above: Set[int]) -> object:
    """A value as something to compare; `above` are the objects that hold it."""
    if id(value) in above:
        return None
    parts = _parts(value, module)
    if parts is None:
        with contextlib.suppress(Exception):  # what cannot be pickled is told by which object it is
            return pickle.dumps(value)
        return id(value)
    inside = {*above, id(value)}
    kind = type(value) if isinstance(value, list | tuple | dict) else id(value)
    return kind, [_told(each, module, inside) for each in parts]


def _parts(value: Any, module: str) -> Iterable[Any] | None:
    """The values that a container, or an object of the module's own, holds; None for any other object."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, GeneratorType):
        return [value.gi_frame.f_lasti, value.gi_frame.f_locals] if value.gi_frame else []
    if isinstance(value, ModuleType) or (callable(value) and getattr(value, "__module__", "") != module):
        return []
    if isinstance(value, FunctionType):
        # Pytest and hypothesis keep things at a test that change with each run.
        own = {} if value.__name__.startswith("test_") else vars(value)
        return [value.__defaults__, value.__kwdefaults__, own, inspect.getclosurevars(value).nonlocals]
    if isinstance(value, type):
        return [each for name, each in vars(value).items() if not name.startswith("__")]
    return [vars(value)] if type(value).__module__ == module and hasattr(value, "__dict__") else None
