"""Pieces of MyST Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["anchor", "block", "code", "dropdown", "joined", "plain", "raw"]

# Markdown reads these as signs of its own; an underscore inside a word is none.
_SIGNS = re.compile(r"[\\*<>\[\]$#|~{}]|(?<!\w)_|_(?!\w)")
_IN_CODE = re.compile(r"(`[^`\n]+`)")


def plain(text: str) -> str:
    r"""Return a plain sentence as Markdown that shows it; what stands in backticks stays code.

    >>> plain("x * y is `a*b`")
    'x \\\\* y is `a*b`'
    """
    parts = _IN_CODE.split(" ".join(text.split()))
    return "".join(part if n % 2 else _SIGNS.sub(r"\\\g<0>", part) for n, part in enumerate(parts))


def code(text: str, language: str = "python") -> str:
    """Return a block of code, which may hold fences itself."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def block(name: str, title: str, content: str, **options: str) -> str:
    """Return a directive, whose fence is longer than those inside of it."""
    longest = max((len(found) for found in re.findall(r"^:{3,}", content, re.MULTILINE)), default=2)
    fence = ":" * (longest + 1)
    lines = "".join(f":{key.replace('_', '-')}: {value}\n" for key, value in options.items())
    return f"{fence}{{{name}}} {title}".rstrip() + f"\n{lines}\n{content.strip()}\n\n{fence}"


def dropdown(title: str, content: str, *, kind: str = "") -> str:
    """Return a part that is folded away until its title is chosen."""
    return block("dropdown", title, content, animate="fade-in", **({"class_container": kind} if kind else {}))


def raw(html: str) -> str:
    """Return a block of HTML."""
    return code(html, "{raw} html")


def joined(parts: Iterable[str]) -> str:
    """Return blocks with an empty line between them; empty ones are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def anchor(kind: str, *names: str) -> str:
    """Return the label of a place, such as that of an exercise: "exercise-autodiff-chain-rule".

    >>> anchor("exercise", "nn.functional.softmax")
    'exercise-nn-functional-softmax'
    """
    return re.sub(r"[^a-z0-9]+", "-", "-".join([kind, *names]).lower()).strip("-")
