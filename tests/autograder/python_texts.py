"""Texts for a fuzzer: of CPython's own tests, of trees by its grammar, answers of the course, and all of them bent.

CPython's tests hold what no person writes: each form of its grammar, and what its parser, its compiler and its table of
symbols refuse. The grammar is the one that the running Python documents: the docstring of each class of `ast` is a
rule, such as "Lambda(arguments args, expr body)". What a rule makes need not be Python: `def f(x, x)` has a tree.
"""

import ast
import functools
import random
import re
import sysconfig
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path

from places import ROOT

__all__ = ["bent", "made", "missing", "of_cpython", "of_the_course", "texts", "whole_files"]

STDLIB = Path(sysconfig.get_path("stdlib"))
NAMED = ("test_grammar", "test_syntax", "test_symtable")
OTHERS = (
    "test_ast", "test_asyncgen", "test_augassign", "test_compile", "test_coroutines", "test_decorators",
    "test_eof", "test_exceptions", "test_fstring", "test_future", "test_generators", "test_global", "test_int_literal",
    "test_keywordonlyarg", "test_lambda", "test_listcomps", "test_named_expressions", "test_parser", "test_patma",
    "test_positional_only_arg", "test_scope", "test_source_encoding", "test_string_literals", "test_super",
    "test_tokenize", "test_type_annotations", "test_type_params", "test_unicode_identifiers", "test_unparse",
    "test_unpack_ex", "test_with", "test_yield_from",
)  # fmt: skip
LONGEST = 4_000
"""Characters of the longest text; what is longer is tried by `autograder attack --texts`."""


def missing() -> str:
    """Why there are no texts of CPython's tests here; the empty string if there are."""
    lacks = [name for name in NAMED if not whole_files(name)]
    return f"{STDLIB} has no tests of Python's own: {', '.join(lacks)}" if lacks else ""


def whole_files(name: str) -> list[str]:
    """The text of a test file, or of each file of a test's folder."""
    found = [STDLIB / "test" / f"{name}.py", *sorted((STDLIB / "test" / name).glob("*.py"))]
    return [path.read_text(encoding="utf-8", errors="replace") for path in found if path.is_file()]


@functools.cache
def of_cpython() -> tuple[str, ...]:
    """The functions and classes of CPython's tests, and the texts that they give to its parser, each once."""
    found: dict[str, None] = {}
    for path in sorted((STDLIB / "test").glob("**/bad*.py")):
        found[path.read_text(encoding="utf-8", errors="surrogateescape")] = None
    for name in (*NAMED, *OTHERS):
        for text in whole_files(name):
            found.update(dict.fromkeys(_parts(text)))
    return tuple(text for text in found if 2 < len(text) <= LONGEST)


@functools.cache
def of_the_course() -> tuple[str, ...]:
    """Right answers, as somebody writes them."""
    return tuple(path.read_text() for path in sorted((ROOT / "course" / "variants").glob("*/*.py")))


def _parts(text: str) -> Iterator[str]:
    """Definitions, the texts in them, and what their doctests type in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = list(ast.walk(ast.parse(text)))
    lines = text.split("\n")
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef | ast.With | ast.For):
            yield textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield textwrap.dedent(node.value)
            typed = re.findall(r"^ *>>> (.*(?:\n *\.\.\. ?.*)*)", node.value, re.MULTILINE)
            yield from (re.sub(r"^ *\.\.\. ?", "", each, flags=re.MULTILINE) for each in typed)


# Trees by the rules of the grammar --------------------------------------------------------------------------------

NAMES = ("f", "x", "x", "y", "a", "self", "print", "kernel", "__debug__", "__class__", "\u00aa", "None", "match", "_")
NUMBERS = (0, 1, -1, 2**70, int("f" * 4000, 16), 10**400, 0.5, 1e308 * 10, 3j, True, None, ...)
WORDS = ("", "x", "\n", "'", '"', "{", "\ud800", "\x00", "'''\"\"\"", "\u2028", b"", b"\xff")


@functools.cache
def _rules() -> dict[str, list[tuple[type[ast.AST], list[tuple[str, str, str]]]]]:
    """For each kind of the grammar, its classes with the fields of each: kind, sign and name."""
    rules: dict[str, list[tuple[type[ast.AST], list[tuple[str, str, str]]]]] = {}
    for kind in vars(ast).values():
        if not isinstance(kind, type) or not issubclass(kind, ast.AST) or not kind.__doc__:
            continue
        if found := re.match(rf"{kind.__name__}(?:\((.*)\))?$", " ".join(kind.__doc__.split())):
            fields = re.findall(r"(\w+)([*?]?) (\w+)", found[1] or "")
            own = kind.__bases__[0].__name__ if kind.__bases__[0] is not ast.AST else kind.__name__
            rules.setdefault(own, []).append((kind, fields))
    return rules


def _value(kind: str, rng: random.Random, depth: int) -> object:
    if kind == "identifier":
        return rng.choice(NAMES)
    if kind == "int":
        return rng.choice((0, 1, -1, 114))
    if kind == "string":
        return rng.choice(("u", "type"))
    if kind == "constant":
        return rng.choice(NUMBERS + WORDS)
    if depth <= 0 and kind in ("expr", "stmt", "pattern"):
        simple = {"expr": ast.Name(rng.choice(NAMES), ast.Load()), "stmt": ast.Pass(), "pattern": ast.MatchAs()}
        return simple[kind]
    made_by, fields = rng.choice(_rules()[kind])
    return made_by(**{name: _field(of, sign, rng, depth - 1) for of, sign, name in fields})


def _field(kind: str, sign: str, rng: random.Random, depth: int) -> object:
    if sign == "*":
        return [_value(kind, rng, depth) for _ in range(rng.randrange(3 if depth > 0 else 2))]
    return None if sign == "?" and rng.random() < 0.5 else _value(kind, rng, depth)


def made(rng: random.Random) -> str:
    """The text of a random tree; one that Python cannot write is made again."""
    while True:
        body = [_value("stmt", rng, rng.randrange(1, 5)) for _ in range(rng.randrange(1, 4))]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
        except Exception:
            continue
        if text and len(text) <= LONGEST:
            return text


# Bent texts -------------------------------------------------------------------------------------------------------

STRANGE = (
    "\x00", "\x0b", "\x0c", "\r", "\r\n", "\x1b[2J", "\x85", "\xa0", "\u200b", "\u202e", "\u2028", "\ufeff",
    "\ud800", "\udc80", "\uff11", "\U0001f600", "\\", "\\\n", "\t", ";", "\n\n", "#",
    "# exercise: operators.add\n", "# %%\n", "%time ", "!ls\n", "x?\n", "0x" + "f" * 4000, "9" * 5000, "1e999",
    "1_", "(", ")", "[", "}", "'", '"""', "f'{", "b'", "lambda x, x: ", ":= ", "global x\n", "nonlocal x\n",
    "await ", "yield ", "async ", "return ", "import *\n", "from __future__ import x\n", "*", "**",
    "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "$x$", "```\n", "<script>", "</pre>", "&#0;",
    "[x](javascript:y)", "\\begin{x}", "### BEGIN SOLUTION\n", "=1+1", "raise NotImplementedError()",
    "type x = y\n", "match x:\n case y: pass\n", "print x\n",
)  # fmt: skip


ENDS = ("\r", "\r\n", "\x0c\n", ";", "\\\n", "")


def bent(text: str, other: str, rng: random.Random) -> str:
    """A text with one to three things done to it that a person, an editor or a hostile program may do."""
    for _ in range(rng.randrange(1, 4)):
        place, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        part = text[place:end]
        text = rng.choice(_BENDS)(text, place, end, part, other, rng)[:LONGEST]
    return text


def _words(text: str, rng: random.Random) -> str:
    """The text with a word of its own in the place of another."""
    words = re.findall(r"\w+", text)
    if not words:
        return text
    return re.sub(rf"\b{re.escape(rng.choice(words))}\b", lambda _: rng.choice(words), text, count=rng.randrange(4))


_BENDS = (
    lambda text, place, end, part, other, rng: text[:place] + rng.choice(STRANGE) + text[place:],
    lambda text, place, end, part, other, rng: text[:place] + rng.choice(STRANGE) + text[end:],
    lambda text, place, end, part, other, rng: text[:place] + text[end:],
    lambda text, place, end, part, other, rng: text[:end] + part + text[end:],
    lambda text, place, end, part, other, rng: text[:place] + part * rng.randrange(2, 40) + text[end:],
    lambda text, place, end, part, other, rng: text[:place] + other + text[place:],
    lambda text, place, end, part, other, rng: text[:place],
    lambda text, place, end, part, other, rng: _words(text, rng),
    lambda text, place, end, part, other, rng: text.replace(
        "\n", rng.choice(("\r", "\r\n", "\x0c\n", ";", "\\\n", "")), 1
    ),
    lambda text, place, end, part, other, rng: "def f():\n" + textwrap.indent(text, "    "),
    lambda text, place, end, part, other, rng: f"<<<<<<< a\n{text}\n=======\n{other}\n>>>>>>> b",
    lambda text, place, end, part, other, rng: "(" * rng.choice((5, 150)) + text + ")" * rng.choice((5, 150)),
    lambda text, place, end, part, other, rng: f"# exercise: operators.add\ndef add(x, y):\n    return x + y\n{text}",
    lambda text, place, end, part, other, rng: re.sub(r"\d+", "0x" + "f" * 4000, text, count=1),
)


def texts(count: int, seed: int) -> Iterator[str]:
    """That many texts: of CPython as they are, made by its grammar, and both bent, as are answers of the course."""
    rng = random.Random(seed)
    known, answers = of_cpython(), of_the_course()
    for number in range(count):
        if known and number % 10 == 0:
            yield rng.choice(known)
        elif number % 10 == 1:
            yield made(rng)
        elif number % 10 < 4:
            yield bent(rng.choice(answers), rng.choice(answers), rng)
        else:
            first = rng.choice(known) if known and rng.random() < 0.7 else made(rng)
            yield bent(first, rng.choice(known or answers), rng)
