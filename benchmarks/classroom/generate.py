"""`nbgrader generate_assignment` in several courses: `python -m benchmarks.classroom.generate ASSIGNMENT FOLDER ...`.

One process for all of them: loading nbgrader takes longer than the work.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.classroom.worker import nbgrader_of

__all__ = ["main"]


def main(assignment: str, *folders: str) -> None:
    """Generate, and end with what nbgrader said where it fails."""
    for folder in folders:
        done = nbgrader_of(Path(folder)).generate_assignment(assignment)
        if not done["success"]:
            sys.exit(f"nbgrader cannot generate {assignment} in {folder}: {done['log'][-2000:]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
