"""Comments that graders use again: `comments.toml` in a course's folder, which Formgrader offers beside each answer.

One with points is a line of a rubric.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.course.tables import CourseError, Table

FILE = Path("comments.toml")
"""The file, in a course's directory."""


@dataclass(frozen=True)
class Comment:
    """A sentence about an answer.

    Attributes:
        text: The sentence, in Markdown.
        question: The question that it is for; empty for every one.
        points: What it adds to the mark; less than nothing takes off.
    """

    text: str
    question: str = ""
    points: float = 0.0


def read_comments(course: Path) -> list[Comment]:
    """Return the comments in the order of the file; none where there is no file.

    Args:
        course: The course's directory.

    Raises:
        CourseError: If the file cannot be read.
    """
    try:
        content = tomllib.loads((course / FILE).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise CourseError(f"{FILE}: cannot be read ({error}); correct that place") from error
    top = Table(str(FILE), content)
    found = [_comment(row) for row in top.tables("comment")]
    top.close()
    return found


def _comment(row: Table) -> Comment:
    text, question = row.text("text").strip(), row.take("question", str, optional=True)
    points = row.take("points", (int, float), optional=True)
    row.close()
    return Comment(text, question or "", points or 0.0)
