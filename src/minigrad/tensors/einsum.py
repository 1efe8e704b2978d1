"""einsum: sums of products of tensors whose axes have letters, by permute, reshape and matmul."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

Labels = tuple[str, ...]
"""The letters of a tensor's axes. An axis that ... stands for is called by its number from the last one: "1", "2"."""


def einsum(equation: str, *operands: Any) -> Tensor:
    """Return sums of products of tensors whose axes are named by letters: ``"ij,jk->ik"`` is the matrix product.

    An axis whose letter is missing behind the arrow is summed over; a letter that a tensor has twice takes its
    diagonal; ``...`` stands for axes that broadcast. Without an arrow the result has the axes of ``...``, and then the
    letters that occur once, in the order of the alphabet.

    Args:
        equation: The letters of each tensor's axes, separated by commas, and behind ``->`` those of the result.
        *operands: The tensors, or one list of them. They are multiplied from left to right.

    Returns:
        A tensor with an axis for each letter of the result.

    Raises:
        TypeError: If an operand is no tensor.
        ValueError: If equation and tensors do not fit together.

    >>> a, b = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]), minigrad.tensor([1.0, 10.0])
    >>> minigrad.einsum("ij,j->i", a, b)
    tensor([21., 43.])
    >>> minigrad.einsum("ii", a)
    tensor(5.)
    >>> minigrad.einsum("...ij->...ji", a)
    tensor([[1., 3.],
            [2., 4.]])
    """
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], list | tuple) else list(operands)
    inputs, output = _parsed(equation, tensors)
    pairs = [_diagonals(x, labels) for x, labels in zip(tensors, inputs, strict=True)]
    sizes = _sizes(equation, pairs)
    result, labels = pairs[0]
    for number, (x, own) in enumerate(pairs[1:], 2):
        later = {*output, *(label for _, rest in pairs[number:] for label in rest)}
        result, labels = _product(result, labels, x, own, later, sizes)
    result, labels = _summed(result, labels, set(output))
    return cast("Tensor", result.permute(*[labels.index(label) for label in output]))


def _parsed(equation: str, tensors: Sequence[Any]) -> tuple[list[Labels], Labels]:
    """Return the labels of each tensor, and those of the result."""
    for x in tensors:
        if not hasattr(x, "chain_rule"):
            raise TypeError(f"einsum: an operand is a tensor, not {type(x).__name__}")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise ValueError(f"einsum: {equation!r} names {len(terms)} tensors, and {len(tensors)} are given")
    inputs = [_labels(equation, term, x.ndim) for term, x in zip(terms, tensors, strict=True)]
    all_labels = [label for labels in inputs for label in labels]
    dots = sorted({label for label in all_labels if label.isdigit()}, key=int, reverse=True)
    if not arrow:
        once = sorted(label for label in set(all_labels) if label.isalpha() and all_labels.count(label) == 1)
        return inputs, (*dots, *once)
    output = _labels(equation, right, len(right.replace("...", "")) + len(dots) * ("..." in right))
    missing = [label for label in output if label not in all_labels]
    if missing or len(set(output)) < len(output):
        raise ValueError(
            f"einsum: {equation!r}: behind -> a letter stands once, and is one that stands before it: "
            f"{', '.join(missing or [label for label in output if output.count(label) > 1])}"
        )
    return inputs, output


def _labels(equation: str, term: str, ndim: int) -> Labels:
    before, dots, behind = term.partition("...")
    letters = before + behind
    wrong = [letter for letter in letters if letter not in string.ascii_letters]
    if wrong:
        raise ValueError(f"einsum: {equation!r}: {wrong[0]!r} is no letter from a to z or A to Z, and no ...")
    free = ndim - len(letters)
    if free < 0 or (free and not dots):
        raise ValueError(f"einsum: {equation!r}: {term!r} names {len(letters)} axes of a tensor that has {ndim}")
    return (*before, *map(str, range(free, 0, -1)), *behind)


def _diagonals(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """Return a tensor in which each label stands once: of two axes with one label it has the diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if x.shape[first] != x.shape[second]:
                raise ValueError(f"einsum: two axes are called {label!r}, and have sizes in {x.shape} that differ")
            rest = [axis for axis in range(len(labels)) if axis not in (first, second)]
            places = np.arange(x.shape[first])
            x = x.permute(first, second, *rest)[places, places]
            labels = (label, *[labels[axis] for axis in rest])
    return x, labels


def _sizes(equation: str, pairs: Sequence[tuple[Any, Labels]]) -> dict[str, int]:
    """Return the size of each label; an axis of size 1 broadcasts."""
    sizes: dict[str, int] = {}
    for x, labels in pairs:
        for label, n in zip(labels, x.shape, strict=True):
            known = sizes.get(label, 1)
            if 1 not in (n, known) and n != known:
                name = "an axis of ..." if label.isdigit() else repr(label)
                raise ValueError(f"einsum: {equation!r}: {name} has sizes {known} and {n}; they must match")
            sizes[label] = n if known == 1 else known
    return sizes


def _summed(x: Any, labels: Labels, wanted: set[str]) -> tuple[Any, Labels]:
    """Sum over the axes that nobody wants."""
    axes = tuple(axis for axis, label in enumerate(labels) if label not in wanted)
    return (x.sum(axes), tuple(label for label in labels if label in wanted)) if axes else (x, labels)


def _product(
    a: Any, labels_a: Labels, b: Any, labels_b: Labels, later: set[str], sizes: dict[str, int]
) -> tuple[Any, Labels]:
    """Multiply two tensors, and sum over the axes of both that nobody needs later."""
    a, labels_a = _summed(a, labels_a, later | {*labels_b})
    b, labels_b = _summed(b, labels_b, later | {*labels_a})
    both = [label for label in labels_a if label in labels_b]
    batch, inner = [each for each in both if each in later], [each for each in both if each not in later]
    rows, columns = [each for each in labels_a if each not in both], [each for each in labels_b if each not in both]

    def arranged(x: Any, labels: Labels, *groups: list[str]) -> Any:
        """Return the axes in the order of groups, those of batch on their own and each further group as one axis."""
        order = [label for group in groups for label in group]
        wide = x.permute(*map(labels.index, order))
        if both:
            wide = wide.expand(*[sizes[label] if label in both else -1 for label in order])
        lengths = [math.prod(wide.shape[order.index(label)] for label in group) for group in groups[1:]]
        return wide.reshape(*wide.shape[: len(batch)], *lengths)

    left, right = arranged(a, labels_a, batch, rows, inner), arranged(b, labels_b, batch, inner, columns)
    whole = left @ right if inner else left * right
    names = {**dict(zip(labels_a, a.shape, strict=True)), **dict(zip(labels_b, b.shape, strict=True))}
    out = [sizes[label] for label in batch] + [names[label] for label in rows + columns]
    return whole.reshape(*out), (*batch, *rows, *columns)
