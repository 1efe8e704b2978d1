"""Three hints for each exercise: a nudge, the idea, the outline. `hint("autodiff.chain_rule")` shows the next one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError, UnknownExercise
from minigrad.exercises import paths, syllabus
from minigrad.exercises.telling import Told, told
from minigrad.tutor import progressing

TIERS = ("nudge", "idea", "outline")
FREE = "Hints never cost points."

_SHOWN: dict[str, Told] = {"nudge": "a nudge", "idea": "the idea", "outline": "the outline"}
_session: dict[str, int] = {}  # how many hints of an exercise were seen since this program started
_said_free = False
_in_terminal = False

_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Hint:
    """A hint: text in a terminal, HTML in a notebook.

    Attributes:
        exercise: The exercise's id.
        tier: 1 for the nudge, 2 for the idea, 3 for the outline.
        text: What it says.
        note: The line below it about the next hint and its cost.
    """

    exercise: str
    tier: int
    text: str
    note: str

    @property
    def headline(self) -> str:
        """The hint's first line."""
        return told(f"{self.exercise}, hint {self.tier} of {len(TIERS)}: {_SHOWN[TIERS[self.tier - 1]]}")

    @property
    def below(self) -> str:
        """The lines below the text: the next hint, what the exercise takes, and whether the folder's path has it."""
        header, path = exercises.get(self.exercise).header, paths.chosen()
        away = "; it is not on your path" if path and self.exercise not in path.exercises else ""
        return told(self.note) + (f"\n{told(f'The exercise: {header}{away}.')}" if header else "")

    def __repr__(self) -> str:
        body = "\n".join(f"  {line}" if line else "" for line in told(self.text).split("\n"))
        return f"{self.headline}\n\n{body}\n\n{self.below}"

    def _repr_html_(self) -> str:
        body, note = (html_of(text, quote=False) for text in (told(self.text), self.below))
        return (
            '<div class="minigrad-hint" style="border-left:4px solid #1f77b4;padding:.4em 1em;color:inherit">'
            f"<b>{escape(self.headline)}</b>"
            f'<div style="white-space:pre-wrap;margin:.5em 0">{body}</div>'
            f'<small style="white-space:pre-wrap">{note}</small></div>'
        )


def html_of(text: str, *, quote: bool = True) -> str:
    """Return a text as HTML, with code where it has backticks; quotation marks are escaped too, unless they may stay.

    >>> from minigrad.tutor.hints import html_of
    >>> html_of("is a `return` missing?")
    'is a <code>return</code> missing?'
    """
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=quote))


@cache
def bundled() -> Mapping[str, Mapping[str, str]]:
    """Return the hints that `autograder build` put beside this file: by exercise, then by tier.

    >>> from minigrad.tutor.hints import bundled
    >>> "autodiff.chain_rule" in bundled()
    True
    """
    path = Path(__file__).parents[1] / "hints.json"
    if not path.is_file():
        return {}
    found: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))["hints"]
    return found


def hint(id: str = "", tier: int | None = None) -> Hint:
    """Return the next hint for an exercise: a nudge, then the idea, then the outline. They never cost points.

    Args:
        id: The exercise, for example ``"autodiff.chain_rule"``, or a function that it asks for.
        tier: 1, 2 or 3 for that hint, instead of the next one.

    Raises:
        UnknownExercise: If there is no such exercise.
        MinigradError: If it has no hints yet, or no such tier.
    """
    if id == "" and (following := progressing.next_exercise()) is not None:
        raise UnknownExercise(f"which exercise? The next one is {following.id}: write {_call(following.id)}")
    id = syllabus.meant(id)
    texts = bundled().get(id)
    if texts is None:
        raise MinigradError(f"hint({id!r}): this exercise has no hints; its docstring and its check say what is wanted")
    if tier is not None and (type(tier) is not int or not 1 <= tier <= len(TIERS)):
        raise MinigradError(f"hint({id!r}, tier={tier!r}): there are the hints 1, 2 and 3")
    shown = tier if tier is not None else min(seen(id) + 1, len(TIERS))
    _session[id] = max(_session.get(id, 0), shown)
    progressing.saw_hint(id, shown)
    return Hint(id, shown, texts[TIERS[shown - 1]].strip("\n"), _note(id, shown))


def speak_to_a_terminal() -> None:
    """Name the command that shows a hint, from now on, instead of the function."""
    global _in_terminal
    _in_terminal = True


def _call(id: str, tier: int | None = None) -> str:
    """Return the call or the command that shows a hint."""
    if _in_terminal:
        return f"minigrad hint {id}" + (f" --tier {tier}" if tier else "")
    return f'hint("{id}", {tier})' if tier else f'hint("{id}")'


def seen(id: str) -> int:
    """Return how many of an exercise's hints were seen, in this session or before."""
    known = progressing.read().get(id)
    return max(_session.get(id, 0), known.hints if known else 0)


def _note(id: str, shown: int) -> str:
    global _said_free
    free, _said_free = "" if _said_free else f" {FREE}", True
    if shown < len(TIERS):
        said = f"The next one is {_SHOWN[TIERS[shown]]}: `{_call(id, shown + 1)}`."
    else:
        said = f"That was the last one; `{_call(id, 1)}` shows the first again."
    return said + free


def pointer(id: str) -> str:
    """Return the line that ends the report of a failing check, or nothing where there are no hints."""
    if id not in bundled():
        return ""
    used = seen(id)
    if used >= len(TIERS):
        return f"{_call(id, 3)} shows the outline again; all {len(TIERS)} hints are used"
    already = f"; {used} of {len(TIERS)} hints used" if used else ""
    return f"{_call(id)} gives {_SHOWN[TIERS[used]]}{already}"
