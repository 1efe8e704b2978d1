"""Explorers: what the pages show of a lesson's widgets. Python has computed every state; a little JavaScript chooses.

The first state is plain HTML, so that it is there without JavaScript. The others follow as data (`book.states`), from
which `site/static/explorers.js` takes pictures and words. It knows no widget.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from book.states import EXPLORER
from book.wording import Said, Say, in_english

__all__ = ["LARGEST", "explorer", "with_explorers"]

LARGEST = 300_000
"""The most characters of an explorer."""

States = Mapping[str, Any]
"""An explorer's states as `book.states.packed` has written them."""


def with_explorers(outputs: Sequence[Any], say: Say = in_english) -> None:
    """Put the HTML of an explorer into each output that has the states of a widget, with its labels in a language."""
    for output in outputs:
        states = output.get("data", {}).pop(EXPLORER, None)
        if states is not None:
            output.data["text/html"] = explorer(states, say)


def explorer(states: States, say: Say = in_english) -> str:
    """Return the HTML of an explorer.

    Args:
        states: Its states.
        say: Says its labels in the page's language. What is said of a state is the notebook's own, in English.

    Raises:
        ValueError: If it is too large for a page, or `book.wording` has no such label.
    """
    group, at = states["start"]
    first = states["groups"][group]["states"][at]
    title = escape(say(Said(states["title"])))
    note = escape(say(Said(states["note"]), **states["filled"]))
    html = "".join(
        [
            f'<div class="mgw explorer" role="group" aria-label="{title}"><strong>{title}</strong>',
            *_controls(states, say),
            '<div class="mgw-row" lang="en">',
            *(f'<div class="mgw-stage"{_hidden(not svg)}>{svg}</div>' for svg in _pictures(states, first)),
            "</div>",
            f'<p class="mgw-said" lang="en" role="status" aria-live="polite">{escape(first["said"])}</p>',
            f'<p class="mgw-keys">{note}</p>',
            *_data(states),
            "</div>",
        ]
    )
    if len(html) > LARGEST:
        raise ValueError(f"{states['title']}: {len(html)} characters are too many; book/states.py chooses the states")
    return html


def _pictures(states: States, state: States) -> Iterator[str]:
    """The pictures of a state, and an empty one for each that only other states have."""
    most = max(len(each["pictures"]) for group in states["groups"] for each in group["states"])
    for number in range(most):
        runs = state["pictures"][number] if number < len(state["pictures"]) else []
        pairs = zip(runs[::2], runs[1::2], strict=True)
        yield "".join("".join(states["pieces"][first : last + 1]) for first, last in pairs)


def _controls(states: States, say: Say) -> Iterator[str]:
    """The controls that choose a state; the JavaScript that listens to them shows them."""
    group, at = states["start"]
    groups, here = states["groups"], states["groups"][group]["states"]
    if _count(states) == 1:
        return
    yield '<div class="mgw-bar" hidden>'
    if len(groups) > 1:
        words = set(Said)
        names = (say(Said(each["name"])) if each["name"] in words else each["name"] for each in groups)
        options = (f"<option{' selected' * (n == group)}>{escape(name)}</option>" for n, name in enumerate(names))
        choice = escape(say(Said(states["choice"])))
        yield f'<label>{choice} <select autocomplete="off">{"".join(options)}</select></label>'
    yield (
        '<span class="explorer-steps">'
        f'<button type="button" data-by="-1">{escape(say(Said.EXPLORER_BACK))}</button>'
        f'<button type="button" data-by="1">{escape(say(Said.EXPLORER_FORWARD))}</button>'
        f"<label>{escape(say(Said(states['slider'])))} "
        f'<input type="range" autocomplete="off" min="0" max="{len(here) - 1}" value="{at}"/></label>'
        f"<output>{escape(here[at]['name'])}</output></span></div>"
    )


def _data(states: States) -> Iterator[str]:
    """The states for the JavaScript. A backslash keeps tags in them from ending the element that holds them."""
    if _count(states) > 1:
        kept = {"pieces": states["pieces"], "groups": states["groups"]}
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        escaped = text.replace("</", r"<\/").replace("<!--", r"\u003c!--")
        yield f'<script type="application/json">{escaped}</script>'


def _count(states: States) -> int:
    return sum(len(group["states"]) for group in states["groups"])


def _hidden(hidden: bool) -> str:
    return " hidden" if hidden else ""
