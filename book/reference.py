"""The library's reference: one page for each public module, which Sphinx fills from the docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

from book.markdown import joined, plain

__all__ = ["MODULES", "reference"]

MODULES = {
    "Arrays": ("minigrad.tensors", "minigrad.tensors.creation", "minigrad.backends"),
    "Networks": (
        "minigrad.nn",
        "minigrad.nn.functional",
        "minigrad.nn.init",
        "minigrad.nn.utils",
        "minigrad.optim",
        "minigrad.optim.lr_scheduler",
        "minigrad.data",
    ),
    "Gradients and transforms": (
        "minigrad.autograd",
        "minigrad.gradient_check",
        "minigrad.transforms",
        "minigrad.func",
        "minigrad.graph",
    ),
    "Written in the lessons": (
        "minigrad.operators",
        "minigrad.derivatives",
        "minigrad.functions",
        "minigrad.autodiff",
        "minigrad.scalar",
        "minigrad.module",
        "minigrad.mlp",
        "minigrad.tensor_data",
        "minigrad.tensor_functions",
        "minigrad.tensor_ops",
        "minigrad.engine",
        "minigrad.flags",
        "minigrad.fast_ops",
        "minigrad.timing",
        "minigrad.cuda_ops",
        "minigrad.training",
        "minigrad.dual",
        "minigrad.functional",
        "minigrad.batching",
        "minigrad.trees",
        "minigrad.symbols",
        "minigrad.program",
        "minigrad.loops",
        "minigrad.attention",
        "minigrad.language",
        "minigrad.precision",
        "minigrad.workers",
    ),
    "Tools": (
        "minigrad.checks",
        "minigrad.exercises",
        "minigrad.debug",
        "minigrad.draw",
        "minigrad.widgets",
        "minigrad.datasets",
        "minigrad.compiling",
        "minigrad.errors",
    ),
}
"""The public modules by subject, in the order of the reference's list."""

INHERITED = {"minigrad.tensors": ["inherited-members"]}
"""A Tensor has its methods from ten classes that are not public: its page shows them as its own."""


def reference() -> Iterator[tuple[str, bytes]]:
    """Yield the list of modules, and the page of each module, by its place."""
    yield "reference.md", _list().encode()
    for modules in MODULES.values():
        for module in modules:
            yield f"reference/{module}.rst", _page(module).encode()


def _list() -> str:
    parts = [
        "# Reference",
        "The public modules, with each name's docstring and a link to its source. "
        "Names with a page in PyTorch's documentation mean what they mean there; "
        "[Compared with PyTorch](docs/library/pytorch.md) lists the differences.",
    ]
    for subject, modules in MODULES.items():
        rows = [f"| [`{module}`](reference/{module}.rst) | {_about(module)} |" for module in modules]
        pages = "\n".join(["```{toctree}", ":hidden:", "", *(f"reference/{module}" for module in modules), "```"])
        parts += [f"## {subject}", "\n".join(["| module | contents |", "|---|---|", *rows]), pages]
    return joined(parts) + "\n"


def _about(module: str) -> str:
    """The first sentence of a module's docstring."""
    described = inspect.getdoc(importlib.import_module(module)) or ""
    return plain(described.partition("\n\n")[0].replace("``", "`"))


def _page(module: str) -> str:
    options = ["members", "show-inheritance", *INHERITED.get(module, [])]
    return "\n".join([module, "=" * len(module), "", f".. automodule:: {module}", *(f"   :{o}:" for o in options), ""])
