"""What the library says to a student, in the language of the student's folder.

The code has English sentences alone. `told` takes a finished one, just before it is shown, and returns it in the
language of the lessons in the folder; the grader, who has notebooks of many folders, says by `speaking` which it is.
Catalogues in `course/locale` have each sentence as the code has it, with numbers where a value stands: ``got {0},
expected {1}``. `autograder build` puts those of a language into `locale/LANGUAGE.json` beside this package. A sentence
without an entry stays English; `python -m book translate LANGUAGE` lists them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TypeAlias

from minigrad.exercises.lesson_files import FOLDER, working_folder

__all__ = ["ENGLISH", "Catalogue", "Told", "language", "language_of", "speak_in", "speaking", "speaking_in", "told"]

ENGLISH = "en"

Told: TypeAlias = str
"""A text that is told. Of a constant with this type every word gets into the catalogues, single ones too."""

_LOCALE = Path(__file__).parents[1] / "locale"
_ENDS = re.compile(r"(?<=[.?!]) ")
_FULL_STOPS = ("\u3002", "\uff1f", "\uff01")
"""Those of Chinese, behind which no space stands."""

_BEHIND = (" ", ",", ";", ":")
"""How a sentence begins that stands behind a value, such as " at index {0}": it is known behind any value."""

_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""")
_MARK = re.compile(r"(?<!\w)['\x22]|['\x22](?!\w)")
"""A quotation, and a mark of one; between letters it is an apostrophe."""

_DATA = re.compile(r"\w*[\[({'\x22].*(?:[\])}'\x22]|\.\.\.)", re.DOTALL)
"""A value as Python writes it, such as ``[1, 2]``, perhaps cut."""

_MOST = 20
"""Sentences of one text that are looked up one by one; the rest counts as one."""

_SHORT = 3
"""Letters of a sentence, such as "{0} to {1}", that is known only between single words, or words that are known."""

_folder: Path | None = None
_spoken: ContextVar[Catalogue | None] = ContextVar("_spoken", default=None)


def speak_in(folder: Path | None) -> None:
    """Speak the language of a folder from now on; None stands for the current one."""
    global _folder
    _folder = folder


@contextmanager
def speaking(catalogue: Catalogue) -> Iterator[None]:
    """Tell what is told inside the block by a catalogue, whatever the folder is; an empty one is English."""
    before = _spoken.set(catalogue)
    try:
        yield
    finally:
        _spoken.reset(before)


@contextmanager
def speaking_in(folder: Path) -> Iterator[None]:
    """Speak the language of a folder's lessons inside the block, in this thread alone."""
    with speaking(_catalogue(language_of(folder))):
        yield


def told(text: str) -> str:
    """Return a sentence in the language of the folder, or as it is where there is no translation."""
    if spoken := _spoken.get():
        return spoken.translated(text)
    chosen = language()
    return text if chosen == ENGLISH else _catalogue(chosen).translated(text)


def language() -> str:
    """Return the language of the working folder's lessons, else of those that lie here; English for the grader."""
    if os.environ.get("MINIGRAD_SANDBOX"):
        return ENGLISH
    home = working_folder(_folder)
    lessons = home / FOLDER / "base" if home else _folder or Path.cwd()
    return _language_at(lessons, lessons.stat().st_mtime_ns) if lessons.is_dir() else ENGLISH


@cache
def _language_at(lessons: Path, _changed: int) -> str:
    return language_of(lessons)


def language_of(notebooks: Path) -> str:
    """Return the language of the first lesson in a folder; English if there is none."""
    for path in sorted(notebooks.glob("*.ipynb")):
        try:
            return str(json.loads(path.read_bytes())["metadata"]["minigrad"].get("language") or ENGLISH)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # no lesson, or damaged
    return ENGLISH


@cache
def _catalogue(chosen: str) -> Catalogue:
    path = _LOCALE / f"{chosen}.json"
    return Catalogue(json.loads(path.read_text(encoding="utf-8"))["sentences"] if path.is_file() else {})


class Catalogue:
    """The sentences of a language.

    Args:
        sentences: The translations by the English sentences, with numbers in braces as places for values, and double
            braces for braces. An empty one says that there is none yet: the sentence stays English.

    >>> from minigrad.exercises.telling import Catalogue
    >>> german = Catalogue({"{0} of {1} pass": "von {1} bestehen {0}", "none": ""})
    >>> german.translated("3 of 4 pass"), german.translated("none")
    ('von 4 bestehen 3', 'none')
    """

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._whole: dict[str, str] = {}
        self._templates: list[tuple[tuple[str, ...], str]] = []
        for english, other in sentences.items():
            texts = _around_places(english)
            if english.startswith(_BEHIND):
                self._templates.append((("", *texts), other and "{ahead}" + other))
            elif texts[1:]:
                self._templates.append((texts, other))
            if not texts[1:]:
                self._whole[texts[0]] = other.format()
        self._templates.sort(key=lambda each: -sum(map(len, each[0])))

    def translated(self, text: str) -> str:
        """Return a text in this language: one sentence, or several that have an entry each."""
        parts, whole = _ENDS.split(text, maxsplit=_MOST), ""
        while parts:
            tries = ((self._sentence(" ".join(parts[:count])), count) for count in range(len(parts), 0, -1))
            first, count = next((each for each in tries if each[0] is not None), (parts[0], 1))
            whole += (" " if whole and not whole.endswith(_FULL_STOPS) else "") + (first or "")
            parts = parts[count:]
        return whole

    def _sentence(self, text: str) -> str | None:
        """Return the translation of one entry; None if there is no such entry, or no translation in it yet."""
        if text in self._whole:
            return self._whole[text] or None
        for texts, other in self._templates:
            values = _values(text, texts)
            if values is None:
                continue
            ahead = values.pop(0) if "{ahead}" in other else ""
            if len("".join(texts).strip()) > _SHORT or self._are_known(values):
                return other.format(*map(self._value, values), ahead=self._value(ahead)) if other else None
        return None

    def _are_known(self, values: Sequence[str]) -> bool:
        """Return whether values are single words, data, or sentences with a translation."""
        return all(" " not in each or _DATA.fullmatch(each) or self._value(each) != each for each in values)

    def _value(self, text: str) -> str:
        """Return a value as it is, unless it is a sentence, perhaps in quotes."""
        if text[:1] == text[-1:] == "'" and text[1:-1] in self._whole:
            return f"'{self.translated(text[1:-1])}'"
        return self.translated(text) if " " in text else text


def _around_places(sentence: str) -> tuple[str, ...]:
    """Return the texts before, between and behind the places of a sentence."""
    texts = [""]
    for text, place, _, _ in Formatter().parse(sentence):
        texts[-1] += text
        texts += [""] * (place is not None)
    return tuple(texts)


def _values(sentence: str, texts: Sequence[str]) -> list[str] | None:
    """Return what stands between some texts in a sentence, as little as can be; None if it is another sentence.

    No value ends inside of a quotation. Where quotations do not end, as in a value that was cut, they do not count.
    """
    first, *middle, last = texts
    if not (sentence.startswith(first) and sentence.endswith(last)):
        return None
    values, at, end, quoted = list[str](), len(first), len(sentence) - len(last), _quotations(sentence)
    for text in middle:
        found = sentence.find(text, at + 1, end)
        while found >= 0 and any(begin < found < close for begin, close in quoted):
            found = sentence.find(text, found + 1, end)
        if found < 0:
            return None
        values.append(sentence[at:found])
        at = found + len(text)
    return [*values, sentence[at:end]] if at < end else None


def _quotations(sentence: str) -> list[tuple[int, int]]:
    """Return where the quotations of a sentence begin and end; none if one does not end."""
    return [] if _MARK.search(_QUOTED.sub("", sentence)) else [each.span() for each in _QUOTED.finditer(sentence)]
