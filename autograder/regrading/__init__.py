"""Grade again what was graded before, after a hidden test was mended or an exercise was dropped or reweighted.

Penalties for lateness follow the dates of today in the same way (`penalties.py`).

First a plan: every notebook of the ledger is judged again, and each mark that would change is listed. Nothing is
recorded by that. A mark falls only where it was said that it may: else the earlier result of that exercise stays,
unless other points are asked of everyone, which cannot be done to some alone.

A notebook cannot be judged again where the student has left or has handed in another one. The verdicts that the ledger
has of it are then counted by today's points, since points are for everyone.

Then the plan is carried out. The log is written ahead; where points of an exercise changed, all of the gradebook is
changed in one transaction; then submissions are recorded one by one as class grading records them, each with the
ledger last. Every step may be repeated: after a crash, a second run finds what is left to do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import Course, CourseError
from autograder.judging.scoring import scored_again
from autograder.judging.student import HiddenTestError
from autograder.results import Graded
from autograder.results.changes import Change, changes_of, merged, weights
from autograder.results.ledger import Entry, entries, read_entry, write_entry
from autograder.results.regrade_log import begin, end

if TYPE_CHECKING:
    from autograder.gradebook.recording import Recorder

__all__ = ["Change", "Plan", "carry_out", "check_weights", "confirm", "counted", "hidden_tests", "plan", "recorded"]


@dataclass(frozen=True)
class Plan:
    """The changes that grading again would make.

    Attributes:
        changes: The marks that are to be recorded, in the order of assignment, lesson, exercise and student.
        kept: Marks that would fall, and stay as they are.
        entries: The results to record, whole.
        problems: Submissions that were left out, each with a sentence.
        same: How many notebooks have the marks that they had.
        weights: The exercises of which other points are asked, with what they are worth now.
        confirmed: Results whose marks today's tests give as well, to be put into the ledger as today's.
        penalties: By student and assignment, what each notebook is to lose for lateness.
        looked_at: Whether notebooks were judged again; else the plan is about dates alone.
    """

    changes: tuple[Change, ...]
    kept: tuple[Change, ...]
    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    same: int
    weights: Mapping[str, float] = field(default_factory=dict)
    confirmed: tuple[Entry, ...] = ()
    penalties: Mapping[tuple[str, str], Mapping[str, float | None]] = field(default_factory=dict)
    looked_at: bool = True

    @property
    def is_empty(self) -> bool:
        """True if nothing is to be recorded."""
        return not (self.entries or self.penalties)


def plan(
    recorded: Iterable[Entry],
    graded: Iterable[Entry],
    *,
    exercises: Collection[str] = (),
    lower: bool = False,
    problems: Iterable[str] = (),
) -> Plan:
    """Compare results with the recorded ones.

    Args:
        recorded: The ledger's entries.
        graded: The results of grading the same notebooks again.
        exercises: Take only these; all, if none is named.
        lower: Whether marks may fall.
        problems: Sentences on what could not be graded again.

    Raises:
        CourseError: If an exercise was added to the course or taken away since, or if other points would lower
            someone's share without being told to.
    """
    before = {(entry.student, entry.assignment, entry.lesson): entry for entry in recorded}
    changes: list[Change] = []
    kept: list[Change] = []
    results: list[Entry] = []
    confirmed: list[Entry] = []
    said = list(problems)
    same = 0
    for new in sorted(graded, key=lambda entry: (entry.assignment, entry.lesson, entry.student)):
        old = before[new.student, new.assignment, new.lesson]
        if old.sha256 != new.sha256:
            said.append(
                f"{new.student}, {new.lesson}: was handed in anew after it was graded; grade it by "
                f"`autograder autograde {new.assignment}`"
            )
            continue
        found = list(changes_of(old, new, exercises))
        taken = [change for change in found if lower or change.reweighted or not change.falls]
        kept += [change for change in found if change not in taken]
        changes += taken
        if found:  # a mark that stays is a decision too: class grading is not to undo it by today's tests
            whole = merged(old, new, {change.exercise for change in taken})
            is_whole = len(found) == len(list(changes_of(old, new, ())))
            results.append(whole if is_whole else replace(whole, state=old.state))
        elif old.state != new.state and not list(changes_of(old, new, ())):
            confirmed.append(replace(old, state=new.state))
        same += not any(change.moves for change in taken)
    if not lower:
        _refuse_halves(changes)
    listed = tuple(sorted((change for change in changes if change.moves), key=_order))
    worth = {change.exercise: change.points for change in changes if change.reweighted}
    stays = tuple(sorted(kept, key=_order))
    return Plan(listed, stays, tuple(results), tuple(said), same, worth, tuple(confirmed))


def _order(change: Change) -> tuple[str, str, str, str]:
    return change.assignment, change.lesson, change.exercise, change.student


def _refuse_halves(changes: Iterable[Change]) -> None:
    """Other points are for everyone: they are not recorded where they lower a share unasked."""
    falling = sorted((change for change in changes if change.reweighted and change.falls), key=_order)
    if falling:
        first = falling[0]
        others = f" and of {len(falling) - 1} others" if len(falling) > 1 else ""
        raise CourseError(
            f"other points are asked of {first.exercise} now, by which the share of {first.student}{others} falls "
            f"(from {first.old:g} of {first.old_points:g} to {first.new:g} of {first.points:g}); points are changed "
            "for everyone or for no one: add --lower, or restore course.toml"
        )


def check_weights(
    course: Course, recorded: Iterable[Entry], students: Collection[str], exercises: Collection[str]
) -> None:
    """Refuse to change an exercise's points for a part of the class, and before the notebooks say the same.

    Args:
        course: The course as it is now.
        recorded: All of the ledger.
        students: Those who were named; none for all.
        exercises: Those which were named; none for all.

    Raises:
        CourseError: If points differ and someone or something would be left out, or `autograder build` is due.
    """
    graded = [each for entry in recorded for each in entry.submission.exercises if each.exercise in course.exercises]
    others = {each.exercise: weights(each) for each in graded if weights(each) != course.exercise(each.exercise).groups}
    for exercise in (course.exercise(exercise_id) for exercise_id in others):
        old, new = _in_words(others[exercise.id]), _in_words(exercise.groups)
        said = f"{exercise.id} has the points {new} in course.toml and {old} in the ledger"
        if students or (exercises and exercise.id not in exercises):
            raise CourseError(f"{said}, which concerns everyone; name no student, and this exercise or none")
        _check_built(course, exercise.id, said)


def _in_words(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {points:g}" for name, points in weights.items())


def _check_built(course: Course, exercise_id: str, said: str) -> None:
    """Refuse while nbgrader's source notebook has other points: the next release would bring them back."""
    exercise = course.exercise(exercise_id)
    path = course.directory / "source" / course.assignment_of(exercise).name / f"{exercise.lesson}.ipynb"
    try:
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        cells = []
    labels = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    points = [label["points"] for label in labels if label.get("grade_id") == exercise.graded_id]
    if points != [exercise.points]:
        raise CourseError(f"{said}; the notebooks do not know of it yet: run `autograder build` first")


def _reweigh_cell(gradebook: Any, place: tuple[str, str, str], points: float) -> None:
    """Change what a graded cell is worth, and nbgrader's checksum of the cell, which has that in it."""
    import nbformat
    from nbgrader.utils import compute_checksum

    graded, source = gradebook.find_grade_cell(*place), gradebook.find_source_cell(*place)
    label = {"grade_id": graded.name, "grade": True, "solution": False, "locked": source.locked, "points": points}
    cell = nbformat.from_dict({"cell_type": source.cell_type, "source": source.source, "metadata": {"nbgrader": label}})
    graded.max_score, source.checksum = points, compute_checksum(cell)


def hidden_tests(course: Course) -> Path:
    """The directory of hidden tests that the course's own configuration names."""
    from autograder.gradebook.recording import hidden_of  # loads all of nbgrader

    return hidden_of(course.directory, next(iter(course.assignments)))


def recorded(course: Course, students: Collection[str], exercises: Collection[str]) -> tuple[list[Entry], list[Entry]]:
    """All of the ledger, and what is to be graded again.

    Raises:
        CourseError: If nothing was graded yet, or nothing of someone who was named.
    """
    everything = [entry for entry in entries(course.directory) if entry.assignment in course.assignments]
    if not everything:
        raise CourseError("nothing was graded yet, so that nothing can be graded again; run `autograder autograde`")
    for student in sorted(set(students) - {entry.student for entry in everything}):
        raise CourseError(f"nothing of {student} was graded yet; correct the name, or run `autograder autograde`")
    lessons = {course.exercise(exercise).lesson for exercise in exercises} or set(course.lessons)
    chosen = [entry for entry in everything if entry.lesson in lessons]
    return everything, [entry for entry in chosen if not students or entry.student in students]


def counted(course: Course, chosen: Iterable[Entry], graded: Iterable[Entry]) -> Iterator[Entry]:
    """Recorded results by today's points, where the notebooks could not be judged again and points are others.

    Args:
        course: The course as it is now.
        chosen: The ledger's entries.
        graded: The entries that could be judged again.
    """
    judged = {(entry.student, entry.assignment, entry.lesson, entry.sha256) for entry in graded}
    for entry in chosen:
        if (entry.student, entry.assignment, entry.lesson, entry.sha256) not in judged:
            exercises = tuple(_counted(course, each) for each in entry.submission.exercises)
            if exercises != entry.submission.exercises:
                yield replace(entry, submission=replace(entry.submission, exercises=exercises))


def _counted(course: Course, graded: Graded) -> Graded:
    """An exercise by today's points; as it is, where what was found does not tell."""
    exercise = course.exercises.get(graded.exercise)
    if exercise is None or weights(graded) == exercise.groups:
        return graded
    try:
        return scored_again(exercise, graded)
    except HiddenTestError:  # a group of which no test was run then
        return graded


def carry_out(
    course: Course, found: Plan, why: str, *, lower: bool, done: Callable[[], None] = lambda: None
) -> list[str]:
    """Record a plan: log, gradebook, autograded notebooks and ledger.

    A student's recorded marks stand, whatever happens to the next; the same plan made again has the rest.

    Args:
        course: The course.
        found: The changes to record.
        why: The reason, for the log.
        lower: Whether it was said that marks may fall, for the log.
        done: Called after each submission.

    Returns:
        Whose points stay in the gradebook as they are though others are asked now, each in a sentence.

    Raises:
        CourseError: If the gradebook refuses it.
    """
    from autograder.gradebook.recording import Recorder  # loads all of nbgrader

    with _reweighed(course, found) as stays:
        run = begin(course.directory, found.changes, why, lower=lower)
    submissions = _by_submission(course, found)
    for student, assignment in found.penalties:
        submissions.setdefault(assignment, {}).setdefault(student, [])
    for assignment, by_student in submissions.items():
        with Recorder(course.directory, assignment) as recorder:
            for student, whole in by_student.items():
                _record_one(recorder, student, whole, found.penalties.get((student, assignment), {}))
                done()
    confirm(course, found)
    end(course.directory, run)
    return stays


def _record_one(recorder: Recorder, student: str, whole: list[Entry], penalties: Mapping[str, float | None]) -> None:
    """Record one submission: results, if it has new ones, and penalties."""
    if whole and recorder.is_stock and recorder.has_files(student):
        recorder.record(student, whole, penalties)
        return
    if not recorder.has_files(student):
        recorder.keep(whole)  # only points are others, and those are in the gradebook by now
    elif whole and not recorder.hand_over(student, whole):
        raise CourseError(f"nbgrader could not record {student}; see what it said above, then regrade again")
    if penalties:
        recorder.penalise(student, penalties)


def confirm(course: Course, found: Plan) -> None:
    """Note in the ledger which marks today's tests give as well: grading the class says no more that others gave them.

    Args:
        course: The course.
        found: The entries that were compared.
    """
    for entry in found.confirmed:
        write_entry(course.directory, entry)


def _by_submission(course: Course, found: Plan) -> dict[str, dict[str, list[Entry]]]:
    """The results to record by assignment and student, with the other notebooks of each submission as they were."""
    submissions: dict[str, dict[str, dict[str, Entry]]] = {}
    for entry in found.entries:
        submissions.setdefault(entry.assignment, {}).setdefault(entry.student, {})[entry.lesson] = entry
    for assignment, by_student in submissions.items():
        for student, lessons in by_student.items():
            for lesson in course.assignments[assignment].lessons:
                known = lessons.get(lesson) or read_entry(course.directory, student, assignment, lesson)
                lessons.update({lesson: known} if known else {})
    return {
        assignment: {student: list(lessons.values()) for student, lessons in by_student.items()}
        for assignment, by_student in submissions.items()
    }


@contextmanager
def _reweighed(course: Course, found: Plan) -> Iterator[list[str]]:
    """Change what exercises are worth and everyone's points of them when the block ends, all at once or not at all.

    Yields:
        Whose points stay as they are, each in a sentence.

    Raises:
        CourseError: If someone's points have to be counted anew and can not, or the gradebook refuses it.
    """
    if not found.weights:
        yield []
        return
    from autograder.gradebook.diagnosing import opened
    from autograder.gradebook.settings import gradebook_url
    from autograder.gradebook.turns import Turn

    with Turn(course.directory), opened(gradebook_url(course), course.name) as gradebook:
        stays = [
            said
            for exercise, points in found.weights.items()
            for said in _reweigh(course, found, gradebook, exercise, points)
        ]
        gradebook.db.flush()  # whatever refuses it does so before it is logged
        yield stays
        gradebook.db.commit()


def _reweigh(course: Course, found: Plan, gradebook: Any, exercise_id: str, points: float) -> Iterator[str]:
    """Change one exercise; yield whose points stay, since nothing is left to count them by."""
    exercise = course.exercise(exercise_id)
    assignment = course.assignment_of(exercise).name
    place = (exercise.graded_id, exercise.lesson, assignment)
    new = {
        entry.student: graded.earned
        for entry in (*entries(course.directory, assignment), *found.entries)  # an earlier run may have ended here
        for graded in entry.submission.exercises
        if (graded.exercise, graded.points) == (exercise_id, points)
    }
    _reweigh_cell(gradebook, place, points)
    for student in sorted(each.student.id for each in gradebook.assignment_submissions(assignment)):
        grade = gradebook.find_grade(*place, student)
        if student in new:
            grade.auto_score = new[student]
            grade.needs_manual_grade = grade.manual_score is not None  # as nbgrader's own SaveAutoGrades
        elif grade.auto_score and (course.directory / "submitted" / student / assignment).is_dir():
            raise CourseError(
                f"other points are asked of {exercise_id} now, and the ledger has nothing by which {student}'s grade "
                f"of it could be counted; restore course.toml, run `autograder autograde {assignment}`, and then "
                "change the points"
            )
        elif grade.auto_score:
            grade.auto_score = min(grade.auto_score, points)
            yield (
                f"{student} keeps {grade.auto_score:g} of {points:g} points of {exercise_id}: neither submitted/ nor "
                "the ledger has anything by which they could be counted anew"
            )
