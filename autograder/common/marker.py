"""The line ``# exercise: ID``, by which a cell says which exercise it answers.

Students retype that line, so it is read leniently: in any case, with any blanks, with a remark behind the id. Every
reader of notebooks, the grader's too, reads it here, so that a cell counts for all of them or for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKER = re.compile(r"#[^\S\n]*exercise[^\S\n]*:[^\S\n]*((?:\w+(?:\.\w+)+)?)", re.IGNORECASE)


def marker(id: str) -> str:
    """Return the line as the build writes it, ``# exercise: autodiff.chain_rule``.

    >>> from autograder.common.marker import marker
    >>> marker("autodiff.chain_rule")
    '# exercise: autodiff.chain_rule'
    """
    return f"# exercise: {id}"


def named_on(line: str) -> str | None:
    """Return the id on a line that begins like a marker; None for every other line.

    An id has a dot in it: ``# Exercise: try three numbers`` begins like a marker, and names no exercise ("").

    >>> from autograder.common.marker import named_on
    >>> named_on("# exercise: autodiff.chain_rule")
    'autodiff.chain_rule'
    >>> named_on("x = 1") is None
    True
    """
    found = _MARKER.match(line)
    return found[1] if found else None


def exercise_of(text: str) -> str:
    r"""Return the exercise that a cell is for: named above its code, with whatever magic and comments; "" if none is.

    >>> from autograder.common.marker import exercise_of
    >>> exercise_of("# exercise: operators.folds\n\ndef map(fn): ...")
    'operators.folds'
    """
    for line in text.split("\n"):
        if named := named_on(line.lstrip()):
            return named
        if line.strip() and not line.lstrip().startswith(("#", "%", "!")):
            break
    return ""


def marked_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield where each marker begins in a text, with its id; an indented line is part of the code around it.

    >>> from autograder.common.marker import marked_lines
    >>> list(marked_lines("x = 1\n# exercise: operators.folds\n"))
    [(6, 'operators.folds')]
    """
    start = 0
    for line in text.split("\n"):
        if named := named_on(line):
            yield start, named
        start += len(line) + 1
