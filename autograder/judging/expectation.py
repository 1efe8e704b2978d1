"""Compares a seen value with the wanted one, in words that help."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_HERE = "\0"
_FIRST = (
    "the first value",
    "the second value",
    "the third value",
    "the fourth value",
    "the fifth value",
    "the sixth value",
    "the seventh value",
    "the eighth value",
    "the ninth value",
    "the tenth value",
)

NO_RETURN = "None is what a function gives without a `return`: is one missing?"
PAIR = "`max(dim)` returns a pair, the largest values and where they were: take its `.values`"


class Expectation(AssertionError):
    """A test expected something else.

    Attributes:
        seen: What the student's code gave.
        wanted: What the test wanted.
        reason: One sentence on the difference.
        hint: What to think about, or None.
        misconception: The name of the mistake, or None.
        otherwise: The check's own hint, where `hint` asks whether a `return` is missing.
        place: The indices of the element that differs, such as ``("[1]", "[0]")``, empty for a whole value; None where
            no two values were compared, or where what was compared is to stay unknown.
        sentence: The reason with a mark where the place belongs, if two values were compared.
    """

    def __init__(
        self,
        seen: Any,
        wanted: Any,
        reason: str,
        hint: str | None,
        misconception: str | None,
        place: tuple[str, ...] | None = None,
        sentence: str = "",
        otherwise: str | None = None,
    ) -> None:
        self.seen = seen
        self.wanted = wanted
        self.reason = reason
        self.hint = hint
        self.misconception = misconception
        self.place = place
        self.sentence = sentence
        self.otherwise = otherwise
        super().__init__(reason if hint is None else f"{reason}. {hint}")

    def of_result(self, place: tuple[str, ...]) -> str:
        """Return the reason for a reader who sees the call whose result has the differing element at that place."""
        return self.sentence.replace(_HERE, _of_result(place)) if self.sentence else self.reason


@contextmanager
def hinting(hint: str, *errors: type[Exception], message: str = "") -> Iterator[None]:
    """Give a hint to errors of some types that the student's code raises inside the block.

    Args:
        hint: The hint.
        *errors: The types.
        message: The text of a report in the place of the errors' own text, if that differs by chance.
    """
    try:
        yield
    except errors as error:
        error.minigrad_hint, error.minigrad_message = hint, message  # type: ignore[attr-defined]
        raise


def hint_of(error: BaseException) -> str:
    """Return the hint that `hinting` gave to an error, or nothing if it gave none."""
    return str(getattr(error, "minigrad_hint", ""))


def message_of(error: BaseException) -> str:
    """Return the text of an error, or the text that `hinting` put in its place."""
    return getattr(error, "minigrad_message", "") or str(error)


def expect(
    seen: object,
    wanted: object,
    *,
    hint: str | None = None,
    misconception: str | None = None,
    tolerance: float = 1e-9,
    when: Mapping[Any, str | tuple[str, str]] | None = None,
    secret: bool = False,
    of: str = "",
) -> None:
    """Raise `Expectation` unless two values agree.

    Numbers agree within the tolerance, absolute or relative to the wanted value; nan agrees with nan; a bool is not a
    number. Lists and tuples agree element by element, dictionaries key by key, arrays of one shape and dtype element by
    element (float32 within 1e-6 at least); all else must be equal.

    Args:
        seen: What the student's code gave.
        wanted: What it should give.
        hint: What to think about if they differ.
        misconception: The name of the mistake that the difference shows.
        tolerance: For floats.
        when: For wrong values that tell which mistake was made: the hint for each, or (misconception, hint).
        secret: Whether to keep the wanted value out of the message.
        of: What the value is, where it is not the result of one of the student's calls: "the number of parameters".
    """
    difference = _difference(seen, wanted, tolerance)
    if difference is None:
        return
    place, note, got, want = difference
    otherwise = None
    for value, meaning in (when or {}).items():
        if _difference(seen, value, tolerance) is None:
            misconception, hint = meaning if isinstance(meaning, tuple) else (misconception, meaning)
            break
    else:
        # A list may hold the results of several calls; what lies deeper was put there, and the function has returned.
        if got is None and want is not None and len(place) <= 1:
            hint, otherwise = NO_RETURN, hint
    if secret:
        at = f" at {''.join(place)}" if place else ""
        raise Expectation(seen, wanted, f"got {_short(got)}{at}{note}", hint, misconception)
    note = f" as {of}{note}" if of else note
    sentence = f"got {_short(got)}{_HERE}{note}, expected {_short(want)}"
    if _short(got) == _short(want) or _is_the_number(got, want):  # as with a 3 of NumPy's for a 3
        sentence = f"got {_short(got)} of type {kind_of(got)}{_HERE}{note}, expected one of type {kind_of(want)}"
    reason = sentence.replace(_HERE, _of_values(place))
    raise Expectation(seen, wanted, reason, hint, misconception, place, sentence, otherwise)


def expect_that(holds: bool, reason: str, hint: str) -> None:
    """Raise `Expectation` unless something holds.

    Args:
        holds: Whether it does.
        reason: One sentence on what was seen instead.
        hint: What to think about.
    """
    if not holds:
        raise Expectation(holds, True, reason, hint, None)


def _of_values(place: tuple[str, ...]) -> str:
    """Return in words where several values that a check compares differ: `` as the second value``."""
    if not place:
        return ""
    number = place[0][1:-1]
    if not number.isdigit():
        return f" at index {''.join(place)}"
    which = _FIRST[int(number)] if int(number) < len(_FIRST) else f"value number {int(number) + 1}"
    return f" in {which}, at index {_index(place[1:])}" if place[1:] else f" as {which}"


def _of_result(place: tuple[str, ...]) -> str:
    """Return in words where the result of one call differs: `` at index 1 of the result``."""
    return f" at index {_index(place)} of the result" if place else ""


def _index(place: tuple[str, ...]) -> str:
    return place[0][1:-1] if len(place) == 1 else "".join(place)


def _difference(
    seen: Any, wanted: Any, tolerance: float, place: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], str, Any, Any] | None:
    """Return the first place where two values differ, a note, and both values there; None if they agree."""
    if isinstance(wanted, list | tuple) and isinstance(seen, list | tuple):
        if len(seen) != len(wanted):
            return place, f" (length {len(seen)})", seen, wanted
        pairs = [((*place, f"[{i}]"), a, b) for i, (a, b) in enumerate(zip(seen, wanted, strict=True))]
    elif isinstance(wanted, dict) and isinstance(seen, dict):
        if seen.keys() != wanted.keys():
            return place, "", seen, wanted
        pairs = [((*place, f"[{key!r}]"), seen[key], wanted[key]) for key in wanted]
    elif _is_array(wanted) and _is_array(seen):
        for what in ("shape", "dtype"):
            if getattr(seen, what) != getattr(wanted, what):
                return place, f" ({what} {getattr(seen, what)})", seen, wanted
        tolerance = max(tolerance, 1e-6) if wanted.dtype == "float32" else tolerance
        places = ((*place, str(list(index))) for index in itertools.product(*map(range, wanted.shape)))
        pairs = list(zip(places, seen.ravel().tolist(), wanted.ravel().tolist(), strict=True))
    else:
        return None if _agree(seen, wanted, tolerance) else (place, "", seen, wanted)
    return next((d for p, a, b in pairs if (d := _difference(a, b, tolerance, p))), None)


def _is_array(value: object) -> bool:
    return type(value).__name__ == "ndarray" and type(value).__module__ == "numpy"  # which need not be imported


def _agree(seen: object, wanted: object, tolerance: float) -> bool:
    if isinstance(wanted, bool) or isinstance(seen, bool):
        return type(seen) is type(wanted) and bool(seen == wanted)
    if isinstance(wanted, float) and isinstance(seen, int | float):
        try:
            number = float(seen)
        except OverflowError:  # an int beyond all floats
            return False
        return number == wanted or (math.isnan(number) and math.isnan(wanted)) or _close(number, wanted, tolerance)
    return type(seen) is type(wanted) and bool(seen == wanted)


def _is_the_number(seen: object, wanted: object) -> bool:
    """Return whether two values of different types are the same number, as NumPy's -2 and the float -2.0 are."""
    if type(wanted) not in (int, float) or type(seen).__module__ != "numpy" or getattr(seen, "shape", None) != ():
        return False
    return bool(seen == wanted)


def _close(seen: float, wanted: float, tolerance: float) -> bool:
    return math.isfinite(wanted) and abs(seen - wanted) <= tolerance * max(1.0, abs(wanted))


def kind_of(value: object) -> str:
    """Return the name of a value's type, with its module if that is not Python's own."""
    module = "" if type(value).__module__ == "builtins" else f"{type(value).__module__}."
    return f"{module}{type(value).__name__}"


_WRITTEN_OUT = 1_000
"""Elements of an array that are written out; NumPy takes seconds for a large one of many axes."""


def text_of(value: Any, room: int) -> str:
    """Return a value's repr, not much more of it than there is room for; NumPy's numbers as Python's."""
    kind = type(value)
    if kind is list or kind is tuple:
        inner = _joined((text_of(each, room) for each in value), room)
        return f"[{inner}]" if kind is list else f"({inner},)" if len(value) == 1 else f"({inner})"
    if kind is dict:
        return (
            "{" + _joined((f"{text_of(key, room)}: {text_of(each, room)}" for key, each in value.items()), room) + "}"
        )
    if _is_array(value):
        described = f"an array of shape {value.shape} and dtype {value.dtype}"
        return repr(value) if value.size <= _WRITTEN_OUT else described
    is_number = kind.__module__ == "numpy" and hasattr(value, "item")
    return repr(value.item() if is_number else value)


def _joined(parts: Iterator[str], room: int) -> str:
    taken, length = [], 0
    for part in parts:
        taken.append(part)
        length += len(part) + 2
        if length > room:
            break
    return ", ".join(taken)


def _short(value: object, limit: int = 80) -> str:
    try:
        text = text_of(value, limit)
    except Exception as error:  # an int of more digits than Python writes, or a student's own __repr__
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."
