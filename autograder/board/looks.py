"""The look of a name: two names with one look cannot be told apart by whoever reads the board."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Signs that Python calls printable, and that show nothing."""

_OF_OTHER_ALPHABETS = {
    "a": "\u0430\u03b1",
    "b": "\u0432\u03b2",
    "c": "\u0441\u03c3",
    "d": "\u0501",
    "e": "\u0435\u03b5",
    "h": "\u043d\u04bb\u03b7",
    "i": "\u0456\u03b9",
    "j": "\u0458",
    "k": "\u043a\u03ba",
    "m": "\u043c\u03bc",
    "n": "\u03bd",
    "o": "\u043e\u03bf",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "t": "\u0442\u03c4",
    "w": "\u051d",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03c5",
    "z": "\u03b6",
    "'": "\u2018\u2019\u02bc`",
    "-": "\u2010\u2011\u2013\u2212",
}
"""Small letters of Cyrillic and Greek whose small or large form looks like a Latin one; and signs that look alike."""

_ALIKE = str.maketrans({each: letter for letter, those in _OF_OTHER_ALPHABETS.items() for each in those})


def look(name: str) -> str:
    """Return the look of a name; the empty string of one that nobody sees.

    >>> from autograder.board.looks import look
    >>> look("Turing's  OWL") == look("\N{GREEK CAPITAL LETTER TAU}uring's owl")
    True
    """
    seen = unicodedata.normalize("NFKC", _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold())
    return " ".join(seen.translate(_ALIKE).split())
