"""Settings of one thread that hold for a block: what `no_grad`, `set_grad_enabled` and `backend` have in common.

Each thread has its own value. An object may be entered again, inside its own block too and in several threads at once,
and it decorates functions. A generator function runs in the mode at each step, and what it yields to does not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from threading import get_ident
from typing import Any, Protocol, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Switch(Protocol):
    """Where a setting is kept, for the thread that asks.

    Attributes:
        latest: The `Setting` that was made last, until something else is chosen.
    """

    latest: Any


class Mode:
    """A value of a switch that holds in a ``with`` block, and while a function that it decorates runs.

    Args:
        switch: The switch.
        place: The name of its attribute that is the value.
        value: The value.
        name: How the mode calls itself in messages: ``no_grad()``.
    """

    __slots__ = ("_before", "_name", "_place", "_switch", "_value")

    def __init__(self, switch: Switch, place: str, value: Any, name: str) -> None:
        self._switch, self._place, self._value, self._name = switch, place, value, name
        self._before: dict[int, list[Any]] = {}  # for each thread what held before, the innermost block last

    def __enter__(self) -> None:
        switch, place = self._switch, self._place
        self._before.setdefault(get_ident(), []).append(getattr(switch, place))
        setattr(switch, place, self._value)
        switch.latest = None

    def __exit__(self, *error: object) -> None:
        entered = self._before.get(get_ident())
        if entered:  # a generator may be closed in another thread than it was begun in
            setattr(self._switch, self._place, entered.pop())
            self._switch.latest = None

    def __call__(self, function: F) -> F:
        """Return the function that runs in this mode.

        Raises:
            TypeError: If it is a class, or asynchronous, so that it is not clear what would run in the mode.
        """
        if not callable(function):
            raise TypeError(f"{self._name}: decorates a function, not {function!r}")
        if isinstance(function, type):
            raise TypeError(f"{self._name}: decorate the methods of {function.__name__}, not the class")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{self._name}: an asynchronous function would run after the mode has ended; use it in a 'with' "
                "statement inside the function, around code that does not wait"
            )

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                return (yield from _in_steps(self, function(*args, **kwargs)))
        else:

            @functools.wraps(function)
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

        return cast("F", wrapped)

    def __repr__(self) -> str:
        return self._name


class Setting(Mode):
    """A mode that holds from when it is made: for good or, as a context manager, until the end of its block."""

    __slots__ = ("_first",)

    def __init__(self, switch: Switch, place: str, value: Any, name: str) -> None:
        super().__init__(switch, place, value, name)
        self._first = getattr(switch, place)
        setattr(switch, place, value)
        switch.latest = self

    def __enter__(self) -> None:
        is_fresh = self._switch.latest is self
        super().__enter__()
        if is_fresh:  # the block of ``with backend(name):`` ends with what held before that line
            self._before[get_ident()][-1] = self._first

    def __call__(self, function: F) -> F:
        """Return the function that runs in this mode; what held before the mode was made holds again.

        Raises:
            TypeError: As `Mode`.
        """
        if self._switch.latest is self:
            setattr(self._switch, self._place, self._first)
            self._switch.latest = None
        return super().__call__(function)


def _in_steps(mode: Mode, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run a generator in a mode, step by step, so that whoever takes its values does not run in the mode."""
    step: Callable[[Any], Any] = generator.send
    given: Any = None
    while True:
        with mode:
            try:
                value = step(given)
            except StopIteration as end:
                return end.value
        try:
            given = yield value
            step = generator.send
        except GeneratorExit:
            with mode:
                generator.close()
            raise
        except BaseException as error:  # thrown in by the consumer
            given, step = error, generator.throw
