"""`expect` for hidden tests: the visible tests' comparison, which here never prints the wanted value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.judging.expectation import Expectation
from autograder.judging.expectation import expect as _expect

__all__ = ["Expectation", "Shown", "expect"]


@dataclass(frozen=True)
class Shown:
    """A failed expectation, with the values that the report shows.

    Attributes:
        example: The input in words.
        picture: Makes a picture.
        tolerance: For floats, as it was compared.
    """

    example: str | None = None
    picture: Callable[[], Mapping[str, Any] | None] | None = None
    tolerance: float = 1e-9


def expect(
    seen: Any,
    wanted: Any,
    *,
    example: str | None = None,
    picture: Callable[[], Mapping[str, Any] | None] | None = None,
    **options: Any,
) -> None:
    """Raise `Expectation` unless two values agree, and keep the wanted value out of its message.

    Args:
        seen: The value that the student's code gave.
        wanted: The right value.
        example: The input in words, where the arguments of the probe alone say nothing to a student.
        picture: Draws what came, with the functions of `autograder.results.pictures`; called for a report alone.
        **options: `hint`, `misconception`, `tolerance` and `when`, as for `autograder.judging.expectation.expect`.
    """
    try:
        _expect(seen, wanted, secret=True, **options)
    except Expectation as error:
        tolerance = options.get("tolerance", 1e-9)
        error.shown = Shown(example, picture, tolerance)  # type: ignore[attr-defined]  # the library knows no reports
        raise
