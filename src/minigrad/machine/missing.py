"""What is said of a name or keyword that is not there: PyTorch's get a sentence, others Python's own words.

`torch_names.txt` lists the names of PyTorch that minigrad leaves out, and the keywords of functions that it has, as
`minigrad.sum(out)`; `scripts/torch_names.py` writes it. It is read when such a name is first asked for. Python itself
refuses a keyword, and its words name the function and the keyword: only functions that are called through another
(`minigrad.tensors.function_of`) can add what to do, as a wrapper for every call would cost each operation its time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

LIST = Path(__file__).with_name("torch_names.txt")


@cache
def left_out() -> dict[str, str]:
    """Return the names that PyTorch has and minigrad has not, with what to use instead, or with nothing.

    >>> from minigrad.machine.missing import left_out
    >>> left_out()["minigrad.Tensor.absolute"]
    'x.abs()'
    """
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {name: advice for name, _, advice in pairs}


def _instead(advice: str) -> str:
    return f"; use {advice}" if advice else ': see "What is left out" in docs/library/pytorch.md'


def missing(place: str, name: str, owner: object) -> AttributeError:
    """Return the error for a name that a module or a class does not have.

    Args:
        place: The module's or the class's name, such as "minigrad.nn" or "minigrad.Tensor".
        name: The name.
        owner: The module or object that was asked, for Python's own suggestion.

    >>> print(minigrad.machine.missing.missing("minigrad", "column_stack", minigrad))
    torch's column_stack is not in minigrad; use minigrad.stack(tensors, 1) or minigrad.cat(tensors, 1)
    """
    advice = None if name.startswith("_") else left_out().get(f"{place}.{name}")
    if advice is None:
        what = f"module {place!r}" if isinstance(owner, ModuleType) else f"{type(owner).__name__!r} object"
        return AttributeError(f"{what} has no attribute {name!r}", name=name, obj=owner)
    # Without its name Python suggests none: x.prod for x.cumprod would be no help.
    return AttributeError(_sentence(name, advice), obj=owner)


def _sentence(name: str, advice: str) -> str:
    return f"torch's {name} is not in minigrad{_instead(advice)}"


class _Imports:
    """The last of Python's finders: an import of a name that minigrad leaves out gets the same sentence."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Find nothing.

        Raises:
            ModuleNotFoundError: If it is a name of PyTorch's. The error carries no name: Python would drop the sentence
                of ``from minigrad import NAME`` for words of its own.
        """
        if name.startswith("minigrad.") and (advice := left_out().get(name)) is not None:
            raise ModuleNotFoundError(_sentence(name.rpartition(".")[2], advice))


sys.meta_path.append(_Imports)


def refused(called: str, error: TypeError) -> TypeError:
    """Return the error for a keyword that a function does not take.

    Args:
        called: The function, such as "minigrad.sum".
        error: Python's own. It is returned as it is, unless it is about a keyword that PyTorch's function has.

    >>> error = TypeError("Methods.exp() got an unexpected keyword argument 'out'")
    >>> print(minigrad.machine.missing.refused("minigrad.exp", error))
    exp: torch's keyword out is not in minigrad; use out.copy_(minigrad.exp(...))
    """
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    advice = left_out().get(f"{called}({found[1]})") if found else None
    if found is None or advice is None:
        return error
    return TypeError(f"{called.rpartition('.')[2]}: torch's keyword {found[1]} is not in minigrad{_instead(advice)}")
