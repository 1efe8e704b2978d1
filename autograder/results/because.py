"""What a hidden test enforces, in its `because`: sentences of a lesson or of docstrings, and where they stand."""

from __future__ import annotations

import re

__all__ = ["SECTION", "source_of"]

SECTION = re.compile(r"lesson (?P<lesson>\d\d), '(?P<title>[^']+)': (?P<sentence>.+)", re.DOTALL)
"""A sentence of a lesson."""

_DOCSTRING = re.compile(r"(?P<object>[a-z]\w*(\.\w+)+): (?P<sentence>.+)", re.DOTALL)
_TOGETHER = re.compile(r"(?P<objects>[a-z]\w*(?:\.\w+)+(?:, [\w.]+)* and [\w.]+): (?P<sentence>'.+)", re.DOTALL)
# Between two docstrings: a quotation has ended, and the next begins with its name.
_NEXT_DOCSTRING = re.compile(r"(?<=')[.,;]? +(?:and +)?(?=[a-z]\w*(?:\.\w+)+: ')")


def source_of(because: str) -> tuple[list[str], str]:
    """Return the sentences that a test enforces, and where they stand; the empty string if nothing says where."""
    if found := SECTION.fullmatch(because):
        section = f"{found['lesson']} '{found['title']}'"
        return [found["sentence"]], f"lesson {section}"
    if found := _TOGETHER.fullmatch(because):
        return [found["sentence"]], f"the docstrings of {found['objects']}"
    parts = _NEXT_DOCSTRING.split(because)
    named = [found for part in parts if (found := _DOCSTRING.fullmatch(part))]
    if len(named) < len(parts):
        return [because], ""
    if len(named) == 1:
        return [_unquoted(named[0]["sentence"])], f"the docstring of {named[0]['object']}"
    objects = list(dict.fromkeys(found["object"] for found in named))
    names = ", ".join(objects)
    return parts, f"the docstrings of {names}" if objects[1:] else f"the docstring of {names}"


def _unquoted(sentence: str) -> str:
    """A quotation without its marks, unless there are several."""
    inner = sentence[1:-1]
    return inner if sentence == f"'{inner}'" and not re.search(r"'[,; ]|[ (]'", inner) else sentence
