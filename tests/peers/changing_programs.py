"""Random programs of views and changes in place, which begin with constants and receive recorded values later.

Views are taken before a change and read after it. PyTorch runs each line while a program is drawn, and a line that it
refuses is left out.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytorch import torch

__all__ = ["Outcome", "draw", "outcome", "run"]

STEPS = 14
SHAPES = ((2, 3), (3, 2), (3,), (2, 2), (1, 3))

BEGINNINGS = (
    "m.zeros({}, dtype=m.float64)",
    "m.ones({}, dtype=m.float64)",
    "m.full(({},), 0.5, dtype=m.float64)",
    "m.arange({size}.0, dtype=m.float64).view({}) * 0.25",
    "m.arange({size}.0, dtype=m.float64).view({})",
    "m.zeros({}, dtype=m.float64).T",
)

VIEWS = {  # by the least number of axes
    0: ("{}.detach()", "{}.view(-1)", "{}.unsqueeze(0)", "{}.expand(2, *{}.shape)", "{}.reshape(-1)", "{}.flatten()"),
    1: (
        "{}[0]",
        "{}[-1]",
        "{}[1:]",
        "{}[:2]",
        "{}[::2]",
        "{}[None]",
        "{}.select(0, 0)",
        "{}.unbind(0)[-1]",
        "{}[...]",
        "{}.split(1)[0]",
        "{}.chunk(2)[0]",
        "{}.narrow(0, 0, 1)",
        "{}.squeeze()",
        "{}.unsqueeze(-1)",
        "{}.squeeze(0)",
    ),
    2: (
        "{}[:, 0]",
        "{}[:, 1:]",
        "{}[1, :]",
        "{}.T",
        "{}.mT",
        "{}.permute(1, 0)",
        "{}.transpose(0, 1)",
        "{}[0, 1]",
        "{}.unbind(1)[0]",
        "{}.split(1, 1)[-1]",
        "{}.chunk(2, 1)[0]",
        "{}.narrow(1, 0, 1)",
        "{}.select(1, -1)",
        "{}.flatten(0, 1)",
        "{}.swapaxes(0, 1)",
        "{}.view_as({})",
        "{}.expand_as({})",
    ),
}

CHANGES = (
    "{}.add_({})",
    "{}.sub_({})",
    "{}.mul_({})",
    "{}.copy_({})",
    "{}[...] = {}",
    "{} += {}",
    "{} *= {}",
    "{} -= {}",
    "{}[0] = {}",
    "{}[0] += {}",
    "{}[-1] *= {}",
    "{}[:, 0] = {}",
    "{}[:, 1] += {}",
    "{}[1:] = {}",
    "{}[:, :2] *= {}",
    "{}[{} > 0.5] = 0.25",
    "{}.fill_({}.sum())",
    "{}[0].add_({})",
    "{}[:, 0].mul_({})",
    "{}.T.add_({})",
    "{}[m.tensor([0, 1])] = {}",
    "{}.div_({} * {} + 1.0)",
    "{} %= {} * {} + 1.0",
    "{}.view(-1).mul_({})",
    "{}.detach().add_({}.detach())",
)

ALONE = (
    "{}.zero_()",
    "{}.fill_(0.5)",
    "{}.mul_(2.0)",
    "{}.add_(1.0)",
    "{}.relu_()",
    "{}.tanh_()",
    "{}[0] = 3.0",
    "{}.clamp_(-1.0, 1.0)",
    "{}.neg_()",
    "{}.square_()",
    "{} %= 0.75",
    "{}[0] %= 0.75",
    "{}.masked_fill_({} > 1.0, 0.5)",
)

RESULTS = (
    "{} * {}",
    "{} + {}",
    "{} - {} * 0.5",
    "{} * 2.0",
    "{}.tanh()",
    "m.relu({})",
    "{}.sum(0)",
    "m.sin({})",
    "{} / 2.0",
    "{} @ {}",
    "m.where({} > 0.5, {}, 0.0)",
    "m.stack([{}, {}])",
    "{}.clone()",
    "{}.mean()",
)


def draw(seed: int) -> tuple[str, ...]:
    """Return the lines of a seed's program."""
    rng = random.Random(seed)
    lines: list[str] = []
    names: dict[str, Any] = {"m": torch}
    while len(lines) < rng.randint(2, 3):
        shape = rng.choice(SHAPES)
        sizes = ", ".join(map(str, shape))
        code = rng.choice(BEGINNINGS).format(sizes, size=int(np.prod(shape)))
        _tried(f"v{len(lines)} = {code}", names, lines)
    for k in range(2):
        shape = rng.choice(((), (3,), (2, 3)))
        values = np.round(np.random.default_rng([seed, k]).uniform(-1.5, 1.5, shape), 2).tolist()
        _tried(f"p{k} = m.tensor({values}, dtype=m.float64, requires_grad=True)", names, lines)
    attempts = 0
    while len(lines) < 5 + STEPS and (attempts := attempts + 1) < 200:
        _tried(_line(rng, names, f"v{len(lines)}"), names, lines)
    return tuple(lines)


def _tried(line: str, names: dict[str, Any], lines: list[str]) -> None:
    """Add a line, unless PyTorch refuses it, or values grow."""
    try:
        exec(line, names)
    except (RuntimeError, IndexError, TypeError, ValueError):
        names.clear()  # `x[0] += y` may have changed x before it was refused
        names["m"] = torch
        exec("\n".join(lines), names)
        return
    if line != "pass":
        lines.append(line)


def _line(rng: random.Random, names: dict[str, Any], new: str) -> str:
    """Return a line that may fit."""
    values = [name for name in names if name[0] in "vp" and names[name].numel() <= 24 and names[name].dim() < 5]
    late = values[-4:] if rng.random() < 0.4 else values
    x, y = rng.choice(late), rng.choice(values)
    kind = rng.random()
    if kind < 0.4:
        forms = [form for rank, some in VIEWS.items() if rank <= names[x].dim() for form in some]
        if not names[x].is_contiguous():  # these are copies in PyTorch, as its clones keep strides
            forms = [form for form in forms if "flatten" not in form and "reshape" not in form]
        return f"{new} = {_filled(rng.choice(forms), x, x)}"
    if kind < 0.65:
        y = rng.choice([*values, "p0", "p1"]) if rng.random() < 0.6 else y
        if _same_memory(names[x], names[y]) and x != y:  # PyTorch reads while it writes
            return "pass"
        return _filled(rng.choice(CHANGES), x, y)
    if kind < 0.75:
        line = _filled(rng.choice(ALONE), x, x)
        return f"with m.no_grad(): {line}" if rng.random() < 0.2 else line
    return f"{new} = {_filled(rng.choice(RESULTS), x, y)}"


def _same_memory(x: Any, y: Any) -> bool:
    return bool(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr())


def _filled(form: str, *names: str) -> str:
    order = [names[0], *[names[-1]] * 3]
    return form.format(*order)


@dataclass(frozen=True)
class Outcome:
    """What became of a program.

    Attributes:
        kind: "agree", "wrong", "refused here", "refused there" or "both refuse".
        text: The difference, or the sentence of the refusal.
    """

    kind: str
    text: str = ""


def run(lines: tuple[str, ...], m: Any) -> dict[str, Any]:
    """Return the last values of a program, whether they require gradients, and the gradients of its leaves."""
    names: dict[str, Any] = {"m": m}
    for line in lines:
        exec(line, names)
    values = {name: x for name, x in names.items() if name[0] in "vp"}
    found: dict[str, Any] = {name: np.array(x.detach().clone().numpy()) for name, x in values.items()}
    found |= {f"{name}.requires_grad": np.array(bool(x.requires_grad)) for name, x in values.items()}
    total = None
    for k, x in enumerate(values.values()):
        if x.requires_grad:
            weights = m.tensor(np.asarray(np.random.default_rng(k).uniform(0.5, 2.0, tuple(x.shape))))
            term = (x * weights).sum()
            total = term if total is None else total + term
    if total is not None:
        total.backward()
    for name, x in values.items():
        if name[0] == "p":
            none = np.zeros(tuple(x.shape))
            found[f"{name}.grad"] = none if x.grad is None else np.array(x.grad.detach().clone().numpy())
    return found


def outcome(lines: tuple[str, ...], m: Any, reference: Any = torch) -> Outcome:
    """Return how a library and PyTorch compare on a program."""
    wanted, given = _answer(lines, reference), _answer(lines, m)
    if isinstance(given, str) or isinstance(wanted, str):
        if isinstance(given, str) and isinstance(wanted, str):
            return Outcome("both refuse", given)
        return Outcome("refused here", given) if isinstance(given, str) else Outcome("refused there", str(wanted))
    if wanted.keys() != given.keys():
        return Outcome("wrong", f"leaves: {sorted(wanted.keys() ^ given.keys())}")
    for name, value in wanted.items():
        if not np.allclose(value, given[name], rtol=1e-6, atol=1e-9, equal_nan=True):
            return Outcome("wrong", f"{name} is {given[name].tolist()}, not {value.tolist()}")
    return Outcome("agree")


def _answer(lines: tuple[str, ...], m: Any) -> Any:
    """Return what a program computes, or the sentence of a refusal without its numbers."""
    try:
        with np.errstate(all="ignore"):
            return run(lines, m)
    except (RuntimeError, ValueError) as error:  # GraphError too; any other error is a fault
        return re.sub(r"\(.*?\)|\d+", "", str(error))
