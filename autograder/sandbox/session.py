"""Sessions: a student's cells run in the sandbox, and what the grader asks of the state after them."""

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from autograder.library import MINIGRAD, Library
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.patience import COMPILING, Patience, at_work, kept_waiting
from autograder.sandbox.isolation import Isolation, backend_of, choose
from autograder.sandbox.model import (
    CellOutcome,
    CellStatus,
    ExerciseSpec,
    Failure,
    FailureKind,
    Limits,
    Observation,
    SourceCell,
)
from autograder.sandbox.warm import Lost, Silent, Warm

_CELL_GRACE = 0.5  # inside, a cell's time limit rings first and keeps what the cell has defined
_TEST_GRACE = 1.5
_EXTENSION = 0.25  # by so much at once a limit is stretched, while the session has anything to do
_COMPILED = 3  # a session may compile for so many times its own limit beside it
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{9,16}\b")
_T = TypeVar("_T")
_STATUSES = frozenset(get_args(CellStatus))
_KINDS = frozenset(get_args(FailureKind))
_CONTAINED = frozenset({"timeout", "memory", "killed", "output", "too-large"})


class Sandbox:
    """A warm worker for one edition of the library; sessions run in it one after the other.

    Not for several threads at once: make one for each. The worker ends with the thread that started it.

    Args:
        edition: Folder that holds the library to grade with.
        limits: The resources that a student's code may use.
        isolation: "auto", or a name that `choose` knows; "none" is used only if it is asked for.
        preload: Modules to import once, before any session, besides numpy, cloudpickle and the library.
        library: The library in the edition.
        data: Folder of files that each session finds in its working folder, anew each time.
        forks: False to run without fork, as where the system has none; for isolation "none" only.

    Raises:
        SandboxUnavailable: if the isolation cannot be had, or the edition cannot be imported in it.
    """

    def __init__(
        self,
        edition: Path,
        limits: Limits | None = None,
        isolation: str = "auto",
        *,
        preload: Iterable[str] = (),
        library: Library = MINIGRAD,
        forks: bool = True,
        data: Path | None = None,
    ) -> None:
        self.edition = Path(edition).resolve()
        self.limits = limits or Limits()
        self.isolation: Isolation = choose(isolation)
        self.preload = tuple(preload)
        self.library = library
        self.forks, self.data = forks, data
        self.busy = False
        self._warm: Warm | None = None

    def __enter__(self) -> "Sandbox":
        self.warm()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The running worker; this process where there is none yet."""
        return self._warm.process.pid if self._warm is not None else os.getpid()

    def warm(self) -> Warm:
        """The running worker; started afresh if the last one is gone."""
        if self._warm is not None and self._warm.process.poll() is not None:
            self.close()
        if self._warm is None:
            backend = backend_of(self.isolation)
            self._warm = Warm(
                backend,
                self.edition,
                self.limits,
                preload=self.preload,
                library=self.library,
                forks=self.forks,
                data=self.data,
            )
        return self._warm

    def end_session(self) -> int:
        """End what runs in the worker; if it cannot be used again, the next session starts another.

        Returns:
            How many processes the session had left running beside its own.
        """
        self.busy = False
        if self._warm is None:
            return 0
        self._warm.left_running = 0
        usable = self._warm.end_session()
        left = self._warm.left_running
        if not usable:
            self.close()
        return left

    def close(self) -> None:
        """End the worker and everything inside."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None

    def session(self, cells: Sequence[SourceCell], exercise: ExerciseSpec, seconds: float | None = None) -> "Session":
        """Run cells in a fork of the worker; use it as a context manager.

        Args:
            cells: In the notebook's order.
            exercise: The objects that are taken from the cells and installed in the library.
            seconds: Time for the whole session, at most `limits.submission_seconds`.
        """
        return Session(self, cells, exercise, seconds)


class Session:
    """The state after a student's cells, to be observed.

    A cell that ends its process costs its own effect only: the cells are run again without it. What had to be contained
    is said in `events`, all of it once the session has ended.

    Args:
        box: The sandbox.
        cells: In the notebook's order.
        exercise: The objects that are taken from the cells.
        seconds: Time for the whole session.

    Attributes:
        apart: Seconds that count against no limit: those in which a sandbox was started, or a compiler ran.
    """

    def __init__(
        self, box: Sandbox, cells: Sequence[SourceCell], exercise: ExerciseSpec, seconds: float | None = None
    ) -> None:
        self.box = box
        self.exercise = exercise
        self.missing: list[str] = list(exercise.objects)
        self.events: list[str] = []
        self._cells = list(cells)
        self._ended: set[int] = set()  # cells that ended their process
        self._outcomes: dict[int, CellOutcome] = {}
        most = box.limits.submission_seconds
        self._allowed = most if seconds is None else min(seconds, most)
        self.apart = 0.0
        self._time = self._patience(self._allowed)
        self._current = -1
        self._dead: Failure | None = Failure("killed", "the session has not begun")

    @property
    def cells(self) -> list[CellOutcome]:
        """The outcome of each cell, in order."""
        return [self._outcomes[number] for number in range(len(self._cells))]

    def __enter__(self) -> "Session":
        if self.box.busy:
            raise RuntimeError("this sandbox is in a session already; end it first, or make another sandbox")
        begun = time.monotonic()
        self.box.warm()
        self.apart = time.monotonic() - begun
        self._time = self._patience(self._allowed)
        self._dead = None
        try:
            self._run_all_cells()
        except BaseException:
            self.box.end_session()
            raise
        return self

    def _patience(self, seconds: float) -> Patience:
        """A limit that is stretched by what other processes than the session's own, and a compiler, keep it waiting."""
        before = self.apart
        return Patience(seconds, kept_waiting(self.box.process), 0.0, lambda: self.apart - before)

    def _run_all_cells(self) -> None:
        skip: set[int] = set()
        while not self._run_cells(skip):
            # One more cell has an outcome now; the rest is run again from the start, without it.
            ended = {number for number, outcome in self._outcomes.items() if outcome.status in {"killed", "timeout"}}
            skip = ended | self._ended
            self._end()
            if not self._time.left():
                self._give_up(Failure("timeout", f"the submission used up its {self._allowed:g} s"))
                break

    def __exit__(self, *_: object) -> None:
        self._give_up(Failure("killed", "the session has ended"))
        self._end()

    def _end(self) -> None:
        if self.box.end_session():
            self._tell("it left processes running, which were ended")

    def _note_forgery(self, error: Exception) -> None:
        if isinstance(error, wire.Malformed) or (isinstance(error, Lost) and error.kind == "forged"):
            self._tell(f"it forged an answer: {_line(str(error), 200)}")

    def _tell(self, event: str) -> None:
        if event not in self.events:
            self.events.append(event)

    def _give_up(self, failure: Failure) -> None:
        self._dead = failure
        for number, cell in enumerate(self._cells):
            self._outcomes.setdefault(number, CellOutcome(cell.label, "killed", message="not run: " + failure.message))

    def _run_cells(self, skip: set[int]) -> bool:
        """Run the cells once; False if one of them ended the process, and now has its outcome."""
        waiting = [number for number in range(len(self._cells)) if number not in skip]
        self._current = -1
        cells = [self._as_request(number, cell, number in skip) for number, cell in enumerate(self._cells)]
        warm = self.box.warm()
        self.box.busy = True
        try:
            warm.send(op="session", cells=cells, exercise=self.exercise.id, objects=list(self.exercise.objects))
            for number in waiting:
                self._outcomes[number] = outcome = self._hear_cell(number)
                if outcome.status not in {"ok", "error"}:
                    self._tell(outcome.sentence())
            self._hear_missing()
        except (Lost, Silent, wire.Malformed, wire.TooLarge) as error:
            return self._blame(error)
        return True

    @staticmethod
    def _as_request(number: int, cell: SourceCell, skip: bool) -> dict[str, Any]:
        label = cell.label or f"cell {number + 1}"
        return {"source": cell.source, "kind": cell.kind, "exercise": cell.exercise, "label": label, "skip": skip}

    def _hear(self, seconds: float) -> dict[str, Any]:
        """The child's next frame, within `seconds` and the session's own time, both stretched on a busy machine.

        What compiles tells afterwards how long that took, so that it is waited for a while longer. What sleeps is kept
        waiting by nobody: its limit is not stretched.
        """
        longer = COMPILING if "numba" in self.box.preload else 0.0
        patience = self._patience(seconds + longer)
        wait, idle = patience.left(), False
        while True:
            self._time.left()  # asks how busy the machine is, and moves the end accordingly
            last = self._time.end + _CELL_GRACE + longer
            try:
                origin, answer = self.box.warm().receive(min(time.monotonic() + wait, last))
                break
            except Silent:
                wait = min(patience.left(), _EXTENSION)
                was_idle, idle = idle, not at_work(self.box.process)
                if not wait or last <= time.monotonic() or (idle and was_idle):
                    raise
        if origin == "P":
            raise Lost(_line(answer.get("died"), 200) or "the session's process is gone", str(answer.get("kind")))
        compiled = answer.pop("compiled", 0.0)
        if isinstance(compiled, float) and 0.0 < compiled <= longer:  # as a student's process says, so it is bounded
            self.apart = min(self.apart + compiled, _COMPILED * self._allowed)
        return answer

    def _hear_cell(self, number: int) -> CellOutcome:
        self._current = number
        answer = self._hear(self.box.limits.cell_seconds + _CELL_GRACE)
        if answer.get("cell") != number:
            raise wire.Malformed("an answer about another cell")
        return _read(_read_outcome, answer, self._cells[number].label)

    def _hear_missing(self) -> None:
        self._current = -1
        answer = self._hear(self.box.limits.cell_seconds + _CELL_GRACE)
        missing = answer.get("missing")
        if not isinstance(missing, list):
            raise wire.Malformed("an answer without the names that are missing")
        self.missing = [name for name in self.exercise.objects if name in missing]

    def _blame(self, error: Exception) -> bool:
        """Write a lost process to the account of the cell that was running; True if there is nothing left to try."""
        number = self._current
        if isinstance(error, Silent):
            limit = min(self.box.limits.cell_seconds, self._allowed)
            outcome = CellOutcome("", "timeout", message=f"the cell did not end within {limit:g} s and was stopped")
        else:
            status: CellStatus = "memory" if isinstance(error, Lost) and error.kind == "memory" else "killed"
            outcome = CellOutcome("", status, message=_line(str(error), 200) or "the cell ended its process")
        self._note_forgery(error)
        if number < 0:
            self._give_up(Failure("killed", f"the session could not be set up: {outcome.message}"))
            return True
        self._ended.add(number)
        outcome = CellOutcome(self._cells[number].label, outcome.status, message=outcome.message)
        self._outcomes[number] = outcome
        self._tell(outcome.sentence())
        return False

    def observe(self, fn_pickle: bytes, args: Sequence[Any] = (), seconds: float | None = None) -> Observation:
        """Call a probe, as `fn(library, *args)`, in a fork of the state after the cells.

        Args:
            fn_pickle: The result of `pack_probe`.
            args: Plain data.
            seconds: Wall time, `limits.test_seconds` if not given.

        Raises:
            ValueError: if the arguments are not plain data.
        """
        if self._dead is not None:
            return Observation(ok=False, failure=Failure("killed", self._dead.message))
        wanted = self.box.limits.test_seconds if seconds is None else seconds
        left = self._time.left(enough=wanted)
        allowed = min(wanted, left)
        if not left:
            return self._lose("timeout", f"the submission used up its {self._allowed:g} s")
        late = f"the submission used up its {self._allowed:g} s"
        if allowed < left:
            late = f"no answer within {allowed:g} s"
        request = {"function": fn_pickle.hex(), "args": wire.encode(list(args)), "seconds": allowed}
        try:
            self.box.warm().send(op="observe", **request)
            observation = _read(_read_observation, self._hear(allowed + _TEST_GRACE))
        except Silent:
            return self._lose("timeout", late)
        except (Lost, wire.Malformed) as error:
            self._note_forgery(error)
            kind: FailureKind = "memory" if isinstance(error, Lost) and error.kind == "memory" else "killed"
            return self._lose(kind, _line(str(error), 200) or "the session's process is gone")
        failure = observation.failure
        if failure is not None and failure.kind == "timeout":  # what time was left is no round number
            observation = Observation(ok=False, failure=Failure("timeout", late))
        if failure is not None and failure.kind in _CONTAINED:
            self._tell(f"while it was asked: {late if failure.kind == 'timeout' else failure.message}")
        return observation

    def _lose(self, kind: FailureKind, message: str) -> Observation:
        """Give the session up: what follows is answered 'killed' at once."""
        self._dead = Failure(kind, f"an earlier call ended the session: {message}")
        self._tell(f"while it was asked: {message}")
        self._end()
        return Observation(ok=False, failure=Failure(kind, message))


def _line(raw: object, limit: int) -> str:
    """A text from inside as one printable line."""
    if not isinstance(raw, str):
        return ""
    text = "".join(each if each.isprintable() else " " for each in raw[: 4 * limit])
    # An address differs from run to run, and a report is to be the same.
    return _ADDRESS.sub("0x...", " ".join(text.split()))[:limit]


def _read(reader: Callable[..., _T], *answer: Any) -> _T:
    """Read an answer: any error of reading is the answer's fault, for it may be forged.

    Raises:
        Malformed: if it cannot be read.
    """
    try:
        return reader(*answer)
    except wire.Malformed:
        raise
    except Exception as error:
        raise wire.Malformed("an answer that cannot be read") from error


def _read_outcome(answer: dict[str, Any], label: str) -> CellOutcome:
    status, line, notes, output = (answer.get(name) for name in ("status", "line", "notes", "output"))
    if not isinstance(status, str) or status not in _STATUSES:
        raise wire.Malformed("an outcome of no known status")
    if not isinstance(notes, list) or not isinstance(output, str):
        raise wire.Malformed("an outcome that cannot be read")
    number = line if isinstance(line, int) and not isinstance(line, bool) and 0 < line < 1_000_000 else None
    texts = {name: _line(answer.get(name), 300) for name in ("error", "message", "text")}
    kept = tuple(_line(note, 200) for note in notes[:20])
    return CellOutcome(
        label, cast(CellStatus, status), line=number, notes=kept, output=wire.text(output[:10_000]), **texts
    )


def _read_observation(answer: dict[str, Any]) -> Observation:
    if set(answer) == {"value"}:
        return Observation(ok=True, value=wire.decode(answer["value"]))
    failure = answer.get("failure")
    if not isinstance(failure, list) or len(failure) != 2 or not isinstance(failure[0], str):
        raise wire.Malformed("an answer that is neither a value nor a failure")
    if failure[0] in _KINDS:
        return Observation(ok=False, failure=Failure(cast(FailureKind, failure[0]), _line(failure[1], 500)))
    raise wire.Malformed("a failure of no known kind")
