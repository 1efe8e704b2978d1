"""Hand hostile submissions in to a scratch course, grade them, and look at everything that they could have won."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import nbformat

from autograder.building.build import build
from autograder.course.loading import load_course
from autograder.gradebook.nbgrader_hooks import fill
from autograder.gradebook.page_exporter import page_of
from autograder.grafting.collecting import regraft, take_in
from autograder.judging.judge import SESSIONS, Judge
from autograder.library import MINIGRAD
from autograder.proof.attack.bounds import TOTAL_MB
from autograder.proof.attack.elsewhere import target_of
from autograder.proof.attack.model import Attack, Files, Link, notebook_with
from autograder.proof.attack.naming import strange_names
from autograder.proof.attack.notebooks import MARKUP
from autograder.proof.attack.programs import REACHED
from autograder.proof.attack.watching import Secrets, descendants, flat, live_markup, quick_state, secret_lines, state
from autograder.proof.demo.classroom import Classroom, prepare
from autograder.results import Submission
from autograder.sandbox import Limits, choose
from autograder.sandbox.inside.patience import kept_waiting
from autograder.telling.report import as_json, as_text, clean, page

NO_EFFECT = "no effect: its answers were judged as they are"
CANARY = "canary_of_a_neighbour_who_wrote_this_line"
LIMITS = Limits(cell_seconds=1, test_seconds=2, submission_seconds=10, total_mb=TOTAL_MB)
_GROWING = ("submitted", "originals", ".grades", ".cache")
_MARKS = ("unpickled-by-the-grader", "pickled", "own-kernel", "by-magic")
MEASURED = 5.0
"""Seconds that an honest submission may need on a busy machine beside what an attack wastes."""
# A starter and the worker; every process below it is a session's. Those in gVisor are none of this machine's.
_DEPTHS = {"bubblewrap": 2, "namespaces": 2, "gvisor": 20}


@dataclass(frozen=True)
class Row:
    """The outcome of an attack.

    Attributes:
        attack: The attack.
        happened: The event in a few words.
        earned: The points it got.
        seconds: How long grading took.
        problems: Its winnings; nothing, it is hoped.
    """

    attack: Attack
    happened: str
    earned: float
    seconds: float
    problems: tuple[str, ...] = ()


class Arena:
    """A scratch course with bait in it: a neighbour's work, a gradebook, the real hidden tests.

    Args:
        out: The folder for all of it; emptied first.
        course: The course to copy.
        isolation: The sandbox's kind.
        hidden: The directory of hidden tests; by default the course's own.
        limits: The resources that code may use: little time, which endless loops use up.
    """

    def __init__(
        self, out: Path, course: Path, isolation: str = "auto", hidden: Path | None = None, limits: Limits = LIMITS
    ) -> None:
        self._processes = set(descendants())
        self.root = prepare(out, course).root
        _set_limits(self.root / "course.toml", limits)
        build(self.root)
        self.course = load_course(self.root)
        self.classroom = Classroom(out.resolve(), self.course)
        self.target = target_of(self.course)
        hidden = hidden or self.course.hidden
        notebooks = sorted(self.course.notebooks.glob("*.ipynb"))
        self.released = {path.stem: nbformat.read(path, as_version=nbformat.NO_CONVERT) for path in notebooks}
        self._lay_bait()
        self.judge = Judge(self.course, hidden=hidden, isolation=isolation, shrink_seconds=0)
        self._grade_right_answer()
        known = [path.read_text(encoding="utf-8") for path in self.course.source.rglob("*.py")]
        known += [cell.source for notebook in self.released.values() for cell in notebook.cells]
        self.secrets = Secrets({*secret_lines(hidden), CANARY}, known)
        self.before = state(self.root, _GROWING)
        self._marks = _marks()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.judge.close()

    def _lay_bait(self) -> None:
        """A neighbour who solved everything, and a gradebook that knows them."""
        target = self.target
        folder = self.root / "submitted" / "neighbour" / self.course.lessons[target.lesson].assignment
        folder.mkdir(parents=True)
        answered = notebook_with(
            self.released, f"# {CANARY}\n{target.right}", exercise=target.exercise, lesson=target.lesson
        )
        (folder / f"{target.lesson}.ipynb").write_text(json.dumps(answered))
        with closing(sqlite3.connect(self.root / "gradebook.db")) as gradebook, gradebook:
            gradebook.execute("CREATE TABLE grade (student TEXT, auto_score REAL, manual_score REAL)")
            gradebook.execute("INSERT INTO grade VALUES (?, 3, NULL)", [CANARY])

    def _grade_right_answer(self) -> float:
        """The points of a right answer with a secret in it, graded as the next student's."""
        exercise = self.course.exercise(self.target.exercise)
        return self.judge.grade_text(exercise, f"# {CANARY}\n{self.target.right}").earned

    def run(self, attack: Attack) -> Row:
        """Hand an attack in, grade it, and look for what it won."""
        before = quick_state(self.root, _GROWING), self._neighbours(attack)
        begun, withheld = time.monotonic(), kept_waiting(os.getpid())
        try:
            earned, happened, texts, pages = self._grade(attack)
        except Exception as error:  # whatever an attack makes the grader raise, it has stopped the run
            problem = f"grading ended with {type(error).__name__}: {str(error)[:200]}"
            return Row(attack, problem, 0.0, time.monotonic() - begun, (problem,))
        seconds = time.monotonic() - begun
        problems = [*self._shown(texts, pages), *self._left_behind()]
        strange = strange_names(attack, self.released) if self.course.library == MINIGRAD else []
        problems += [f"it takes {name}, which is not in the library" for name in strange]
        if earned > attack.honest + 1e-9:
            problems.append(f"{earned:g} points for what is worth {attack.honest:g}")
        if attack.keeps and earned < attack.honest - 1e-9:
            problems.append(f"{earned:g} points for right answers worth {attack.honest:g}")
        if (quick_state(self.root, _GROWING), self._neighbours(attack)) != before:
            problems.append("files of the course were changed")
        if seconds - withheld() > self.slowest:
            problems.append(f"it took {seconds:.0f} s")
        if self._grade_right_answer() != self.target.points:
            problems.append("the next student's right answer lost points")
        return Row(attack, happened, earned, seconds, tuple(problems))

    @property
    def slowest(self) -> float:
        """Seconds that grading one submission may take, where no other process keeps it waiting."""
        return 10.0 + SESSIONS * self.course.limits["submission_seconds"] + MEASURED

    def _neighbours(self, attack: Attack) -> list[dict[str, tuple[int, ...]]]:
        return [quick_state(self.root / name, [attack.name]) for name in ("submitted", "originals")]

    def _grade(self, attack: Attack) -> tuple[float, str, list[str], list[str]]:
        """Points, what happened, and every text and page that somebody reads afterwards."""
        if attack.exercise:
            graded = self.judge.grade_text(self.course.exercise(attack.exercise), attack.text)
            submission = Submission(attack.lesson, (graded,))
            return graded.earned, _happened(submission), [as_text(submission), as_json(submission)], [page(submission)]
        folder = self.root / "submitted" / attack.name / self.course.lessons[attack.lesson].assignment
        originals = self.root / "originals" / attack.name / folder.name
        handed_in = self.classroom.out / "handed-in" / attack.name
        write_files(handed_in, attack.hand_in(self.released))
        said = take_in(self.course, folder.name, handed_in, folder, originals)
        grafted = regraft(self.course, attack.lesson, folder / f"{attack.lesson}.ipynb", originals)
        submission = self.judge.grade(grafted, attack.lesson)
        notebook = grafted.notebook
        fill(notebook, submission, self.course)
        outputs = [data for cell in notebook.cells for data in _outputs_of(cell)]
        given = {cell.source for cell in self.released[attack.lesson].cells}
        prose = [cell for cell in notebook.cells if cell.cell_type != "code" and cell.source not in given]
        pages = [page(submission), *(text for kind, text in outputs if kind != "text/plain")]
        pages += [page_of(prose)] if prose else []
        texts = [as_text(submission), as_json(submission), "\n".join(said), *(text for _, text in outputs)]
        return submission.earned, _happened(submission), texts, pages

    def _shown(self, texts: list[str], pages: list[str]) -> Iterator[str]:
        """Yield everything that was shown and may not be."""
        for text in texts:
            for line in set(self.secrets.in_text(text)):
                yield f"a report shows {line[:60]!r}"
            if REACHED in text:
                yield "it reached what it tried"
        for each in pages:
            yield from (f"a page would run its script: {element}" for element in live_markup(each, MARKUP))

    def _left_behind(self) -> Iterator[str]:
        depth = _DEPTHS.get(choose(self.judge.isolation).name, 1)
        if left := self._new_processes(depth):
            yield f"processes are left: {', '.join(left)}"
        if marks := _marks() - self._marks:
            yield f"it ran a command outside: {', '.join(marks)}"

    def finish(self) -> list[str]:
        """End the judge, and say what is not as it was before all attacks."""
        self.judge.close()
        before, now = self.before, state(self.root, _GROWING)
        changed = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
        problems = [f"{path} is not what it was" for path in changed]
        if left := self._new_processes(0):
            problems.append(f"processes are left: {', '.join(left)}")
        return problems

    def _new_processes(self, depth: int) -> list[str]:
        return [f"{name} ({pid})" for pid, name in descendants(depth).items() if pid not in self._processes]


def _set_limits(path: Path, limits: Limits) -> None:
    head, _, _ = path.read_text(encoding="utf-8").partition("\n[limits]")
    lines = [f"{name} = {value}" for name, value in asdict(limits).items()]
    path.write_text("\n".join([head, "[limits]", *lines, ""]), encoding="utf-8")


def _marks() -> set[str]:
    """Files that a command would have made which no grader runs."""
    return {name for name in _MARKS if Path("/tmp", name).exists()}


def write_files(folder: Path, files: Files) -> None:
    """Write what is handed in, links and folders included."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content)


def _outputs_of(cell: nbformat.NotebookNode) -> Iterator[tuple[str, str]]:
    """The outputs of a cell, each with its media type."""
    for output in cell.get("outputs", ()):
        yield from ((kind, str(text)) for kind, text in output.get("data", {}).items())
        yield "text/plain", str(output.get("text", ""))


def _happened(submission: Submission) -> str:
    """One line about an attack: the events that were contained, else what kept its answers from being judged."""
    contained = [event for graded in submission.exercises for event in graded.events]
    reasons = [graded.reason for graded in submission.exercises if graded.reason and "not started" not in graded.reason]
    failed = [each.reason for graded in submission.exercises for each in graded.failures if each.failure]
    notes = [note for graded in submission.exercises for note in graded.notes]
    said = [submission.unreadable, *contained, *reasons, *failed, *notes, *submission.notes]
    return next((flat(clean(text)) for text in said if text), NO_EFFECT)
