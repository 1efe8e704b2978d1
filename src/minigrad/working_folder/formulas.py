r"""Formulas of a lesson as plain text, for a terminal: ``$\frac{1}{2} x^{10}$`` is shown as (1/2) x^10."""

from __future__ import annotations

import re

_CODE_OR_FORMULA = re.compile(r"(```.*?```|`[^`]*`)|\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
_SIGNS = {
    "cdot": "·",
    "times": "×",
    "partial": "∂",
    "nabla": "∇",
    "epsilon": "ε",
    "sigma": "\N{GREEK SMALL LETTER SIGMA}",
    "beta": "β",
    "infty": "∞",
    "approx": "≈",
    "pm": "±",
    "to": "→",
    "leftarrow": "←",
    "sqrt": "√",
    "dots": "...",
    "ldots": "...",
}
"""What stands for a command. Of one that is not here its name stays, as that of a logarithm."""

_FRACTION = re.compile(r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}")
_MATRIX = re.compile(r"\\begin\{[a-z]*matrix\}(.*?)\\end\{[a-z]*matrix\}", re.DOTALL)
_ONE_THING = re.compile(r"\d+|∂? ?[a-zA-Z]\w*(?:\^\w+)?|\(.*\)|√?\w")
"""What needs no brackets as a part of a fraction."""


def in_plain_text(markdown: str) -> str:
    r"""Return Markdown with each formula as code, in plain text. What is code already stays.

    >>> from minigrad.working_folder.formulas import in_plain_text
    >>> in_plain_text(r"Is $\frac{\partial f}{\partial x} = 3x^{-2}$?")
    'Is `∂ f/∂ x = 3x^(-2)`?'
    """

    def plain(found: re.Match[str]) -> str:
        code, alone, within = found.groups()
        return code or (f"\n\n`{_plain(alone)}`\n\n" if alone else f"`{_plain(within)}`")

    return _CODE_OR_FORMULA.sub(plain, markdown)


def _plain(formula: str) -> str:
    text = re.sub(r"\\(?:left|right|[Bb]ig+)(?![a-zA-Z])", "", formula).replace(r"\_", "_")
    text = re.sub(r",?\s*\\q?quad", ", ", _MATRIX.sub(_rows, text))
    text = re.sub(r"\\(?:text|texttt|mathrm)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\([a-zA-Z]+)", lambda found: _SIGNS.get(found[1], found[0]), text)
    before = ""
    while before != text:  # from the innermost braces out
        before = text
        text = re.sub(r"([_^])\{([a-zA-Z0-9.]*)\}", r"\1\2", text)
        text = re.sub(r"([_^√])\{([^{}]*)\}", r"\1(\2)", text)
        text = _FRACTION.sub(_divided, text)
    return " ".join(re.sub(r"[\\{}]", "", re.sub(r"\\[,;! ]", " ", text)).split())


def _divided(found: re.Match[str]) -> str:
    top, bottom = (part if _ONE_THING.fullmatch(part) else f"({part})" for part in found.groups())
    return f"({top}/{bottom})" if top.isdigit() else f"{top}/{bottom}"


def _rows(found: re.Match[str]) -> str:
    rows = [", ".join(each.strip() for each in row.split("&")) for row in found[1].split(r"\\")]
    return f"[{', '.join(f'[{row}]' for row in rows)}]"
