"""The data that goes into the sandbox and comes back, as the grader sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

MAX_REPLY_MB = 12
"""The protocol's own bound of a frame."""

BOUNDS: Mapping[str, tuple[float, float]] = {
    "cell_seconds": (0.05, 3_600),
    "test_seconds": (0.05, 3_600),
    "submission_seconds": (0.05, 36_000),
    "memory_mb": (256, 1_048_576),
    "total_mb": (64, 1_048_576),
    "processes": (4, 4_096),
    "output_bytes": (1, 100_000_000),
    "file_mb": (1, 65_536),
    "files": (10, 10_000_000),
    "reply_mb": (1, MAX_REPLY_MB),
}
"""The range of each limit: with less no right answer can run, with more it is none, or is refused."""

CellKind = Literal["setup", "solution", "added"]
CellStatus = Literal["ok", "error", "timeout", "memory", "killed", "output"]
FailureKind = Literal["error", "timeout", "memory", "killed", "not-plain", "too-large", "output", "not-done"]


class SandboxError(Exception):
    """The root of what this package raises."""


class SandboxUnavailable(SandboxError):
    """No isolation can be had on this machine, or the sandbox could not be started."""


class ProbeError(SandboxError):
    """A function that may not be shipped into the sandbox."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The resources that a student's code may use.

    Args:
        cell_seconds: Wall time of one cell.
        test_seconds: Wall time of one observation.
        submission_seconds: Wall time of one session, cells and observations together.
        memory_mb: Address space of each process, in MiB.
        total_mb: Memory of all processes of a session together, in MiB, beside what the library takes.
        processes: Processes and threads alive at once.
        output_bytes: Characters that one cell or one observation may print.
        file_mb: Size of a file, and of the scratch folder where it is a file system of its own, in MiB.
        files: Files and folders in the scratch folder, where it is a file system of its own.
        reply_mb: Size of one answer, in MiB; no more than the 12 of a frame.
    """

    cell_seconds: float = 10.0
    test_seconds: float = 5.0
    submission_seconds: float = 60.0
    memory_mb: int = 2048
    total_mb: int = 3072
    processes: int = 32
    output_bytes: int = 1_000_000
    file_mb: int = 64
    files: int = 20_000
    reply_mb: int = 12

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.type in (int, "int")
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not value > 0:
                kind = "a whole number" if whole else "a number"
                raise ValueError(f"limit {field.name} is {value!r}; it must be {kind} above 0")
            least, most = BOUNDS[field.name]
            if value < least:
                raise ValueError(
                    f"limit {field.name} is {value:g}; with less than {least:,} not even right code can run"
                )
            if not value <= most:
                raise ValueError(f"limit {field.name} is {value:g}; it must be at most {most:,}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Limits":
        """Limits from the table `[limits]` of course.toml; what is not named keeps its default.

        Raises:
            ValueError: for an unknown name or an impossible value.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"unknown limit {unknown[0]!r}; known are {', '.join(sorted(known))}")
        return cls(**values)


@dataclass(frozen=True)
class SourceCell:
    """The text of one cell, and which exercise it solves if it is a solution."""

    source: str
    kind: CellKind
    exercise: str | None = None
    label: str = "cell"


@dataclass(frozen=True)
class ExerciseSpec:
    """The exercise under test: its id and its objects' dotted names, without the library's."""

    id: str
    objects: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "objects", tuple(self.objects))


@dataclass(frozen=True)
class CellOutcome:
    """The end of a cell.

    Args:
        label: The cell's label.
        status: "ok", or what ended it.
        error: The exception's type, for "error" and "memory".
        message: One line.
        line: Number of the student's line that took part last, from 1.
        text: That line.
        notes: Remarks, such as on ignored magics.
        output: The beginning of its output.
    """

    label: str
    status: CellStatus = "ok"
    error: str = ""
    message: str = ""
    line: int | None = None
    text: str = ""
    notes: tuple[str, ...] = ()
    output: str = ""

    @property
    def ok(self) -> bool:
        """True if the cell ran to its end."""
        return self.status == "ok"

    def sentence(self) -> str:
        """The outcome in one line, for a student."""
        if self.ok:
            return f"{self.label}: ran"
        what = ": ".join(part for part in (self.error, self.message) if part)
        where = "" if self.line is None else f" (line {self.line}" + (f": {self.text})" if self.text else ")")
        return f"{self.label}: {what}{where}"


@dataclass(frozen=True)
class Failure:
    """Why there is no value, in a kind to decide by and one line to read."""

    kind: FailureKind
    message: str


@dataclass(frozen=True)
class Observation:
    """The value that a probe returned, or the reason why it returned none."""

    ok: bool
    value: Any = None
    failure: Failure | None = None
