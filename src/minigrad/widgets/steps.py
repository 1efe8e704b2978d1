"""The steps of an engine: the gradients handed from result to input, complete ones, and variables that still wait.

An engine is recorded once (`record`); `Moment` is the state after some of its steps. Nothing here knows a right order:
the steps are those of the library's present engine, also where they are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minigrad import autodiff
from minigrad.draw.graph import describe, start_of
from minigrad.draw.watching import Visit, Watched, watch
from minigrad.errors import ExerciseNotDone

Edge = tuple[int, int]
"""A result's key, and which of its inputs."""


@dataclass(frozen=True)
class Recording:
    """A recording of an engine's steps.

    Attributes:
        graph: The watched variables by unique id, the result first.
        start: The derivative of the result that it began with.
        visits: Its steps.
        names: Of variables, by unique id.
        slopes: The derivative of a result in each of its inputs, where it is a number.
        error: The error that stopped the engine, or nothing.
    """

    graph: Mapping[int, Watched]
    start: Any
    visits: Sequence[Visit]
    names: Mapping[int, str]
    slopes: Mapping[Edge, Any]
    error: str

    @cached_property
    def result(self) -> int:
        """The key of the result."""
        return next(iter(self.graph))

    @cached_property
    def variables(self) -> list[int]:
        """The keys of everything that is no constant, the result first.

        >>> from minigrad.widgets.steps import record
        >>> x = minigrad.Scalar(3.0)
        >>> len(record(x * x + x).variables)  # the sum, the product, and x
        3
        """
        return [key for key, node in self.graph.items() if not node.is_constant()]

    def edges_to(self, key: int) -> Iterator[Edge]:
        """Yield the uses of a variable, each of which hands it a part of its gradient."""
        for user in self.variables:
            for place, parent in enumerate(self.graph[user].parents):
                if parent.unique_id == key:
                    yield user, place

    def parts_of(self, visit: Visit) -> Iterator[tuple[Edge, int, Any]]:
        """Yield the gradients that a step handed on, each with its edge and its receiver."""
        parents = [parent.unique_id for parent in self.graph[visit.key].parents]
        taken: set[int] = set()
        for key, part in visit.handed:
            free = [i for i, parent in enumerate(parents) if parent == key and i not in taken]
            if free:
                taken.add(free[0])
                yield (visit.key, free[0]), key, part

    def called(self, key: int) -> str:
        """Return a variable's name in a sentence."""
        name, symbol, value = describe(self.graph[key], self.names)
        return name or (f"the {symbol} that is {value}" if symbol else f"the leaf {value}")


def record(result: Any, gradient: Any = 1.0, names: Mapping[int, str] | None = None) -> Recording:
    """Let the library's present engine run back from a result, and record its steps.

    Args:
        result: The variable at the right end of the graph.
        gradient: The derivative to start from. For a tensor of several elements it is a tensor of its shape.
        names: Of variables, by unique id.

    >>> from minigrad.widgets.steps import record
    >>> x = minigrad.Scalar(3.0)
    >>> len(record(x * x).variables)
    2
    """
    graph, error = watch(result), ""
    root = graph[result.unique_id]
    start = start_of(result, gradient)
    with autodiff.no_grad():
        try:
            autodiff.backpropagate(root, start)
        except ExerciseNotDone as missing:
            error = f"There is no engine yet: {missing}"
        except Exception as stopped:
            error = f"The engine stopped here: {type(stopped).__name__}: {stopped}"
        slopes = dict(_slopes(graph))
    return Recording(graph, start, tuple(root.visits), names or {}, slopes, error)


def _slopes(graph: Mapping[int, Watched]) -> Iterator[tuple[Edge, Any]]:
    """Yield the derivative of each number in each of its inputs: a step back that starts from 1."""
    for key, node in graph.items():
        if node.is_constant() or node.is_leaf() or hasattr(node.variable, "shape"):
            continue
        try:
            handed = [derivative for _, derivative in node.variable.chain_rule(1.0)]
        except Exception:  # the student's own rule; the engine's run has said what is wrong with it
            continue
        places = [place for place, parent in enumerate(node.parents) if not parent.is_constant()]
        yield from (((key, place), slope) for place, slope in zip(places, handed, strict=False))


class Moment:
    """The state after so many steps of an engine.

    Args:
        recording: The whole run.
        step: How many of its steps are done.
    """

    def __init__(self, recording: Recording, step: int) -> None:
        self.recording = recording
        self.step = step
        self.visits = recording.visits[:step]
        self._handed = [part for visit in self.visits for part in recording.parts_of(visit)]
        self._whole: set[Edge] = set()
        self._was_complete: dict[int, bool] = {}
        for visit in self.visits:
            self._follow(visit)

    def _follow(self, visit: Visit) -> None:
        """Note whether a step was taken with a whole gradient, and so handed on whole parts."""
        complete = all(edge in self._whole for edge in self.recording.edges_to(visit.key))
        self._was_complete[visit.key] = complete
        edges = {edge for edge, _, _ in self.recording.parts_of(visit)}
        self._whole = self._whole | edges if complete else self._whole - edges

    @property
    def now(self) -> int | None:
        """The key of the variable that was visited last."""
        return self.visits[-1].key if self.visits else None

    @property
    def graph(self) -> dict[int, Watched]:
        """The variables with the gradients that they have received and handed on until now."""
        return {
            key: replace(
                node,
                arrived=[visit.arrived for visit in self.visits if visit.key == key],
                handed=[list(visit.handed) for visit in self.visits if visit.key == key and not node.is_leaf()],
            )
            for key, node in self.recording.graph.items()
        }

    def gradient(self, key: int) -> Any:
        """Return the sum of the gradients handed to a variable so far, or None if there are none."""
        total = self.recording.start if key == self.recording.result else None
        with autodiff.no_grad():
            for _, receiver, part in self._handed:
                if receiver == key:
                    total = part if total is None else total + part
        return total

    def waits_for(self, key: int) -> list[int]:
        """Return the users of a variable that have not yet handed it their whole part."""
        missing = [user for user, place in self.recording.edges_to(key) if (user, place) not in self._whole]
        return list(dict.fromkeys(missing))

    def state(self, key: int) -> str:
        """Return where a variable stands.

        Returns:
            "constant"; "waits" for parts of its gradient; "complete", and not yet visited; "visited", and complete
            when that happened last; "early", visited last before its gradient was complete.
        """
        if self.recording.graph[key].is_constant():
            return "constant"
        if key not in self._was_complete:
            return "waits" if self.waits_for(key) else "complete"
        return "visited" if self._was_complete[key] else "early"
