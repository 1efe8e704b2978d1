"""The kinds of events of a board, and how each is counted from plain data.

A kernel is a text that `kernels` runs in this process. A plan of memory is asked of the sandbox, and what comes back
is checked and measured here. Settings are a literal of Python that is read and never run; the grader trains by itself.

Inputs are drawn anew for each board, so that an answer that stands in the text fits none of them. One draw serves
all entries of a board.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from autograder.board.kernels import launch
from autograder.board.memory import Counts, Memory, Refused
from autograder.board.program import Program
from autograder.common.python_text import defined_names, parse
from autograder.sandbox import SourceCell

Array = NDArray[Any]

DRAWS = 2
"""Inputs on which a kernel is run: what it touches has to be the same on all of them."""

LARGEST_PLACE = 2**48


class Asks(Protocol):
    """Asks the sandbox a question after a submission's cells have run: `judging.judge.Judge.ask`."""

    def __call__(self, exercise: str, cells: Sequence[SourceCell], probe: Callable[..., Any], *args: Any) -> Any:
        """Return plain data.

        Raises:
            StudentFailure: If none came.
        """


@dataclass(frozen=True)
class HandedIn:
    """One student's answer to an event, as it was handed in.

    Attributes:
        cells: The cells of the notebook, as the sandbox takes them.
        answer: The text of the solution cell of the event's exercise.
        added: The texts of the student's own cells.
    """

    cells: tuple[SourceCell, ...]
    answer: str
    added: tuple[str, ...]


@dataclass(frozen=True)
class Counted:
    """The numbers of an entry.

    Attributes:
        order: What entries are ordered by, the smallest first.
        shown: A text for each of the event's headings.
    """

    order: tuple[float, ...]
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Event(ABC):
    """Something that is counted.

    Attributes:
        title: Its name on the page.
        about: What is counted, in a sentence or two.
        exercise: The exercise that has to be right, with all of its points.
        function: The name in a student's own cell that the board reads.
    """

    title: str
    about: str
    exercise: str
    function: str

    @property
    @abstractmethod
    def headings(self) -> tuple[str, ...]:
        """The names of the numbers; the first number counts first."""

    @abstractmethod
    def count(self, entry: HandedIn, draw: int, ask: Asks) -> Counted:
        """Count an entry.

        Args:
            entry: The entry.
            draw: The number from which the inputs of this board are drawn.
            ask: Asks the sandbox.

        Raises:
            Refused: If it is not right, or cannot be counted.
        """


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    Attributes:
        grid: The number of blocks in x, y and z.
        block: The number of threads of a block, likewise.
        out: The array for the result.
        args: The other arguments: arrays of floats, which count; arrays of whole numbers, such as shapes, which do
            not; and numbers.
        wanted: The right result.
        writes: How many elements of the result a thread may write.
        error: How far the result may be from the right one, relative to the largest element.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    out: Array
    args: tuple[Any, ...]
    wanted: Array
    writes: int = 1
    error: float = 0.0


@dataclass(frozen=True)
class Kernel(Event):
    """A CUDA kernel: transactions with global memory, then passes over shared memory.

    Attributes:
        prepare: Makes a launch, of the text's constants and a generator of random numbers.
        constants: Numbers that the text may name, and may set otherwise.
        instead: The function of the exercise's answer that is taken where the student's own cells have none.
    """

    prepare: Callable[[Callable[[str], int], np.random.Generator], Launch] = field(kw_only=True)
    constants: Mapping[str, int] = field(kw_only=True, default_factory=dict)
    instead: str = field(kw_only=True, default="")

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the names of the numbers that rank."""
        return "transactions", "passes"

    def count(self, entry: HandedIn, draw: int, ask: Asks) -> Counted:
        """Run the kernel here on several inputs."""
        program = Program.of((entry.answer, *entry.added), self.constants)
        name = self.function if self.function in program.functions else self.instead
        if name not in program.functions:
            raise Refused(f"no cell has a function {self.function}")
        found = {self._counted(program, name, np.random.default_rng([draw, each])) for each in range(DRAWS)}
        if len(found) > 1:
            raise Refused("what it touches depends on the numbers that it is given")
        (counts,) = found
        return Counted(counts, tuple(f"{each:,}" for each in counts))

    def _counted(self, program: Program, name: str, rng: np.random.Generator) -> tuple[int, int]:
        case, counts = self.prepare(program.number, rng), Counts()
        out = Memory(case.out, "global", counts, is_output=True)
        args = (_argument(each, counts) for each in case.args)
        launch(program, name, case.grid, case.block, [out, *args], counts)
        allowed = case.error * float(np.abs(case.wanted).max())
        if not bool(np.all(np.abs(out.data.reshape(case.wanted.shape) - case.wanted) <= allowed)):  # nan is wrong
            raise Refused("its result is wrong on the numbers of this board")
        if out.most_written(int(np.prod(case.grid) * np.prod(case.block))) > case.writes:
            raise Refused(f"a thread writes more than {case.writes} elements of the result")
        return counts.transactions, counts.passes


def _argument(given: Any, counts: Counts) -> Any:
    if isinstance(given, np.ndarray):
        return Memory(given, "global" if given.dtype.kind == "f" else "constant", counts)
    return np.int64(given)


Life = tuple[int, int, int]
"""The size of a value in bytes, and the first and the last step at which it is in memory."""


@dataclass(frozen=True)
class Plan(Event):
    """A plan of memory: the bytes that it needs, over several programs.

    Attributes:
        prepare: Draws the programs: the lives of the values of each.
        probe: What is asked of the library in the sandbox: the first byte of each value of each program.
        instead: The function of the exercise whose place the student's own takes.
    """

    prepare: Callable[[np.random.Generator], list[list[Life]]] = field(kw_only=True)
    probe: Callable[..., Any] = field(kw_only=True)
    instead: str = field(kw_only=True)

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the names of the numbers that rank."""
        return "bytes", "above the least"

    def count(self, entry: HandedIn, draw: int, ask: Asks) -> Counted:
        """Ask for plans, and measure them here."""
        programs = self.prepare(np.random.default_rng(draw))
        cells = list(entry.cells)
        if any(self.function in defined_names(text) for text in entry.added):
            cells.append(SourceCell(f"{self.instead} = {self.function}", "added", None, "the board's cell"))
        plans = ask(self.exercise, cells, self.probe, [[list(life) for life in each] for each in programs])
        if not isinstance(plans, list) or len(plans) != len(programs):
            raise Refused("no plan came for each of the programs")
        peak = sum(peak_of(lives, places) for lives, places in zip(programs, plans, strict=True))
        least = sum(map(least_of, programs))
        return Counted((peak,), (f"{peak:,}", f"{(peak - least) / least:.1%}"))


def peak_of(lives: Sequence[Life], places: Any) -> int:
    """Return how many bytes a plan needs.

    Args:
        lives: The values.
        places: The first byte of each, as the sandbox says it.

    Raises:
        Refused: If two values that are in memory at the same time overlap, or a place is none.
    """
    if not isinstance(places, list) or len(places) != len(lives):
        raise Refused("a plan has a place for each value")
    if not all(type(each) is int and 0 <= each <= LARGEST_PLACE for each in places):
        raise Refused("a place is a whole number from 0 on")
    rows = [(*life, place) for life, place in zip(lives, places, strict=True)]
    for number, (size, first, last, place) in enumerate(rows):
        for other_size, other_first, other_last, other in rows[:number]:
            if first <= other_last and other_first <= last and place < other + other_size and other < place + size:
                raise Refused("two values that are in memory at the same time overlap")
    return max((size + place for size, _, _, place in rows), default=0)


def least_of(lives: Sequence[Life]) -> int:
    """Return the bytes that no plan can do without: the largest sum of values that are there at one step."""
    steps = {first for _, first, _ in lives}
    return max((sum(size for size, first, last in lives if first <= step <= last) for step in steps), default=0)


@dataclass(frozen=True)
class Settings(Event):
    """Settings with which the grader itself trains a model: the loss on what it has not seen.

    Attributes:
        train: Trains with settings and a number to draw from, and returns the loss and the number of steps. Its
            `Refused` says what is wrong with the settings, which are any plain data.
    """

    train: Callable[[Any, int], tuple[float, int]] = field(kw_only=True)

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the names of the numbers that rank."""
        return "loss", "steps"

    def count(self, entry: HandedIn, draw: int, ask: Asks) -> Counted:
        """Read the settings, and train."""
        loss, steps = self.train(literal(entry.added, self.function), draw)
        if not np.isfinite(loss):
            raise Refused("the loss is no number: a rate is too large")
        loss = round(loss, 3)  # beyond that, machines round differently
        return Counted((loss,), (f"{loss:.3f}", f"{steps:,}"))


def literal(texts: Sequence[str], name: str) -> Any:
    """Return the plain data that cells assign to a name; the last cell wins.

    Raises:
        Refused: If there are none, or they are no literal: nothing of a student's runs for it.
    """
    found = None
    for text in texts:
        tree = parse(text)
        for each in tree.body if tree else ():
            if isinstance(each, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in each.targets):
                found = each.value
    if found is None:
        raise Refused(f"no cell sets {name}")
    try:
        return ast.literal_eval(found)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise Refused(
            f"{name} is made of numbers, texts, lists and dictionaries as they stand, and of no code"
        ) from None
