"""What is said of a name that is not there: PyTorch's names get a sentence, others Python's own words.

`torch_names.txt` lists the names of PyTorch that minigrad leaves out; `scripts/torch_names.py` writes it. It is read
when such a name is first asked for.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["missing"]

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
    instead = f"; use {advice}" if advice else ': see "What is left out" in docs/library/pytorch.md'
    # Without its name Python suggests none: x.prod for x.cumprod would be no help.
    return AttributeError(f"torch's {name} is not in minigrad{instead}", obj=owner)
