"""Answers of a class that are more alike than the task explains.

Each answer becomes its syntax tree without what two authors choose freely: names are numbered in the order of their
appearance, docstrings, comments, annotations and imports are dropped, operands that may be swapped are sorted. The
tree is read as a sequence, and of each stretch of it one fingerprint is kept, by winnowing.

A likeness is worth a look only where few share it. Text that the task gives out counts for nothing, nor does text of
the reference, of other answers known in advance, or of much of the class. The rest counts the more the fewer have it.
So a short exercise, for which most of a class must write the same line, has no pairs at all.

Nothing here says how a likeness came about.

Source: S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003.
"""

from __future__ import annotations

import ast
import io
import itertools
import math
import re
import tokenize
import warnings
import zlib
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.common.python_text import bound_by

__all__ = ["Pair", "fingerprints", "normalised", "pairs", "same_text", "uncompared"]

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

FEWEST = 5
"""A class of fewer answers says nothing of what is usual."""

RARE = 0.02
"""A share of the class above which a likeness is a manner of writing; three may share anything and be unusual."""

LEAST_ALIKE = 0.6
"""Share of what tells two answers apart that a pair has in common at least."""

LEAST_WEIGHT = 25.0
"""Bits that a pair's common features weigh at least: five features that one pair in 300 answers has are 36."""

_ESCAPE = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_WORDS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_DROPPED = frozenset({"annotation", "returns", "type_comment", "ctx", "kind", "type_params"})


@dataclass(frozen=True)
class Pair:
    """Two answers to one exercise that are unusually alike.

    Attributes:
        one: The first author, in the order of names.
        other: The second.
        alike: Share of the two answers' telling features that both have, 0 to 1.
        features: How many features they share that few others have.
        having: In how many of the compared answers such a feature is found on average, theirs among them.
        weight: The weight of the shared features together, in bits; features overlap, so it is no probability.
        answers: How many answers were compared.
        rank: The place of this pair among all pairs of the class, 1 for the most weight.
    """

    one: str
    other: str
    alike: float
    features: int
    having: float
    weight: float
    answers: int
    rank: int

    @property
    def pairs(self) -> int:
        """The number of pairs in the class."""
        return self.answers * (self.answers - 1) // 2


def normalised(text: str) -> list[str] | None:
    """The parts of an answer's tree in order, without names, comments, docstrings, annotations and imports.

    Returns:
        The parts, or None for a text that is not Python, or too long to compare.
    """
    tree = _parsed(text)
    if tree is None:
        return None
    nodes = list(itertools.islice(_telling(tree), MAX_NODES + 1))
    if len(nodes) > MAX_NODES:
        return None
    bound = _bound_names(ast.walk(tree))
    root = _simplified(nodes, bound)
    parts = [root.label]
    for statement in root.children:  # numbered anew, so that one put before the others does not change them all
        parts += _sequence(statement)
    return parts


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


def _telling(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, parents first, without statements that say nothing and what stands in them."""
    waiting = deque([tree])
    while waiting:
        node = waiting.popleft()
        waiting.extend(child for child in ast.iter_child_nodes(node) if not _says_nothing(child))
        yield node


def uncompared(answers: Mapping[str, str]) -> list[str]:
    """The students whose answer cannot be compared although it is Python: it has too many parts."""
    return [student for student, text in sorted(answers.items()) if _is_too_long(text)]


def _is_too_long(text: str) -> bool:
    tree = _parsed(text)
    if tree is None:
        return len(text) > MAX_TEXT
    return sum(1 for _ in itertools.islice(_telling(tree), MAX_NODES + 1)) > MAX_NODES


def fingerprints(parts: Sequence[str]) -> frozenset[int]:
    """The fingerprints of a sequence: the smallest of each window of hashed stretches."""
    hashes = _hashes(parts)
    starts = range(max(1, len(hashes) - WINDOW + 1))
    return frozenset(min(hashes[start : start + WINDOW]) for start in starts if hashes)


def _hashes(parts: Sequence[str]) -> list[int]:
    """A number for each stretch of a sequence; the same on every day and every machine."""
    coded = [zlib.crc32(part.encode("utf-8", "replace")).to_bytes(4, "big") for part in parts]
    joined = b"".join(coded)
    return [zlib.crc32(joined[4 * i : 4 * (i + GRAM)]) for i in range(len(coded) - GRAM + 1)]


def same_text(one: str, other: str) -> bool:
    """Return whether two answers are the same to the letter, white space aside: names and comments as well."""
    return one.split() == other.split()


def pairs(answers: Mapping[str, str], known: Iterable[str] = ()) -> list[Pair]:
    """The pairs of a class whose answers to one exercise are unusually alike, the most unusual first.

    Args:
        answers: The text of each student's solution cell, by student; without those that nobody has worked on.
        known: The text that two students may well share: the stub, the reference, variants of it and known mistakes.
    """
    usual = _all_features(known)
    features = {student: own - usual for student, text in answers.items() if (own := _features(text)) is not None}
    if len(features) < FEWEST:
        return []
    holders: dict[int, list[str]] = {}
    for student in sorted(features):
        for feature in features[student]:
            holders.setdefault(feature, []).append(student)
    weights = {feature: math.log2(len(features) / len(who)) for feature, who in holders.items()}
    most = max(3, int(RARE * len(features)))
    shared: Counter[tuple[str, str]] = Counter()
    for who in holders.values():
        if 1 < len(who) <= most:
            shared.update(itertools.combinations(who, 2))
    found = [_pair(one, other, features, weights, holders, most) for one, other in shared]
    ranked = sorted(found, key=lambda pair: (-pair.weight, pair.one, pair.other))
    places = _places(ranked)
    worth = (pair for pair in ranked if pair.weight >= LEAST_WEIGHT and pair.alike >= LEAST_ALIKE)
    return [replace(pair, rank=places[pair.weight]) for pair in worth]


def _pair(
    one: str,
    other: str,
    features: Mapping[str, frozenset[int]],
    weights: Mapping[int, float],
    holders: Mapping[int, Collection[str]],
    most: int,
) -> Pair:
    """A pair before its rank is known."""
    common = sorted(features[one] & features[other])
    rare = [feature for feature in common if len(holders[feature]) <= most]
    # Summed in one order, so that the last digit of a sum does not depend on the day.
    everything = sum(weights[feature] for feature in sorted(features[one] | features[other]))
    weight = sum(weights[feature] for feature in rare)
    alike = sum(weights[feature] for feature in common) / everything if everything else 0.0
    having = sum(len(holders[feature]) for feature in rare) / len(rare)
    return Pair(one, other, alike, len(rare), having, weight, len(features), 0)


def _places(ranked: Sequence[Pair]) -> dict[float, int]:
    """The place of each weight; equal ones share the first of theirs."""
    places: dict[float, int] = {}
    for place, pair in enumerate(ranked, start=1):
        places.setdefault(pair.weight, place)
    return places


def _features(text: str) -> frozenset[int] | None:
    parts = normalised(text)
    return None if parts is None else fingerprints(parts)


def _all_features(texts: Iterable[str]) -> frozenset[int]:
    """Every stretch of some texts: which of them a window keeps depends on what stands beside it."""
    return frozenset().union(*(_hashes(normalised(text) or ()) for text in texts))


def _parsed(text: str) -> ast.Module | None:
    if len(text) > MAX_TEXT:
        text = _without_comments(text)
    if len(text) > MAX_TEXT:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attempt in (text, _ESCAPE.sub(r"\1pass", text)):
            try:
                return ast.parse(attempt)
            # Hostile nesting ends in one of the last two.
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def _without_comments(text: str) -> str:
    """The text of Python without its comments; as it is, if it is none or longer than anything that is read."""
    if len(text) > MAX_READ:
        return text
    lines = text.splitlines(keepends=True)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column] + "\n"
    except (tokenize.TokenError, SyntaxError, IndexError):
        return text
    return "".join(lines)


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the text gives to something of its own; all others belong to the library and to Python."""
    return {name for node in nodes if not isinstance(node, ast.alias) and (name := bound_by(node))}


@dataclass
class _Part:
    """A node of the simplified tree; `key` is equal for subtrees that differ in names alone."""

    label: str
    name: str
    children: list[_Part]
    key: int


def _simplified(nodes: Sequence[ast.AST], bound: Collection[str]) -> _Part:
    """The tree without what authors choose freely, built from the leaves: a deep one needs no deep stack."""
    made: dict[int, _Part] = {}
    for node in reversed(nodes):  # ast.walk gives parents before their children
        if not isinstance(node, _WORDS):
            made[id(node)] = _part(node, bound, made)
    return made[id(nodes[0])]


def _part(node: ast.AST, bound: Collection[str], made: Mapping[int, _Part]) -> _Part:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) if name in bound:
            return _made("name", [], name)
        case ast.Name(id=name):
            return _made(f"global {name}", [])
        case ast.Constant(value=value):
            return _made(f"constant {_short(value)}", [])
        case ast.AugAssign(target=target, op=op, value=value):  # x += y is x = x + y
            kept = made[id(target)]
            return _made("Assign", [kept, _operation(op, [kept, made[id(value)]])])
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return _made("Assign", [made[id(target)], made[id(value)]])
        case ast.BinOp(left=left, op=op, right=right):
            return _operation(op, [made[id(left)], made[id(right)]])
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _SWAPPED:  # x > y is y < x
            return _made(f"Compare {_SWAPPED[type(op)].__name__}", [made[id(right)], made[id(left)]])
    children, texts = _contents(node, made)
    return _made(" ".join([type(node).__name__, *texts]), children)


def _made(label: str, children: list[_Part], name: str = "") -> _Part:
    code = " ".join([label, *(str(child.key) for child in children)])
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


def _contents(node: ast.AST, made: Mapping[int, _Part]) -> tuple[list[_Part], list[str]]:
    """The children of a node that say something, and the words that stand in the node itself."""
    children: list[_Part] = []
    texts: list[str] = []
    for field, value in ast.iter_fields(node):
        if field in _DROPPED:
            continue
        if isinstance(value, _WORDS):
            texts.append(type(value).__name__)
        elif isinstance(value, ast.AST):
            children.append(made[id(value)])
        elif isinstance(value, list):
            said = [each for each in value if isinstance(each, ast.AST) and not _says_nothing(each)]
            texts += [type(each).__name__ for each in said if isinstance(each, ast.cmpop)]
            children += [made[id(each)] for each in said if not isinstance(each, ast.cmpop)]
        elif field in ("attr", "arg") and isinstance(value, str):
            texts.append(value)
    return children, texts


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings and other lone texts, `pass`, imports, and declarations without a value."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass | ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.AnnAssign) and node.value is None
    )
