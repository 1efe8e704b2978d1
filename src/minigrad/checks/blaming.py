"""Faults that lie in another answer than the one that is checked.

An answer may call what the notebook defines for another exercise, and a check cannot put a right one in its place. So
a check that fails looks there, and names the exercise to mend first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import ModuleType, SimpleNamespace
from typing import Any

from minigrad.checks.expectation import Expectation
from minigrad.checks.observed import unwatched
from minigrad.checks.runner import Test
from minigrad.errors import ExerciseNotDone
from minigrad.exercises.stubs import codes


def blaming(fault: Callable[[SimpleNamespace], Expectation | None]) -> Callable[[Test], Test]:
    """Let a test that fails say so if the fault is in another answer.

    Args:
        fault: Looks for the fault, given the answer that is checked; it returns None if there is none.
    """

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def tested(student: SimpleNamespace) -> None:
            try:
                test(student)
            except Exception as error:
                with unwatched():
                    found = fault(student)
                if found is None:
                    raise
                raise found from error

        return tested

    return decorate


def called_by(function: Any, name: str, module: ModuleType) -> Any:
    """Return what a function means by the name of an object of the library; None if it does not name that object.

    Args:
        function: An answer.
        name: The object's name.
        module: Its module. An answer writes ``name`` or ``module.name``.
    """
    names = {each for code in codes(function) for each in code.co_names}
    if name not in names:
        return None
    own = getattr(getattr(function, "__wrapped__", function), "__globals__", {})
    return (vars(module) if module.__name__.rpartition(".")[2] in names else own).get(name)


def fault_of(id: str, answers: SimpleNamespace, tests: Iterable[Test]) -> Expectation | None:
    """Return the fault of an answer that another one calls; None if its tests pass.

    Args:
        id: The exercise of the answer that is called.
        answers: The answer, as its own tests take it.
        tests: Some of these.
    """
    name = id.rpartition(".")[2]
    for test in tests:
        try:
            test(answers)
        except (ExerciseNotDone, NotImplementedError):  # the check says of every answer which one is not written
            return None
        except Exception:  # whatever it is, the check of that exercise explains it
            reason = f"it calls {name}, for which this does not hold: {(test.__doc__ or '').strip()}"
            return Expectation(None, None, reason, f'mend {name} first: `check("{id}")` says more', None)
    return None
