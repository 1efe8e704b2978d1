"""The grader: builds the course, grafts submissions, observes them in a sandbox and judges them outside.

Instructors use the command line, `autograder --help`. Hidden tests import `expect`, `Hunt` and `pictures` from here.
"""

from __future__ import annotations

import sys

# jsonschema imports it for a format that notebooks do not use, and that import takes a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from autograder.judging.expect import expect  # noqa: E402 - after the line above
from autograder.judging.hunting import Hunt  # noqa: E402
from autograder.results import pictures  # noqa: E402

__all__ = ["Hunt", "expect", "pictures"]
