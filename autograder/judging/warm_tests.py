"""Hidden tests that are collected once and called for one submission after the other.

A run of pytest costs more than the tests of an exercise do. So pytest collects them once for each judge; a test that
asks for nothing but `student` and its parameters is then called directly, and means the same. Where a test asks for
more (a fixture, a class, a setup function), its exercise goes through pytest each time.
"""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.judging.hidden_tests import watched_groups
from autograder.judging.plugin import HiddenTestError, HiddenTests, quiet_process, run_hidden_tests
from autograder.results import Verdict

__all__ = ["Ended", "WarmTests"]


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
        output = io.StringIO()
        with quiet_process(()), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            for item in self._items:
                _call(plugin, item)
                if plugin.fault is not None:
                    raise plugin.fault
        self._refuse_changes()
        return plugin.verdicts

    def _refuse_changes(self) -> None:
        """Refuse changes in a module of tests: the next submission would be judged by them."""
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


def _state(module: ModuleType) -> dict[str, bytes]:
    """The values of a module that a test could change, as bytes that tell."""
    return dict(_values(module))


def _values(module: ModuleType) -> Iterator[tuple[str, bytes]]:
    for name, value in vars(module).items():
        if not name.startswith("__") and _is_data(value):
            with contextlib.suppress(Exception):  # what cannot be pickled is no plain value
                yield name, pickle.dumps(value)


def _is_data(value: Any) -> bool:
    return not isinstance(value, ModuleType | type | str | int | float | bool | None) and not callable(value)
