"""What each known mistake costs, and the rules that these costs keep.

Measured on the known-wrong answers, whatever the groups of an exercise are called:

- One mistake costs one group of points.
- A mistake about something small costs a quarter of the exercise at most. `wrong/kinds.toml` says which mistakes these
  are: of a corner case, of rounding, of style, or in a second derivative.
- One wrong function of four or more costs a quarter at most.

The second rule and the third need groups that are small enough, the first also `results.causes`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.course import Exercise
from autograder.judging.scoring import scored_again
from autograder.results import Graded
from autograder.results.causes import NO_WORK, SMALL, confirmed

MANY = 4
"""From this number of functions on, one wrong function costs a quarter of the exercise at most."""

_QUARTER = 0.25 + 1e-9  # 0.75 of 3 points are a quarter, whatever floats make of them


@dataclass(frozen=True)
class Cost:
    """The price of one mistake.

    Attributes:
        groups: The groups of points that are lost.
        share: Their part of the exercise's points, from 0 to 1.
        kind: The special kind of the mistake; else empty.
    """

    groups: tuple[str, ...]
    share: float
    kind: str = ""

    @property
    def is_small(self) -> bool:
        """True if the mistake is about something small."""
        return self.kind in SMALL

    def __str__(self) -> str:
        about = f" ({self.kind})" if self.kind else ""
        return f"{self.share:.0%}: {', '.join(self.groups)}{about}"


def costs_of(
    exercise: Exercise,
    graded: Mapping[str, Graded],
    seen: Mapping[str, Mapping[str, str]],
    kinds: Mapping[str, str],
) -> dict[str, Cost]:
    """The price of each known mistake of an exercise.

    Args:
        exercise: The exercise.
        graded: The result of each known-wrong answer.
        seen: What the tests saw of each of them.
        kinds: The special kinds among them.
    """
    no_work = [name for name, kind in kinds.items() if kind == NO_WORK]
    found = {}
    for name, result in graded.items():
        counted = scored_again(exercise, confirmed(result, seen, no_work))
        lost = [group for group in counted.groups if group.earned < group.points]
        share = sum(each.points for each in lost) / exercise.points if exercise.points else 0.0
        found[name] = Cost(tuple(each.name for each in lost), share, kinds.get(name, ""))
    return found


def unfair(exercise: Exercise, costs: Mapping[str, Cost], changed: Mapping[str, int]) -> Iterator[str]:
    """A sentence for each mistake that costs too much.

    Args:
        exercise: The exercise.
        costs: The price of each mistake.
        changed: The number of the exercise's objects that each wrong answer writes differently.
    """
    for name, cost in costs.items():
        where = f"wrong/{exercise.id}/{name}.py"
        if cost.kind == NO_WORK:
            continue
        if len(cost.groups) > 1:
            yield f"{where}: costs the groups {', '.join(cost.groups)}; one mistake costs one group"
        if cost.share <= _QUARTER:
            continue
        if cost.is_small:
            yield f"{where}: a mistake of the kind {cost.kind} costs {cost.share:.0%} of the points; a quarter at most"
        elif len(exercise.objects) >= MANY and changed.get(name) == 1:
            yield f"{where}: one wrong function of {len(exercise.objects)} costs {cost.share:.0%}; a quarter at most"


def changed_objects(reference: str, text: str) -> int:
    """Return how many functions and classes of a solution cell another text writes differently."""
    ours, theirs = _objects(reference), _objects(text)
    return sum(theirs.get(name) != written for name, written in ours.items())


def _objects(text: str) -> dict[str, str]:
    nodes = ast.parse(text).body
    return {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
