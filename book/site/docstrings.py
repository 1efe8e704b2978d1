"""Sphinx extension: docstrings as the library writes them, and types that have no page of their own.

Docstrings are plain text with backticks, indented code, and Google's sections. reStructuredText would read `*shape` and
`|a - b|` as signs of its own, and indented code as a quotation.
"""

import builtins
import re
from collections import Counter, defaultdict
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_IN_CODE = re.compile(r"(`+[^`]+`+)")
_ATTRIBUTES = ("attribute", "data", "property")


def as_restructured(lines: list[str]) -> list[str]:
    r"""Return a docstring's lines as reStructuredText: indented code marked as code, signs in prose shown as they are.

    >>> as_restructured(["Return |a|:", "", "    a * b"])
    ['Return \\|a\\|:', '', '::', '', '    a * b']
    """
    result: list[str] = []
    last, literal, doctest = "", False, False
    for line in lines:
        text = line.strip()
        indented = line.startswith("    ")
        after_empty = bool(result) and not result[-1].strip()
        doctest = bool(text) and (doctest or text.startswith(">>>"))
        literal = (literal and (indented or not text)) or (
            indented and after_empty and bool(last) and not last.startswith(" ") and not doctest
        )
        if literal and after_empty and not last.startswith(" "):
            result += ["::", ""]
        result.append(line if literal or doctest else _escaped(line))
        last = line if text else last
    return result


def _escaped(line: str) -> str:
    parts = _IN_CODE.split(line)
    return "".join(part if n % 2 else re.sub(r"[*|]", r"\\\g<0>", part) for n, part in enumerate(parts))


def _before_napoleon(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = as_restructured(lines)
    if what in _ATTRIBUTES:
        app.__dict__.setdefault("docstrings_of_attributes", {})[name] = list(lines)


def _after_napoleon(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Undo what Napoleon does to attributes: it takes the words before a colon for a type."""
    if what in _ATTRIBUTES:
        lines[:] = app.__dict__["docstrings_of_attributes"].pop(name)


def _without_builtins(app: Sphinx, doctree: nodes.document) -> None:
    """Leave Python's own names without a link, for which Sphinx would find attributes of that name: `Var.type`.

    Other names without a module are left to `_public`: Sphinx would complain of a name that two modules have.
    """
    for node in list(doctree.findall(pending_xref)):
        if node.get("refdomain") == "py" and hasattr(builtins, node["reftarget"].removeprefix("builtins.")):
            node.replace_self(node.children)
        elif node.get("refdomain") == "py" and "." not in node["reftarget"]:
            node.attributes.pop("refspecific", None)


def _public(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    """Lead from the place where a class is defined to the page that shows it; without such a page it is only text."""
    target: str = node["reftarget"]
    elsewhere = re.fullmatch(r"\w+(\.\w+)+", target) and not target.startswith("minigrad.")
    if node.get("refdomain") != "py" or elsewhere:
        return None
    last = target.rpartition(".")[2]
    found = [name for name in env.domains.python_domain.objects if name.rpartition(".")[2] == last]
    classes = [name for name in found if env.domains.python_domain.objects[name].objtype in ("class", "exception")]
    if not classes or not last[0].isupper():
        return contnode
    docname = str(node.get("refdoc", env.docname))
    module = node.get("py:module") or ""
    shown = env.domains.python_domain.objects[min(classes, key=lambda name: (not name.startswith(module), len(name)))]
    refuri = app.builder.get_relative_uri(docname, shown.docname)
    return nodes.reference("", "", contnode, internal=True, refuri=f"{refuri}#{shown.node_id}")


def _lead_back(app: Sphinx, env: BuildEnvironment) -> None:
    """Lead from a module's source to the pages that show it.

    viewcode looks for all of a module's objects under the name of one module, the first that shows one of them, on the
    page that was read last. Here it is the module that shows most of them, and its pages.
    """
    shown = {full: each.docname for full, each in env.domains.python_domain.objects.items() if not each.aliased}
    by_last = defaultdict[str, list[str]](list)
    for full in shown:
        by_last[full.rpartition(".")[2]].append(full)
    for module, entry in env._viewcode_modules.items():  # type: ignore[attr-defined]
        if entry:
            code, tags, used, _ = entry
            fulls = [(name, full) for name in used for full in by_last[name.rpartition(".")[2]]]
            owners = Counter(full.removesuffix(f".{name}") for name, full in fulls if full.endswith(f".{name}"))
            owner = max(owners, key=lambda each: owners[each], default="")
            pages = {name: shown.get(f"{owner}.{name}", page) for name, page in used.items()}
            env._viewcode_modules[module] = code, tags, pages, owner  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps."""
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("autodoc-process-docstring", _before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", _after_napoleon, priority=600)
    app.connect("doctree-read", _without_builtins)
    app.connect("missing-reference", _public)
    app.connect("env-updated", _lead_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
