"""The base of all widgets: pictures and a sentence as state, one look, and a picture for pages without widgets.

A widget lives as long as its kernel. A notebook that is opened the next day has only what was saved, and of an output
with a widget in it JupyterLab shows nothing but the widget. So the picture is an output of its own behind the widget,
which the widget's page hides as long as it lives.
"""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from IPython.display import display

from minigrad.draw.paper import page as image_of


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
        still_id: The id of the output that is to be hidden while the widget lives.
    """

    _esm: Any = "export default {}"
    _css: Any = _read("widgets.css")

    title = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    pictures: traitlets.Dict[str, str] = traitlets.Dict().tag(sync=True)
    still_id = traitlets.Unicode().tag(sync=True)

    def still(self) -> list[str]:
        """Return the pictures as they are now, as SVG."""
        return list(self.pictures.values())

    def fallback(self) -> str:
        """Return the content for a page without widgets: the pictures as they are now, and the sentence.

        The pictures are images, since JupyterLab shows no SVG of a notebook that it does not trust.
        """
        pictures = "".join(f"<div>{image_of(svg, f'{self.title}: {self.said}')}</div>" for svg in self.still())
        return f"<div><strong>{escape(self.title)}</strong>{pictures}<p>{escape(self.said)}</p></div>"

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Show the widget, and behind it the picture that is seen where there is no widget."""
        self.still_id = f"mgw-still-{self.model_id}"
        data, metadata = self._repr_mimebundle_(**kwargs) or ({}, {})
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        still = f'<div id="{self.still_id}">{self.fallback()}</div>'
        display({"text/html": still}, raw=True)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"{self.title}: {self.said}"
