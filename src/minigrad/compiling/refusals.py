"""Say in one or two sentences, with the student's own line, why Numba does not compile a kernel."""

from __future__ import annotations

import dis
import linecache
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType

from minigrad.compiling import reaching
from minigrad.errors import KernelError

_LIBRARY = os.path.dirname(os.path.dirname(__file__)) + os.sep
_PLACE = re.compile(r'File "([^"]+)", line (\d+)|(?:at|from) (\S[^\n]*?) \((\d+)\)')
_SUFFIX = re.compile(r"\.\d+$")

Place = tuple[str, int]


@contextmanager
def in_plain_words(kernel: FunctionType) -> Iterator[None]:
    """Turn whatever the compiler raises inside the block into a `KernelError` about the kernel."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise explain(error, kernel) from None


def explain(error: Exception, kernel: FunctionType) -> KernelError:
    """Return the error to raise instead of the compiler's.

    Args:
        error: What the compiler raised.
        kernel: The Python function of the kernel.
    """
    text = str(error)
    place = _place(text, kernel)
    where = f"; the line is `{_source(place)}` ({_named(place)})" if place and _source(place) else ""
    told = KernelError(f"{kernel.__name__} cannot be compiled: {_reason(error)}{where}")
    told.original = text
    return told


def _place(text: str, kernel: FunctionType) -> Place | None:
    """Return the deepest place that the compiler names in the student's code, else in the library's."""
    functions = reaching.reached(kernel, reaching.kernel_of)
    files = {os.path.abspath(f.__code__.co_filename): f.__code__.co_filename for f in functions}
    named = [(a or b, int(c or d)) for a, c, b, d in _PLACE.findall(text)]
    found = [(files[os.path.abspath(file)], line) for file, line in named if os.path.abspath(file) in files]
    missing = re.search(r"NameError: name '(\w+)' is not defined", text)
    if missing:
        found = [place for f in functions for place in _uses(f, missing[1])] + found
    return min(found, key=lambda place: place[0].startswith(_LIBRARY), default=None)


def _uses(function: FunctionType, name: str) -> Iterator[Place]:
    """Yield where a function reads a global of that name."""
    for step in dis.get_instructions(function):
        if step.argval == name and step.opname == "LOAD_GLOBAL":
            line = step.positions.lineno if step.positions else None
            yield function.__code__.co_filename, line or function.__code__.co_firstlineno


def _source(place: Place) -> str:
    return linecache.getline(*place).strip()


def _named(place: Place) -> str:
    """Name a place as its reader knows it: a notebook's cells have files of meaningless names."""
    file, line = place
    in_notebook = "ipykernel" in file or file.startswith("<")
    return f"line {line} of its cell" if in_notebook else f"{os.path.basename(file)}, line {line}"


def _reason(error: Exception) -> str:
    """Return the reason in plain words; for a reason that is not known here, the compiler's own first line."""
    text = str(error)
    for pattern, words in _REASONS:
        found = re.search(pattern, text, re.DOTALL)
        if found:
            return words(found)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    nothing = f"it uses something that the compiler stumbles over without a word ({type(error).__name__})"
    first = (lines[0] if lines else nothing).rstrip(".")
    return first if len(first) <= 200 else f"{first[:197]}..."


def _untyped(found: re.Match[str]) -> str:
    return f"`{found[1]}` is a {found[2].rpartition('.')[2]}, which compiled code cannot use"


def _ununified(found: re.Match[str]) -> str:
    name = _SUFFIX.sub("", found[3])
    what = "a value" if name.startswith("$") else f"`{name}`"
    one, other = _in_words(found[1]), _in_words(found[2])
    if one == other:  # two arrays, or two tuples, of different sorts
        one, other = found[1], found[2]
    return f"{what} is {one} on one way and {other} on another, but in compiled code it must be of one type"


def _not_implemented(found: re.Match[str]) -> str:
    name, arguments = found[1], _split(found[2])
    words = [_in_words(each) for each in arguments]
    if name in ("setitem", "static_setitem") and len(words) == 3:
        if words[1] in ("an int", "a slice"):
            return f"{words[2]} cannot be an element of {words[0]}"
        return f"{words[0]} cannot be indexed by {words[1]}"
    if name in ("getitem", "static_getitem") and len(words) == 2:
        return f"{words[0]} cannot be indexed by {words[1]}"
    return f"compiled code has no `{name}` of {' and '.join(words) or 'nothing'}"


def _unsupported_step(found: re.Match[str]) -> str:
    step = found[1]
    return _STEPS.get(step, f"compiled code has nothing like this (it would need {step})")


_STEPS = {
    "LOAD_BUILD_CLASS": "a class cannot be made in compiled code",
    "IMPORT_NAME": "an import cannot stand in compiled code: put it at the top of the file",
    "STORE_GLOBAL": "compiled code cannot set a global variable",
    "STORE_DEREF": "compiled code cannot set a variable of the function around it",
}

_REASONS: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (r"Untyped global name '(.+?)':?.*?Cannot determine Numba type of <class '(.+?)'>", _untyped),
    (
        r"Cannot determine Numba type of <class '(.+?)'>",
        lambda f: f"compiled code knows no value of type {f[1]}",
    ),
    (r"NameError: name '(\w+)' is not defined", lambda f: f"the name `{f[1]}` is not defined"),
    (r"Cannot unify (.+) and (.+?) for '([^']+)'", _ununified),
    (
        r"Overwrite of parallel loop index",
        lambda f: (
            "the variable of a `prange` loop must not be changed inside the loop, nor must a plain copy of it; "
            "begin from a number of its own, as in `rest = i + 0`"
        ),
    ),
    (
        r"Unknown attribute '(\w+)' of type ([^\n]+)",
        lambda f: f"{_in_words(f[2])} has no `{f[1]}` in compiled code",
    ),
    (
        r"Cannot bind .*? to signature '(.+?)' due to \"TypeError: (.+?)\"",
        lambda f: f"a function that takes {f[1]} is called with other arguments ({f[2].rstrip('.')})",
    ),
    (
        r"Exception matching is limited to",
        lambda f: "compiled code cannot tell exceptions apart: only `except Exception:` is possible",
    ),
    (r"opcode \((\w+)\)", _unsupported_step),
    (
        r"No implementation of function Function\(.*?\) found for signature:\s+>>> (\w+)\(([^\n]*)\)\s*\n",
        _not_implemented,
    ),
]

_WORDS: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (r"(readonly )?array\((\w+), (\d+)d", lambda f: f"an array of {f[2]}"),
    (r"(Literal\[int\]|u?int\d+|uintp|intp)", lambda f: "an int"),
    (r"float\d+", lambda f: "a float"),
    (r"(Literal\[str\]|unicode_type)", lambda f: "a string"),
    (r"(Literal\[bool\]|bool)", lambda f: "a bool"),
    (r"(Uni|Named)?Tuple", lambda f: "a tuple"),
    (r"(reflected )?list", lambda f: "a list"),
    (r"(DictType|LiteralStrKey)", lambda f: "a dict"),
    (r"slice", lambda f: "a slice"),
    (r"none", lambda f: "None"),
    (r"Module\(<module '([\w.]+)'", lambda f: f"the module {f[1]}"),
]


def _in_words(kind: str) -> str:
    """Name one of Numba's types for people."""
    kind = kind.strip()
    return next((words(found) for pattern, words in _WORDS if (found := re.match(pattern, kind))), kind)


def _split(arguments: str) -> list[str]:
    """Split a list of types at the commas that are not inside one of them."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in map(str.strip, parts) if part]
