"""HTML in which every text is escaped unless it was made here."""

from __future__ import annotations

import html
import unicodedata

MAX_CODE = 6_000
"""Most characters of a student's answer that the page shows."""


class Html(str):
    """Markup: what `el` made, and nothing else."""

    __slots__ = ()


def el(name: str, *children: object, **attributes: object) -> Html:
    """An element.

    Args:
        name: Its name, such as ``"td"``.
        children: Its content; whatever is not `Html` is escaped.
        attributes: By name; ``class_`` is the attribute `class`, and an underscore stands for a hyphen. One that is
            None is left out.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{said}>{joined(*children)}</{name}>")


def joined(*children: object) -> Html:
    """Elements and texts, one after the other."""
    return Html("".join(child if isinstance(child, Html) else html.escape(str(child)) for child in children))


def dotted(name: str) -> Html:
    """A name of Python's, which a narrow column may break after a dot or an underscore, and nowhere else."""
    return Html(html.escape(name).replace(".", ".<wbr>").replace("_", "_<wbr>"))


def code(text: str) -> Html:
    """A student's code as it stands, without what would steer a page or hide on it."""
    kept = "".join(
        character
        for character in text[:MAX_CODE].expandtabs(4)
        if character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    )
    more = "\n... (cut here)" if len(text) > MAX_CODE else ""
    # A page scrolls such a block sideways, which a keyboard can do only where it has the focus.
    return el("pre", el("code", kept.strip("\n") + more), tabindex=0)
