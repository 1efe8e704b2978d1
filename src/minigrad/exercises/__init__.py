"""The exercises of the course, and the one way in which a student's answers enter the library.

`install` puts objects in the place of the library's own, for every caller: `check` uses it for one exercise, `use` for
all that a student has done, and a grader for the exercise that it grades.
"""

from minigrad.exercises.collecting import collect, missing, needs, placed_in, there
from minigrad.exercises.following import follow
from minigrad.exercises.given import give
from minigrad.exercises.installing import Installation, install, installed, reference
from minigrad.exercises.lesson_files import folder_here
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import answer_cells, code_of, left_out, namespace_of, run_answer
from minigrad.exercises.standing_in import lessons_before, stand_in, standing_in
from minigrad.exercises.stubs import gives_up
from minigrad.exercises.syllabus import Exercise, catalogue, get
from minigrad.exercises.using import needs_installed, use, written
from minigrad.machine.overrides import on_change

__all__ = [
    "Exercise",
    "Installation",
    "answer_cells",
    "catalogue",
    "code_of",
    "collect",
    "exercise_of",
    "folder_here",
    "follow",
    "get",
    "give",
    "gives_up",
    "install",
    "installed",
    "left_out",
    "lessons_before",
    "missing",
    "namespace_of",
    "needs",
    "needs_installed",
    "on_change",
    "placed_in",
    "reference",
    "run_answer",
    "stand_in",
    "standing_in",
    "there",
    "use",
    "written",
]
