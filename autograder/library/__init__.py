"""The grader's knowledge of a course's library, in one place: the table `[library]` of course.toml says which it is.

A course may be about a package that its students import, as minigrad's is. Or it has none: then the answers stand in
the cells of its lessons, an edition is assembled of them, and students install nothing.

In the grader's process `minigrad.py` alone imports minigrad; import-linter checks that (`make lint`). Neither
package may need the other. So the modules that read the line `# exercise: ID` and that compare values stand in both
of them, and a test keeps the two copies the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CATALOGUE", "CUT", "IN_LESSONS", "MINIGRAD", "Library", "library_named"]

CATALOGUE = "course.json"
"""The file in an edition's package that lists the exercises with their objects."""

CUT = "cut.txt"
"""The file in an edition's package that lists the functions without their bodies; the whole library has none."""


@dataclass(frozen=True)
class Library:
    """A course's library.

    Attributes:
        package: The name under which a sandbox imports it.
        in_lessons: Whether the answers stand in the lessons, so that an edition is assembled of the lessons' cells.
        install: The package's own function that takes a student's objects by name, as ``module.function``. Without
            one an object takes its place in the module that it is named after.
        silent: The package's functions that do nothing while an answer is graded, as ``name`` or ``module.name``.
        watching: Its packages that watch a student's code: each question imports them anew.
        refusal: The statements that take the place of a cut answer, with ``{exercise}`` where its id belongs.
        requires: Installed distributions that students' code may use besides those that every sandbox shows.
    """

    package: str
    in_lessons: bool = False
    install: str = ""
    silent: tuple[str, ...] = ()
    watching: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ('raise NotImplementedError("{exercise}")',)
    requires: tuple[str, ...] = field(default=(), compare=False)  # a course's own, whatever library it is about


MINIGRAD = Library(
    "minigrad",
    install="exercises.install",
    silent=("check", "hint", "checks.check"),
    watching=("checks", "debug", "emulator"),
    # Imported on the spot: the module's own names cannot get in the way.
    refusal=("from minigrad.errors import ExerciseNotDone", "", 'raise ExerciseNotDone("{exercise}")'),
)

IN_LESSONS = Library("answers_of_the_course", in_lessons=True)
"""For a course without a library; the name is for a sandbox alone, so that no student's import means it by chance."""


def library_named(package: str) -> Library:
    """Return the library that `package` in course.toml means: "none" for answers in the lessons."""
    known = {"none": IN_LESSONS, MINIGRAD.package: MINIGRAD}
    return known.get(package) or Library(package)
