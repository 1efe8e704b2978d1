"""A picture of the three kinds of tensors, and of what makes one kind of another.

draw.kinds_of_tensors()    # constant, parameter, result, with the calls that lead from one to the other
"""

from __future__ import annotations

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

_KINDS = (
    ("constant", "cell", "no", "yes", "None"),
    ("parameter", "used", "yes", "yes", "None"),
    ("result", "mark", "yes", "no", "an operation"),
)
_QUESTIONS = "requires_grad", "is_leaf", "grad_fn"
_WIDE = max(len(each) for each in _QUESTIONS) * CHARACTER + len("an operation") * CHARACTER + 30.0
_HIGH = 4 * LINE + 14.0
_BETWEEN = len("requires_grad_()") * SMALL + 24.0


def kinds_of_tensors() -> Drawing:
    """Draw the three kinds of tensors with their flags, and the calls that lead from one kind to another.

    >>> print(minigrad.draw.kinds_of_tensors())
    Three kinds of tensors: constant: requires_grad no, is_leaf yes, grad_fn None. parameter: requires_grad
    yes, is_leaf yes, grad_fn None. result: requires_grad yes, is_leaf no, grad_fn an operation. From
    constant to parameter: requires_grad_(). From parameter to result: an operation. From result to
    constant: detach().
    """
    top = MARGIN
    lefts = [MARGIN + place * (_WIDE + _BETWEEN) for place in range(len(_KINDS))]
    parts, told = [], []
    for left, (name, kind, *answers) in zip(lefts, _KINDS, strict=True):
        parts += [box(left, top, _WIDE, _HIGH, kind), text(left + _WIDE / 2, top + LINE, name, "bold")]
        for line, (question, answer) in enumerate(zip(_QUESTIONS, answers, strict=True), start=2):
            parts.append(text(left + 10.0, top + line * LINE, question, "text", "start"))
            parts.append(text(left + _WIDE - 10.0, top + line * LINE, answer, "bold", "end"))
        said = ", ".join(f"{question} {answer}" for question, answer in zip(_QUESTIONS, answers, strict=True))
        told.append(f"{name}: {said}.")
    middle, below = top + _HIGH / 2, top + _HIGH + 1.5 * LINE
    for start, words in ((lefts[0], "requires_grad_()"), (lefts[1], "an operation")):
        parts.append(arrow(start + _WIDE + 4.0, middle, start + _WIDE + _BETWEEN - 4.0, middle))
        parts.append(text(start + _WIDE + _BETWEEN / 2, middle - 8.0, words, "small"))
    first, last = lefts[0] + _WIDE / 2, lefts[2] + _WIDE / 2
    parts.append(f'<path class="mp-way" d="M{last:.1f} {top + _HIGH + 4:.1f}V{below:.1f}H{first:.1f}"/>')
    parts.append(arrow(first, below, first, top + _HIGH + 4.0))
    parts.append(text((first + last) / 2, below - 6.0, "detach()", "small"))
    told.append("From constant to parameter: requires_grad_(). From parameter to result: an operation.")
    told.append("From result to constant: detach().")
    return Drawing(lefts[2] + _WIDE + MARGIN, below + MARGIN, "Three kinds of tensors", " ".join(told), parts)
