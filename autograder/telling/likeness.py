"""Answers of a class that are more alike than the task explains.

Each answer becomes its syntax tree without what two authors choose freely: names are numbered in the order of their
appearance, docstrings, comments, annotations and imports are dropped, operands that may be swapped are sorted. The
tree is read as a sequence, and of each stretch of it one fingerprint is kept, by winnowing.

A likeness is worth a look only where few share it. Text that the task gives out counts for nothing, nor does text of
the reference, of other answers known in advance, or of much of the class. The rest counts the more the fewer have it.
So a short exercise, for which most of a class must write the same line, has no pairs at all.

The time grows with the class, and not with its square: an index says who has each fingerprint, and only fingerprints of
few students lead from one answer to others. So a student meets at most `MOST_HOLDERS` others by each of them.

Nothing here says how a likeness came about.

Source: S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import zlib
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from autograder.common.python_text import bound_by, parse, without_comments

GRAM = 8
"""Parts of a tree that make one fingerprint: about half a line of code."""

WINDOW = 5
"""Of so many in a row one is kept: a stretch of `GRAM + WINDOW - 1` parts that two answers share always shows."""

MAX_NODES = 5_000
"""Larger trees are not compared; an answer has some hundred parts."""

MAX_TEXT = 200_000
"""Longer texts are not compared, comments aside; a cell has no more."""

MAX_READ = 2_000_000
"""Longer texts are not even read; a notebook has no more code."""

TOGETHER = " + "
"""What stands between the names of a group, which is one author."""

FEWEST = 5
"""A class of fewer answers says nothing of what is usual."""

RARE = 0.02
"""A share of the class above which a likeness is a manner of writing; three may share anything and be unusual."""

MOST_HOLDERS = 40
"""So many share a rare feature at most, however large the class is; it is the share above in a class of 2,000."""

LEAST_ALIKE = 0.6
"""Share of what tells two answers apart that a pair has in common at least."""

LEAST_WEIGHT = 25.0
"""Bits that a pair's common features weigh at least: five features that one pair in 300 answers has are 36."""

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_WORDS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_WORDY = frozenset({"attr", "ctx", "id", "kind", "op", "ops", "type_comment"})
_SILENT = frozenset({ast.Expr, ast.Pass, ast.Import, ast.ImportFrom, ast.AnnAssign})
_OWN_RULE = frozenset({ast.Name, ast.arg, ast.Constant, ast.AugAssign, ast.AnnAssign, ast.BinOp, ast.Compare})
_BINDING = (ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
_DROPPED = frozenset({"annotation", "returns", "type_comment", "ctx", "kind", "type_params"})


@dataclass(frozen=True)
class Pair:
    """Two answers to one exercise that are unusually alike.

    Attributes:
        one: The first author, in the order of names.
        other: The second, or the place where an answer from outside stands.
        alike: Share of the two answers' telling features that both have, 0 to 1.
        features: How many features they share that few others have.
        having: In how many of the compared answers such a feature is found on average, theirs among them.
        weight: The weight of the shared features together, in bits; features overlap, so it is no probability.
        answers: How many answers were compared.
        pairs: How many pairs were compared.
        rank: The place of this pair among them, 1 for the most weight.
        also: Other places from outside that have the same answer as `other`.
    """

    one: str
    other: str
    alike: float
    features: int
    having: float
    weight: float
    answers: int
    pairs: int
    rank: int = 0
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compared:
    """The answers of a class to one exercise, compared.

    Attributes:
        pairs: The pairs that are unusually alike, the most unusual first.
        too_long: The students whose answer could not be compared although it is Python: it has too many parts, or
            the comparison itself failed at it.
    """

    pairs: list[Pair]
    too_long: list[str]


def normalised(text: str) -> list[str] | None:
    """The parts of an answer's tree in order, without names, comments, docstrings, annotations and imports.

    Returns:
        The parts, or None for a text that is not Python, or too long to compare.
    """
    return _read(text)[0]


def _read(text: str) -> tuple[list[str] | None, bool]:
    """The parts of an answer, or None, and whether the answer is too long to be compared."""
    tree = _parsed(text)
    if tree is None:
        return None, len(text) > MAX_TEXT
    nodes, silent = _telling(tree)
    if len(nodes) > MAX_NODES:
        return None, True
    walked = (node for each in silent for node in ast.walk(each))
    root = _simplified(nodes, _bound_names(itertools.chain(nodes, walked)))
    parts = [root.label]
    for statement in root.children:  # numbered anew, so that one put before the others does not change them all
        parts += _sequence(statement)
    return parts, False


def _sequence(statement: _Part) -> list[str]:
    numbers: dict[str, int] = {}
    parts: list[str] = []
    stack = [statement]
    while stack:
        node = stack.pop()
        if node.name:
            parts.append(f"name {numbers.setdefault(node.name, len(numbers))}")
        else:
            parts.append(node.label)
        stack.extend(reversed(node.children))
    return parts


def _telling(tree: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """The nodes of a tree, parents first, hardly more than may be, and the statements that say nothing."""
    nodes: list[ast.AST] = [tree]
    silent: list[ast.AST] = []
    for node in nodes:  # the list grows meanwhile
        for name in _inner(type(node)):  # type: ignore[arg-type]  # a class is hashable, whatever mypy says
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    is_silent = type(child) in _SILENT and _says_nothing(child)
                    (silent if is_silent else nodes).append(child)
        if len(nodes) > MAX_NODES:
            break
    return nodes, silent


@functools.cache
def _inner(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes with something to say."""
    return () if kind in (ast.Name, ast.Constant) else tuple(each for each in kind._fields if each not in _WORDY)


@functools.cache
def _said(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that count."""
    return tuple(each for each in kind._fields if each not in _DROPPED)


def fingerprints(parts: Sequence[str]) -> frozenset[int]:
    """The fingerprints of a sequence: the smallest of each window of hashed stretches."""
    hashes = _hashes(parts)
    starts = range(max(1, len(hashes) - WINDOW + 1))
    return frozenset(min(hashes[start : start + WINDOW]) for start in starts if hashes)


def _hashes(parts: Sequence[str]) -> list[int]:
    """A number for each stretch of a sequence; the same on every day and every machine."""
    joined = b"".join(map(_coded, parts))
    return [zlib.crc32(joined[4 * i : 4 * (i + GRAM)]) for i in range(len(parts) - GRAM + 1)]


@functools.lru_cache(10_000)
def _coded(part: str) -> bytes:
    return zlib.crc32(part.encode("utf-8", "replace")).to_bytes(4, "big")


def same_text(one: str, other: str) -> bool:
    """Return whether two answers are the same to the letter, white space aside: names and comments as well."""
    return one.split() == other.split()


def pairs(answers: Mapping[str, str], known: Iterable[str] = ()) -> list[Pair]:
    """The pairs of a class whose answers to one exercise are unusually alike, the most unusual first."""
    return compared(answers, known).pairs


def compared(
    answers: Mapping[str, str], known: Iterable[str] = (), outside: Mapping[str, str] | None = None
) -> Compared:
    """Compare the answers of a class to one exercise, with each other or with some from outside.

    Args:
        answers: The text of each student's solution cell, by student; without those that nobody has worked on.
        known: The text that two students may well share: the stub, the reference, variants of it and known mistakes.
        outside: Answers by the places where they stand. Then each pair has one answer of the class, `one`, and one from
            here. A place with a folder of the student's own name is an earlier try, and no pair.
    """
    # Of known texts every stretch: which of them a window keeps depends on what stands beside it.
    usual = frozenset[int]().union(*(_hashes(normalised(text) or ()) for text in known))
    features: dict[str, frozenset[int]] = {}
    too_long = []
    for student, text in sorted(answers.items()):
        parts, is_too_long = _read_any(text)
        if parts is not None:
            features[student] = fingerprints(parts) - usual
        elif is_too_long:
            too_long.append(student)
    inside, places = len(features), defaultdict[frozenset[int], list[str]](list)
    for place, text in sorted((outside or {}).items()):
        parts, _ = _read_any(text)
        if parts is not None:
            places[fingerprints(parts) - usual].append(place)
    features |= {same[0]: found for found, same in places.items()}  # what many places have from one source counts once
    if len(features) < FEWEST or not inside:
        return Compared([], too_long)
    if outside is None:
        return Compared(_pairs(features), too_long)
    pairs = [replace(pair, also=tuple(places[features[pair.other]][1:])) for pair in _pairs(features, inside)]
    return Compared([pair for pair in pairs if not _is_own(pair)], too_long)


def _read_any(text: str) -> tuple[list[str] | None, bool]:
    """The same as `_read`: whatever one text does, the others are compared."""
    try:
        return _read(text)
    except Exception:
        return None, True


def _is_own(pair: Pair) -> bool:
    """Return whether all that is like an answer is its author's own, or by a member of the group that wrote it."""
    authors = {*pair.one.split(TOGETHER)}
    return all(authors & {*PurePath(place).parts} for place in (pair.other, *pair.also))


def _pairs(features: Mapping[str, frozenset[int]], inside: int = 0) -> list[Pair]:
    """The pairs that are unusually alike, by the features of each student, who are in the order of names.

    With `inside` only pairs of one of the first so many and one of the others.
    """
    holders: dict[int, list[int]] = {}
    for place, own in enumerate(features.values()):
        for feature in own:
            holders.setdefault(feature, []).append(place)
    weights = {feature: math.log2(len(features) / len(who)) for feature, who in holders.items()}
    most = max(3, min(MOST_HOLDERS, int(RARE * len(features))))
    students = list(features)
    count = len(features)
    pairs = inside * (count - inside) if inside else count * (count - 1) // 2
    found = [
        _pair(students[place], students[other], features, weights, holders, most, pairs)
        for place, own in enumerate(itertools.islice(features.values(), inside or count))
        for other in _others(max(place, inside - 1), own, weights, holders, most)
    ]
    ranked = sorted(found, key=lambda pair: (-pair.weight, pair.one, pair.other))
    places = _places(ranked)
    worth = (pair for pair in ranked if pair.weight >= LEAST_WEIGHT and pair.alike >= LEAST_ALIKE)
    return [replace(pair, rank=places[pair.weight]) for pair in worth]


def _others(
    place: int,
    own: Iterable[int],
    weights: Mapping[int, float],
    holders: Mapping[int, Sequence[int]],
    most: int,
) -> list[int]:
    """The places after one that share enough of rare features with an answer; the sum's last digits do not count."""
    shared: defaultdict[int, float] = defaultdict(float)
    for feature in own:
        who = holders[feature]
        if 1 < len(who) <= most:
            weight = weights[feature]
            for other in who[bisect(who, place) :]:
                shared[other] += weight
    return [other for other, weight in shared.items() if weight >= LEAST_WEIGHT - 1e-6]


def _pair(
    one: str,
    other: str,
    features: Mapping[str, frozenset[int]],
    weights: Mapping[int, float],
    holders: Mapping[int, Collection[int]],
    most: int,
    pairs: int,
) -> Pair:
    """A pair before its rank is known."""
    common = sorted(features[one] & features[other])
    rare = [feature for feature in common if len(holders[feature]) <= most]
    # Summed in one order, so that the last digit of a sum does not depend on the day.
    everything = sum(weights[feature] for feature in sorted(features[one] | features[other]))
    weight = sum(weights[feature] for feature in rare)
    alike = sum(weights[feature] for feature in common) / everything if everything else 0.0
    having = sum(len(holders[feature]) for feature in rare) / len(rare)
    return Pair(one, other, alike, len(rare), having, weight, len(features), pairs)


def _places(ranked: Sequence[Pair]) -> dict[float, int]:
    """The place of each weight; equal ones share the first of theirs."""
    places: dict[float, int] = {}
    for place, pair in enumerate(ranked, start=1):
        places.setdefault(pair.weight, place)
    return places


def _parsed(text: str) -> ast.Module | None:
    if MAX_TEXT < len(text) <= MAX_READ:
        text = without_comments(text)
    return parse(text) if len(text) <= MAX_TEXT else None


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the text gives to something of its own; all others belong to the library and to Python."""
    return {name for node in nodes if isinstance(node, _BINDING) and (name := bound_by(node))}


@dataclass(slots=True)
class _Part:
    """A node of the simplified tree; `key` is equal for subtrees that differ in names alone."""

    label: str
    name: str
    children: list[_Part]
    key: int


def _simplified(nodes: Sequence[ast.AST], bound: Collection[str]) -> _Part:
    """The tree without what authors choose freely, built from the leaves: a deep one needs no deep stack."""
    made: dict[int, _Part] = {}
    for node in reversed(nodes):  # parents stand before their children
        rule = _part if type(node) in _OWN_RULE else _any_part
        made[id(node)] = rule(node, bound, made)
    return made[id(nodes[0])]


def _part(node: ast.AST, bound: Collection[str], made: Mapping[int, _Part]) -> _Part:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) if name in bound:
            return _leaf("name", name)
        case ast.Name(id=name):
            return _leaf(f"global {name}")
        case ast.Constant(value=value):
            return _leaf(f"constant {_short(value)}")
        case ast.AugAssign(target=target, op=op, value=value):  # x += y is x = x + y
            kept = made[id(target)]
            return _made("Assign", [kept, _operation(op, [kept, made[id(value)]])])
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return _made("Assign", [made[id(target)], made[id(value)]])
        case ast.BinOp(left=left, op=op, right=right):
            return _operation(op, [made[id(left)], made[id(right)]])
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _SWAPPED:  # x > y is y < x
            return _made(f"Compare {_SWAPPED[type(op)].__name__}", [made[id(right)], made[id(left)]])
    return _any_part(node, bound, made)


def _any_part(node: ast.AST, bound: Collection[str], made: Mapping[int, _Part]) -> _Part:
    """A part without a rule of its own: the children of a node that say something, after the words that stand in it."""
    children: list[_Part] = []
    texts = [type(node).__name__]
    for field in _said(type(node)):  # type: ignore[arg-type]
        value = getattr(node, field, None)
        if value is None:
            continue
        for each in value if isinstance(value, list) else (value,):
            if id(each) in made:
                children.append(made[id(each)])
            elif isinstance(each, _WORDS):
                texts.append(type(each).__name__)
            elif field in ("attr", "arg") and isinstance(each, str):
                texts.append(each)
    return _made(" ".join(texts), children)


@functools.lru_cache(10_000)
def _leaf(label: str, name: str = "") -> _Part:
    """A part without children, which answers share: half of their parts are such, and most of those are alike."""
    return _made(label, [], name)


def _made(label: str, children: list[_Part], name: str = "") -> _Part:
    code = " ".join([label, *[str(child.key) for child in children]])
    return _Part(label, name, children, zlib.crc32(code.encode("utf-8", "replace")))


def _operation(op: ast.operator, operands: list[_Part]) -> _Part:
    if isinstance(op, _COMMUTATIVE):
        operands = sorted(operands, key=lambda operand: operand.key)
    return _made(f"BinOp {type(op).__name__}", operands)


def _short(value: object) -> str:
    if isinstance(value, str | bytes):
        return repr(value[:80])
    # An int of more digits than Python writes is a large one, and that will do.
    return repr(value) if not isinstance(value, int) or value.bit_length() < 256 else "a large number"


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings and other lone texts, `pass`, imports, and declarations without a value."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass | ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.AnnAssign) and node.value is None
    )
