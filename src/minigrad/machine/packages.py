"""Which parts of the course stand beside the library."""

from __future__ import annotations

import importlib.util

__all__ = ["has_grader"]


def has_grader() -> bool:
    """Return whether the grader can be imported. The library never imports it: `minigrad grade` starts it."""
    found = importlib.util.find_spec("autograder")
    return found is not None and bool(found.origin)
