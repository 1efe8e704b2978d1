"""Grade a whole class: in parallel, in any order, and as often as it was interrupted.

What one submission is graded by depends on nothing but the submission: not on who was graded before, by which
process, or how busy the machine is. So the work may be shared out and stopped at will.
"""

from __future__ import annotations

from autograder.classes.pool import grade_class
from autograder.classes.work import Outcome, Progress, Work, handed_in

__all__ = ["Outcome", "Progress", "Work", "grade_class", "handed_in"]
