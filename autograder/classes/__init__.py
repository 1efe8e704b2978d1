"""Grade a whole class: in parallel, in any order, and as often as it was interrupted.

A result depends on the submission alone: not on the submissions graded before it, on the process, or on how busy the
machine is. So the work may be shared out and stopped at will. It is shared out by lesson, since a lesson's warm
sandboxes are slow to start and large. Every result's entry in the ledger holds a hash of its sources (notebook, tests,
edition, limits, seed); an entry that still fits is not graded again.
"""

from __future__ import annotations

from autograder.classes.pool import grade_class
from autograder.classes.work import Outcome, Progress, Work, handed_in

__all__ = ["Outcome", "Progress", "Work", "grade_class", "handed_in"]
