"""nbconvert's exporter of feedback pages, with the same pages in a fraction of the time.

Nearly all of a page is the lesson, which is the same for a whole class. So what a cell's text becomes is kept, and
nbconvert's last step, which reads the finished page with BeautifulSoup and writes it again, reads each such fragment
once. In the page that is read a fragment is an empty element, whose name nobody can guess, and takes its place at the
end. That changes nothing only where a fragment closes every element that it opens: any other stays in the page.

The cells of a page are such fragments as well, but only where no text of a student's is left in it: the page is divided
at a mark of the template's, which a student could write.

Nor is a notebook that the grader itself wrote checked against nbformat's schema, once for each step of nbconvert's.
"""

from __future__ import annotations

import hashlib
import html.parser
import re
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import nbformat
from bs4 import BeautifulSoup
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from traitlets.config import Config

from autograder.gradebook.harmless import FILTERS, kept

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_FILTERS = ("highlight_code", "markdown2html")
_CELL = re.compile(r'(?=<div\s+(?:id="[^"<>]*"\s+)?class="cell border-box-sizing )')
_TEXT = r"(?>[^<>&\r\0]|&(?:amp|lt|gt|quot|#39);)*+"
_COLOURED = re.compile(
    rf'<div class="highlight"><pre>(?>{_TEXT}<span(?: class="\w+")?>{_TEXT}</span>)*+{_TEXT}</pre></div>'
)


class PageExporter(HTMLExporter):
    """Makes feedback pages, byte for byte as nbconvert's `HTMLExporter` makes them."""

    def __init__(self, config: Any = None, **options: Any) -> None:
        super().__init__(config=config, **options)  # type: ignore[no-untyped-call]
        self._name = f"mg-{secrets.token_hex(12)}"
        self._place = re.compile(rf"<{self._name} n=\"(\w+)\"></{self._name}>")
        self._apart: dict[str, str] = {}
        self._is_only_template = True

    def from_file(self, file_stream: Any, resources: Any = None, **options: Any) -> Any:
        """Export a notebook that the grader wrote, and that needs no check."""
        notebook = nbformat.convert(nbformat.reader.reads(file_stream.read()), 4)
        return self.from_notebook_node(notebook, resources, **options)

    def from_notebook_node(self, nb: nbformat.NotebookNode, resources: Any = None, **options: Any) -> Any:
        """Export a notebook, as the method of nbconvert's that this one replaces: page and resources."""
        language = nb.metadata.get("language_info", {})
        lexer = language.get("pygments_lexer", language.get("name", None))
        highlight = self.filters.get("highlight_code", Highlight2HTML(pygments_lexer=lexer, parent=self))
        resources = self._init_resources(resources)  # type: ignore[no-untyped-call]
        data_type = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self._apart, self._is_only_template = {}, True
        self.register_filter("filter_data_type", data_type)  # type: ignore[no-untyped-call]
        self.register_filter("highlight_code", highlight)  # type: ignore[no-untyped-call]
        self.register_filter("markdown2html", self.filters.get("markdown2html", self.markdown2html))  # type: ignore[no-untyped-call]
        for name in _FILTERS:
            self.environment.filters[name] = self._putting_aside(self.environment.filters[name])
        page, resources = TemplateExporter.from_notebook_node(self, nb, resources, **options)
        if self._is_only_template:
            head, *cells = _CELL.split(page)
            page = "".join([head, *map(self._aside, cells)])
        written = _written_again(page)
        for _ in range(2):  # cells, and what stands in them
            written = self._place.sub(lambda found: self._apart[found[1]], written)
        return written, resources

    def _preprocess(self, nb: nbformat.NotebookNode, resources: Any) -> tuple[nbformat.NotebookNode, Any]:
        """Take nbconvert's steps, and put reports aside."""
        for step in self._preprocessors:
            nb, resources = step(nb, resources)
        for cell in nb.cells:
            self._is_only_template &= cell.cell_type != "raw"
            for output in cell.get("outputs", ()):
                self._is_only_template &= {"text/html", "text/plain"}.issuperset(output.get("data", ()))
                if "text/html" in output.get("data", {}):
                    output.data["text/html"] = self._aside(output.data["text/html"])
        return nb, resources

    def _putting_aside(self, rule: Callable[..., str]) -> Callable[..., str]:
        """A filter whose results are put aside."""
        takes_context = hasattr(rule, "jinja_pass_arg")

        @pass_context
        def put(context: Context, source: str, *given: Any, **named: Any) -> str:
            made = rule(context, source, *given, **named) if takes_context else rule(source, *given, **named)
            return self._aside(made)

        return put

    def _aside(self, fragment: str) -> str:
        """What stands in the page for a fragment: an empty element, or the fragment where it cannot be put aside."""
        core = fragment.strip()
        again = _fragment_again(core)
        if again is None:
            self._is_only_template &= not core
            return fragment
        # Named by what it says, so that a cell of the lesson is the same on everybody's page.
        key = hashlib.sha256(core.encode("utf-8", "replace")).hexdigest()
        self._apart[key] = again
        before, _, after = fragment.partition(core)
        return f'{before}<{self._name} n="{key}"></{self._name}>{after}'


def page_of(cells: Sequence[nbformat.NotebookNode]) -> str:
    """Cells as Formgrader and feedback pages show them, without anything around them."""
    return str(_exporter_of_cells().from_notebook_node(nbformat.v4.new_notebook(cells=list(cells)))[0])


@cache
def _exporter_of_cells() -> PageExporter:
    config = Config()
    config.HTMLExporter.preprocessors = ["autograder.gradebook.formulas.Formulas"]
    config.HTMLExporter.filters = dict(FILTERS)
    config.HTMLExporter.template_name = "basic"
    return PageExporter(config=config)


@kept
def _fragment_again(fragment: str) -> str | None:
    """A fragment as BeautifulSoup writes it; None if it depends on what stands around it."""
    if _COLOURED.fullmatch(fragment):  # code of Pygments': most of a page's elements, and always the same two changes
        return fragment.replace("&quot;", '"').replace("&#39;", "'")
    return _written_again(fragment) if _is_whole(fragment) else None


def _written_again(text: str) -> str:
    """HTML as nbconvert leaves it."""
    soup = BeautifulSoup(text, features="html.parser")
    for picture in soup.select("img:not([alt])") if "<img" in text.lower() else ():
        picture.attrs["alt"] = "No description has been provided for this image"
    inner = ".jp-Notebook div.jp-Cell-inputWrapper, .jp-Notebook div.jp-OutputArea-output"
    for part in soup.select(inner) if "jp-Notebook" in text else ():
        part.attrs["tabindex"] = "0"
    return str(soup)


def _is_whole(fragment: str) -> bool:
    """Return whether a fragment is elements, each of them closed: the same wherever it stands."""
    if not (fragment.startswith("<") and fragment.endswith(">")):
        return False
    reader = _Elements()
    reader.feed(f"{fragment}<mg-end>")  # which is no element where a comment, an attribute or a script is still open
    return reader.is_whole and reader.open == ["mg-end"]


class _Elements(html.parser.HTMLParser):
    """Follows which elements are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.is_whole = True

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """An element begins."""
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """An element that is empty."""

    def handle_endtag(self, tag: str) -> None:
        """The innermost element ends, or another one, which is out of order."""
        if not self.open or self.open.pop() != tag:
            self.is_whole = False
