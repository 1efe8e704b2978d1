"""The base of all widgets: pictures and a sentence as state, one look, and a fallback for pages without widgets."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

__all__ = ["Widget", "page"]


@cache
def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def page(name: str) -> str:
    """Return the JavaScript of a widget: the common part, then its own.

    Args:
        name: Of the file, without its ending.
    """
    return f"{_read('common.js')}\n{_read(f'{name}.js')}"


class Widget(anywidget.AnyWidget):
    """A widget whose state is computed in Python.

    Attributes:
        title: What it is, in a few words.
        said: What the pictures show now, in words: below them, and read aloud when it changes.
        pictures: SVG by name.
    """

    _esm: Any = "export default {}"
    _css: Any = _read("widgets.css")

    title = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    pictures: traitlets.Dict[str, str] = traitlets.Dict().tag(sync=True)

    def still(self) -> list[str]:
        """Return the pictures as they are now, as SVG."""
        return list(self.pictures.values())

    def fallback(self) -> str:
        """Return the content for a page without widgets: the pictures as they are now, and the sentence."""
        pictures = "".join(f"<div>{svg}</div>" for svg in self.still())
        return f"<div><strong>{escape(self.title)}</strong>{pictures}<p>{escape(self.said)}</p></div>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**data, "text/html": self.fallback()}, metadata

    def __repr__(self) -> str:
        return f"{self.title}: {self.said}"
