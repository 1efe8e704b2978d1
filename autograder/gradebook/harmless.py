"""Markdown as HTML that does nothing: for Formgrader and feedback pages, which show what students wrote.

nbconvert renders Markdown with the HTML, the links and the attachments that stand in it. Here only what a text needs
is kept: no script, no event handler, no address but of the web, of mail and of the page itself, no picture but one
that the notebook holds, no style but the alignment of a table, no id or class that a page's own script could mean.

HTML is cleaned after the Markdown is rendered: cleaning the source would miss `[x](javascript:...)`.

Nor does it cost much: whoever wrote a text chooses neither the language that it is coloured in nor how long a page
takes. What takes longer than a moment stands on the page as plain text.

Most cells of a class's notebooks are the lesson's own, so what they become is kept.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from html import escape
from typing import Any, TypeVar

import bleach  # type: ignore[import-untyped]
from bleach.css_sanitizer import CSSSanitizer  # type: ignore[import-untyped]
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from autograder.common.effort import Effort

FILTERS = {name: f"{__name__}.{name}" for name in ("highlight_code", "markdown2html", "strip_files_prefix")}
"""Filters of nbconvert's that are replaced, by name, for `HTMLExporter.filters`."""

MOMENT = 0.7
"""Seconds of processor time that one cell of a page may cost; nearly all cost a thousandth."""

MAX_COLOURED = 10_000
"""Characters of code that are coloured at most."""

KEPT = 1_000
"""Results that each function of texts keeps; a lesson has less than a hundred cells."""

LONGEST = 20_000
"""Characters of texts whose result is kept; nearly all cells have less than 3,000."""

T = TypeVar("T")

_TEXT = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q",
    "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "tt", "u", "ul", "var",
}  # fmt: skip
_FORMULAS = {
    "math", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover",
}  # fmt: skip
_FORMULA_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnspacing", "depth", "display", "displaystyle", "fence",
    "form", "height", "largeop", "linethickness", "lspace", "mathsize", "mathvariant", "maxsize", "minsize",
    "movablelimits", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy", "symmetric", "voffset",
    "width", "xmlns",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"title"}, "abbr": {"title"}, "details": {"open"}, "img": {"alt", "title", "width", "height"},
    "ol": {"start"}, "td": {"colspan", "rowspan", "style"}, "th": {"colspan", "rowspan", "style"},
}  # fmt: skip
_CLASS = re.compile(r"[a-z]{1,2}[a-z0-9]?|highlight|anchor-link|alert( alert-(info|success|warning|danger))?")
_HEADING = re.compile(r"h[1-6]")
_LINK = re.compile(r"#|https?://|mailto:", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*")


def _is_allowed(tag: str, name: str, value: str) -> bool:
    """Return whether an element may have an attribute of a value."""
    if tag == "a" and name == "href":
        return _LINK.match(value) is not None
    if tag == "img" and name == "src":  # in an img, an SVG runs no script and asks for nothing
        return _PICTURE.fullmatch(value) is not None
    if name == "class":
        return tag in ("a", "code", "div", "pre", "span") and _CLASS.fullmatch(value) is not None
    if name == "id":
        return _HEADING.fullmatch(tag) is not None
    return name in _ATTRIBUTES.get(tag, ()) or (tag in _FORMULAS and name in _FORMULA_ATTRIBUTES)


_cleaner = bleach.Cleaner(
    tags=_TEXT | _FORMULAS,
    attributes=_is_allowed,
    protocols={"http", "https", "mailto", "data"},
    css_sanitizer=CSSSanitizer(allowed_css_properties={"text-align"}),
    strip=False,
    strip_comments=True,
)


def harmless(html: str) -> str:
    """HTML without anything that acts; what is not allowed stands there as the text that it is."""
    return str(_cleaner.clean(html))


def kept(make: Callable[..., T]) -> Callable[..., T]:
    """Keep the results of a function of texts, the latest ones, unless the texts are long."""
    cached = functools.lru_cache(KEPT)(make)

    @functools.wraps(make)
    def made(*texts: str) -> T:
        return cached(*texts) if sum(map(len, texts)) <= LONGEST else make(*texts)

    return made


def in_a_moment(make: Callable[[], str], otherwise: Callable[[], str]) -> str:
    """Return the result of `make`; if that takes longer than a moment, the result of `otherwise`."""

    class Late(BaseException):  # libraries take an Exception for their own
        pass

    try:
        with Effort(MOMENT, Late).spent():
            return make()
    except Late:
        return otherwise()


class _Renderer(IPythonRenderer):
    """Code is Python's, or has no colours: some of Pygments' lexers take minutes for a page of blanks."""

    def block_code(self, code: str, info: str | None = None) -> str:
        """A fenced block."""
        language = (info or "").split(maxsplit=1)
        return _coloured(code) if language and language[0] in ("python", "python3", "py") else _plain(code)


def _plain(text: str) -> str:
    return f"<pre><code>{escape(text, quote=False)}</code></pre>\n"


def _coloured(code: str) -> str:
    if len(code) > MAX_COLOURED:
        return _plain(code)
    return str(highlight(code, PythonLexer(), HtmlFormatter()))


@kept
def _code(source: str) -> str:
    return in_a_moment(lambda: _coloured(source), lambda: _plain(source))


@kept
def rendered(source: str, attachments: str) -> str:
    """Markdown as harmless HTML; a text that takes longer than a moment stays as it is.

    Args:
        source: The text.
        attachments: The cell's pictures, as JSON.
    """

    def render() -> str:
        renderer = _Renderer(escape=False, attachments=json.loads(attachments))
        return harmless(MarkdownWithMath(renderer=renderer).render(source))

    return in_a_moment(render, lambda: _plain(source))


def highlight_code(source: str, language: str | None = None, metadata: object = None) -> str:
    """nbconvert's filter of this name: a code cell, coloured as Python whatever the notebook says of its language."""
    del language, metadata
    return _code(source)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """nbconvert's filter of this name, with a harmless result."""
    cell: Any = context.get("cell", {})
    return rendered(source, json.dumps(cell.get("attachments", {})))


def strip_files_prefix(html: str) -> str:
    """nbconvert's filter of this name, which has nothing to do: addresses of files are cleaned away.

    nbconvert looks for such addresses with a pattern whose time grows with the square of the text.
    """
    return html
