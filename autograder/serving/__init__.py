"""Marks on submit: each new hand-in in nbgrader's exchange is collected, graded, recorded and fed back at once.

The steps are those of the term's commands, called as functions, so that tests, sandboxes and nbgrader stay loaded.
There is no list of what was done. Whether a hand-in is done follows from times, ledger and pages (`gradebook.inbox`),
and each step leaves alone what it finds done. So a run that SIGKILL ended goes on with the hand-ins that it was at.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from autograder.classes.claims import Claims
from autograder.classes.pool import Grading, executor_of, prepare
from autograder.classes.work import Outcome, Progress, Task, Work, refuse_lost_references
from autograder.common.claims import Claim
from autograder.course import Course, CourseError, Serving, classlist, extensions
from autograder.gradebook import tries
from autograder.gradebook.class_feedback import ClassFeedback, Makers
from autograder.gradebook.databases import back_up
from autograder.gradebook.dates import Dates, Watched
from autograder.gradebook.inbox import HandIn, Inbox, listed
from autograder.gradebook.nbgrader_hooks import sources_of
from autograder.gradebook.recording import Recorder, hidden_of
from autograder.grafting.collecting import taken_at
from autograder.grafting.tidying import ORIGINALS
from autograder.judging.judge import Judge
from autograder.results import format_points
from autograder.serving.status import Line, Status

PATIENCE = 5.0
"""Seconds that another run may still have the right: the processes of one that was killed end a moment after it."""

LOOK = 1.0
"""Seconds from one look at the exchange to the next."""

SHARE = 10
"""A look that takes long, as at very many folders, is followed by a pause of as many times its length."""

AGAIN = 60.0
"""Seconds after which a hand-in that was refused is tried again: a disk may have room by then."""

OLD = 10
"""Most hand-ins whose pages wait to be looked at, where they were graded before: a new one's page comes after them."""

WRITE = 5.0
"""Seconds from one state that is written to the next."""


class Only:
    """The right to serve a course, which one run has at a time.

    Args:
        course: The course.

    Raises:
        CourseError: If another run serves it.
    """

    def __init__(self, course: Course) -> None:
        self._claim = Claim(course.directory / ".grades" / "serve.lock")
        end = time.monotonic() + PATIENCE
        while not self._claim.take():
            if time.monotonic() > end:
                raise CourseError("another `autograder serve` is at this course; stop that one first")
            time.sleep(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._claim.give_back()


@dataclass(frozen=True)
class _Refused:
    said: str
    again: float


@dataclass
class _Recorded:
    """A hand-in whose marks are recorded; `to_come` are the students whose pages are still being made."""

    outcome: Outcome | None
    to_come: set[str]
    is_new: bool = False
    problem: str = ""


class Session:
    """Serving with one state of the course's files; another state wants another session.

    Args:
        course: The course, which has a table `[serve]`.
        which: Returns the assignments to serve, as they are now; others than at the beginning want another session.
        status: Counts to keep up to date.
        say: Is called with each sentence for the terminal.
        isolation: The sandbox's kind.
        warm: How many sandboxes each process keeps, of several lessons.

    Raises:
        CourseError: If the gradebook, the groups or an assignment cannot be used, or a reference answer loses points.
    """

    def __init__(
        self,
        course: Course,
        which: Callable[[Course], list[str]],
        status: Status,
        say: Callable[[str], None],
        *,
        isolation: str = "auto",
        warm: int = 0,
    ) -> None:
        assert course.serving is not None
        self._course, self._root, self._limits = course, course.directory, course.serving
        self._which, self._assignments = which, tuple(which(course))
        self._status, self._say, self._isolation = status, say, isolation
        self._warm = warm
        self._dates = Dates(course, Watched(course))
        self._classmates = self._dates.classmates
        self._newest: dict[Work, HandIn] = {}  # of each group one
        self._beside: dict[Work, list[HandIn]] = {}  # what other members of its group handed in before it
        self._at: dict[Work, HandIn] = {}
        self._done: set[str] = set()
        self._from: dict[str, dt.datetime] = {}  # from when on the limits let a hand-in be graded
        self._refused: dict[str, _Refused] = {}
        self._is_old: dict[str, bool] = {}  # whether a hand-in was in the submitted tree when it was first seen
        self._recorded: dict[HandIn, _Recorded] = {}
        self._look_at = self._write_at = 0.0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            back_up(self._course)
            self._hidden = hidden_of(self._root, self._assignments[0])
            self._state = self._follows()
            self._inboxes = {name: Inbox(self._course, name) for name in self._assignments}
            self._recorders = {name: stack.enter_context(Recorder(self._root, name)) for name in self._assignments}
            cache = self._root / ".grades"
            judge = stack.enter_context(
                Judge(self._course, hidden=self._hidden, isolation=self._isolation, cache=cache, warm=self._warm)
            )
            lessons = {name: self._course.assignments[name].lessons for name in self._assignments}
            refuse_lost_references(judge, [lesson for names in lessons.values() for lesson in names])
            prepare(judge, lessons)
            pages = {name: ClassFeedback(self._root, name) for name in self._assignments}
            self._makers = stack.enter_context(Makers(pages, self._status.jobs))
            self._claims = Claims(self._course, ())
            executor = executor_of(judge, self._status.jobs, keep=True, write=True, claims=self._claims)
            self._grading = Grading(stack.enter_context(executor), lessons, Progress())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*error)  # type: ignore[arg-type]  # whatever ended the block

    def run(self, stopping: Callable[[], bool]) -> None:
        """Serve until it is asked to stop, or until the course's files are others; what was begun is finished first.

        Raises:
            GraderError: If nothing can be graded.
            HiddenTestError: If a hidden test is at fault.
        """
        while True:
            is_ending = stopping() or self._has_changed()
            if not is_ending:
                self._look()
                self._begin()
            for outcome in self._grading.outcomes():
                self._record(outcome)
            self._publish()
            self._show(at_once=is_ending and not self._at)
            if is_ending and not self._at:
                return

    # What is to be done ----------------------------------------------------------------------------------------

    def _follows(self) -> str:
        """A fingerprint of the files and dates that marks and pages follow from, and of what pages show today."""
        files = [self._root / name for name in ("nbgrader_config.py", extensions.FILE, *classlist.FILES)]
        times = [(file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()]
        shown = [tries.shown(self._dates, name) for name in self._assignments]
        dates = [(self._dates.ends(name), self._dates.extended(name)) for name in self._assignments]
        names = self._which(self._course)
        return repr((sources_of(self._course, self._hidden), times, dt.date.today(), names, shown, dates))

    def _has_changed(self) -> bool:
        if time.monotonic() < self._look_at:
            return False
        try:
            return self._follows() != self._state
        except OSError:  # a file is being replaced at this moment
            return True

    def _look(self) -> None:
        """Look at the exchange, now and then."""
        if (begun := time.monotonic()) < self._look_at:
            return
        names = listed(next(iter(self._inboxes.values())).folder)
        groups: defaultdict[tuple[str, tuple[str, ...]], list[HandIn]] = defaultdict(list)
        for each in sorted(
            (each for inbox in self._inboxes.values() for each in inbox.newest(names)), key=lambda each: each.when
        ):
            groups[each.work.assignment, self._group(each.work)].append(each)
        self._newest = {group[-1].work: group[-1] for group in groups.values()}
        self._beside = {group[-1].work: group[:-1] for group in groups.values()}
        here = set(names)
        self._done &= here
        self._refused = {name: each for name, each in self._refused.items() if name in here}
        self._from = {name: each for name, each in self._from.items() if name in here}
        for inbox in self._inboxes.values():
            for sentence in inbox.sentences():
                self._say(sentence)
        self._look_at = time.monotonic() + max(LOOK, SHARE * (time.monotonic() - begun))

    def _queue(self) -> list[HandIn]:
        """The hand-ins to be looked into, in the order in which they came; first those that are new."""
        waiting = [each for each in self._newest.values() if each.work not in self._at and self._is_due(each)]
        for each in waiting:
            if each.name not in self._is_old:
                self._is_old[each.name] = self._inbox(each).is_collected(each)
        return sorted(waiting, key=lambda each: (self._is_old[each.name], each.arrived))

    def _is_due(self, hand_in: HandIn) -> bool:
        """Return whether a hand-in is to be looked into at this moment."""
        refused, at = self._refused.get(hand_in.name), self._from.get(hand_in.name)
        return (
            hand_in.name not in self._done
            and (refused is None or refused.again <= time.monotonic())
            and (at is None or at <= dt.datetime.now(dt.UTC))
        )

    def _inbox(self, hand_in: HandIn) -> Inbox:
        return self._inboxes[hand_in.work.assignment]

    def _begin(self) -> None:
        """Take in as many hand-ins as can be graded at once, one of a student, and grade them."""
        graded = len(self._at) - len(self._recorded)
        room = self._status.jobs + 1 - graded  # one more than processes, so that none waits for the next
        if room < 1:
            return
        busy = {student for work in self._at for student in self._group(work)}
        new: list[HandIn] = []
        for hand_in in self._queue():
            if room < 1:
                break
            if hand_in.work.student in busy or not self._may_begin(hand_in):
                continue
            if self._inbox(hand_in).is_graded(hand_in):  # before this session
                if len(self._recorded) >= OLD:
                    break
                self._at[hand_in.work] = hand_in
                self._make_pages(hand_in, None)
                continue
            busy.update(self._group(hand_in.work))
            room -= 1
            if self._inbox(hand_in).is_current(hand_in):  # taken in already, by a run that ended since
                self._grade(hand_in)
            else:
                new.append(hand_in)
        self._collect(new)

    def _may_begin(self, hand_in: HandIn) -> bool:
        """Return whether a hand-in is to be graded now: it is not done, and the limits allow it."""
        inbox = self._inbox(hand_in)
        if inbox.is_collected(hand_in):
            if not inbox.is_current(hand_in):  # something newer was handed in another way
                self._done.add(hand_in.name)
            return inbox.is_current(hand_in)
        student, assignment = hand_in.work.student, hand_in.work.assignment
        now = dt.datetime.now().astimezone()
        originals = (self._root / ORIGINALS / each / assignment for each in self._group(hand_in.work))
        earlier = taken_at(originals, hand_in.arrived)
        deadline = self._dates.for_student(assignment, student).deadline
        at = tries.earliest(now, hand_in.arrived, earlier, self._limits, deadline)
        if at <= now:
            return True
        if self._from.get(hand_in.name) != at:
            self._from[hand_in.name] = at
            self._let_wait(hand_in, at)
        return False

    def _let_wait(self, hand_in: HandIn, at: dt.datetime) -> None:
        """Tell the student by when a hand-in is graded."""
        limits = _limits(self._limits)
        said = f"Your submission has arrived. It is graded at {at:%Y-%m-%d %H:%M %Z}, since {limits}."
        try:
            self._inbox(hand_in).say(hand_in, said)
        except OSError as error:
            self._say(f"{hand_in.work.student}: no page says that it waits: {error}")
        self._say(f"{hand_in.work.student}: {hand_in.work.assignment} waits until {at:%Y-%m-%d %H:%M}: {limits}")

    # What is done ----------------------------------------------------------------------------------------------

    def _group(self, work: Work) -> tuple[str, ...]:
        """The students for whom a hand-in counts, who have one at a time."""
        return self._classmates.members(work.assignment, work.student)

    def _collect(self, hand_ins: list[HandIn]) -> None:
        """Take hand-ins in whose notebooks no other run is at, and grade them.

        What other members handed in before is taken in with them, for its time and the secret that names its pages.
        """
        for name, inbox in self._inboxes.items():
            mine = [each for each in hand_ins if each.work.assignment == name and self._take(each)]
            if not mine:
                continue
            others = (other for each in mine for other in self._beside[each.work] if not inbox.is_collected(other))
            taken = [*mine, *(each for each in others if self._take(each))]
            try:
                refused = inbox.collect(taken)
            finally:
                for each in taken:
                    self._give_back(each)
            for each in taken:
                if each in refused:
                    self._refuse(each, refused[each])
                elif each in mine:
                    self._grade(each)

    def _tasks(self, hand_in: HandIn) -> list[Task]:
        lessons = self._course.assignments[hand_in.work.assignment].lessons
        return [Task(hand_in.work, lesson) for lesson in ("", *lessons)]

    def _take(self, hand_in: HandIn) -> bool:
        """Claim a submission, whose files are about to be replaced; False while another run grades it."""
        if all(self._claims.take(task) is not None for task in self._tasks(hand_in)):
            return True
        self._give_back(hand_in)
        return False

    def _give_back(self, hand_in: HandIn) -> None:
        for task in self._tasks(hand_in):
            self._claims.give_back(task)

    def _grade(self, hand_in: HandIn) -> None:
        self._at[hand_in.work] = hand_in
        self._grading.add([hand_in.work])

    def _record(self, outcome: Outcome) -> None:
        recorder = self._recorders[outcome.work.assignment]
        problem = outcome.problem or recorder.take(outcome.work.student, outcome.entries, outcome.kept)
        for entry in outcome.entries:
            problem = problem or next(iter(entry.submission.ungraded), "")
        if problem:
            self._refuse(self._at.pop(outcome.work), problem)
        else:
            self._make_pages(self._at[outcome.work], outcome)

    def _make_pages(self, hand_in: HandIn, outcome: Outcome | None) -> None:
        """Let the pages of a recorded hand-in be made for all of its group, while others are graded."""
        assignment, student = hand_in.work.assignment, hand_in.work.student
        others = {*self._group(hand_in.work)} - {student}
        if others:  # one of them may be nobody whom the gradebook knows
            others.intersection_update(self._makers.feedback[assignment].students())
        self._recorded[hand_in] = _Recorded(outcome, {student, *others})
        for each in sorted({student, *others}):
            self._makers.add(assignment, each)

    def _publish(self) -> None:
        """Hand out the pages that were made since the last time; a hand-in is done when its group has all of them."""
        for name, made in self._makers.made():
            hand_in, recorded = next(
                (each, recorded)
                for each, recorded in self._recorded.items()
                if each.work.assignment == name and made.student in recorded.to_come
            )
            inbox = self._inboxes[name]
            is_new = not made.problem and not inbox.is_out(made.student)
            problem = made.problem or (inbox.release([made.student]).get(made.student, "") if is_new else "")
            recorded.problem = recorded.problem or problem
            recorded.is_new |= is_new and made.student == hand_in.work.student
            recorded.to_come.remove(made.student)
            if recorded.to_come:
                continue
            del self._at[hand_in.work], self._recorded[hand_in]
            if recorded.problem:
                self._refuse(hand_in, recorded.problem)
            else:
                self._finish(hand_in, recorded.outcome, is_new=recorded.is_new)

    def _finish(self, hand_in: HandIn, outcome: Outcome | None, *, is_new: bool) -> None:
        """Note that a hand-in is done; without an outcome it was graded before, and its page may be another one."""
        self._done.add(hand_in.name)
        self._refused.pop(hand_in.name, None)
        if outcome is None or not is_new:
            if is_new:
                self._say(f"{hand_in.work.student}: {hand_in.work.assignment}: its page is handed out")
            return
        since = max(hand_in.arrived, self._from.get(hand_in.name, hand_in.arrived))
        seconds = (dt.datetime.now(dt.UTC) - since).total_seconds()
        self._status.add(seconds)
        earned = sum(each.submission.earned for each in outcome.entries)
        points = sum(each.submission.points for each in outcome.entries)
        marks = f"{format_points(earned)} of {format_points(points)} points"
        self._say(f"{hand_in.work.student}: {hand_in.work.assignment}: {marks}, {seconds:.1f} s after it was handed in")

    def _refuse(self, hand_in: HandIn, why: str) -> None:
        """Note what keeps a hand-in from being graded; it is tried again after a while."""
        before = self._refused.get(hand_in.name)
        self._refused[hand_in.name] = _Refused(why, time.monotonic() + AGAIN)
        if before is None or before.said != why:
            self._say(f"{hand_in.work.student}: {hand_in.work.assignment} is refused: {why}")

    # What is said ----------------------------------------------------------------------------------------------

    def _show(self, *, at_once: bool) -> None:
        if time.monotonic() < self._write_at and not at_once:
            return
        self._write_at = time.monotonic() + WRITE
        self._status.lines = tuple(self._lines())
        with suppress(OSError):  # a full disk: the terminal says of each hand-in what went wrong
            self._status.write(dt.datetime.now(dt.UTC))

    def _lines(self) -> Iterable[Line]:
        open_ones = [each for each in self._newest.values() if each.name not in self._done]
        for each in sorted(open_ones, key=lambda each: each.arrived):
            state, said = "queued", ""
            if each.work in self._at:
                state = "being graded"
            elif each.name in self._refused:
                state, said = "refused", self._refused[each.name].said
            elif each.name in self._from and self._from[each.name] > dt.datetime.now(dt.UTC):
                state, said = "waits", f"until {self._from[each.name]:%Y-%m-%d %H:%M %Z}"
            yield Line(each.work.student, each.work.assignment, each.arrived, state, said)


def _limits(limits: Serving) -> str:
    """The limits, as students read them."""
    count = limits.tries_per_day
    said = f"{count} submission{'s' * (count != 1)} a day {'are' if count != 1 else 'is'} graded"
    apart = "1 minute" if limits.wait == 1 else f"{limits.wait:g} minutes"
    return f"{said}, {apart} apart" if limits.wait else said


def released(exchange: Path, assignments: Iterable[str], course: Course) -> list[str]:
    """The assignments to serve: those that are named, else all that are released at this moment.

    Args:
        exchange: The course's folder in the exchange.
        assignments: Their names; all, if none is given.
        course: The course.

    Raises:
        CourseError: If one that is named is not released.
    """
    out = [name for name in course.assignments if (exchange / "outbound" / name).is_dir()]
    for name in assignments:
        course.assignment(name)
        if name not in out:
            raise CourseError(f"{name} is not released; run `autograder term release {name}` first")
    return [name for name in out if name in assignments] if assignments else out
