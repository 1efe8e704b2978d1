"""The rules of PyTorch's flags agree with this library's tensors, and with PyTorch's."""

import random

import pytest
from pytorch import torch

import minigrad
from minigrad.errors import GraphError
from minigrad.flags import (
    CONSTANT,
    PARAMETER,
    RESULT,
    Flags,
    flags_after_change,
    flags_after_requires_grad_,
    flags_of,
    flags_of_result,
    gets_grad,
)

LIBRARIES = pytest.mark.parametrize("library", [minigrad, torch], ids=["minigrad", "torch"])


def change_once(library, chance, tensors, rules):
    """Make or change one tensor in both ways, and return whether both refused."""
    i, j, recording = chance.randrange(len(tensors)), chance.randrange(len(tensors)), chance.random() < 0.7
    value = chance.random() < 0.5
    step = chance.choice(["add", "compare", "detach", "add_", "copy", "requires_grad_"])
    x, y = tensors[i], tensors[j]
    made, refused = None, [False, False]
    with library.enable_grad() if recording else library.no_grad():
        try:
            if step == "add":
                made = x + y
            elif step == "compare":
                made = x > y
            elif step == "detach":
                made = x.detach().clone()  # with memory of its own
            elif step == "copy":
                made = x.clone()
            elif step == "add_" and i != j:
                x.add_(y)
            elif step == "requires_grad_" and x.dtype == library.float32:
                x.requires_grad_(value)
        except RuntimeError:
            refused[0] = True
    rule = None
    try:
        if step in ("add", "compare"):
            rule = flags_of_result([rules[i], rules[j]], recording, floating=step == "add")
        elif step == "detach":
            rule = CONSTANT
        elif step == "copy":
            rule = flags_of_result([rules[i]], recording)
        elif step == "add_" and i != j:
            rules[i] = flags_after_change(rules[i], [rules[j]], recording)
        elif step == "requires_grad_" and x.dtype == library.float32:
            rules[i] = flags_after_requires_grad_(rules[i], value)
    except GraphError:
        refused[1] = True
    if made is not None and step != "compare":
        tensors.append(made)
        rules.append(rule)
    elif made is not None:
        assert flags_of(made) == rule
    return refused


@LIBRARIES
@pytest.mark.parametrize("seed", range(20))
def test_flags_of_random_programs(library, seed):
    """After every step of a random program each tensor has the flags that the rules say."""
    chance = random.Random(seed)
    tensors = [library.ones(2), library.ones(2, requires_grad=True)]
    rules = [CONSTANT, PARAMETER]
    refusals, seen = 0, set()
    for _ in range(120):
        refused = change_once(library, chance, tensors, rules)
        assert refused[0] == refused[1]
        refusals += refused[0]
        seen.update(rules)
        assert [flags_of(x) for x in tensors] == rules
    assert refusals > 0
    assert seen == {CONSTANT, PARAMETER, RESULT}


@LIBRARIES
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize("retained", [False, True])
def test_what_keeps_a_gradient(library, retained):
    """After a backward pass there is a gradient where the rule says so."""
    constant, parameter = library.ones(2), library.ones(2, requires_grad=True)
    result = constant * parameter
    if retained:
        result.retain_grad()
    (result * constant).sum().backward()
    for x, kept in ((constant, False), (parameter, retained), (result, retained)):
        assert (x.grad is not None) == gets_grad(flags_of(x), kept)


def test_only_three_combinations_occur():
    """No rule answers with a combination of flags that no tensor has."""
    kinds = (CONSTANT, PARAMETER, RESULT)
    seen = {flags_of_result([x, y], r, f) for x in kinds for y in kinds for r in (0, 1) for f in (0, 1)}
    seen |= {flags_after_change(x, [y], r) for x in kinds for y in kinds for r in (0, 1) if (x, r) != (PARAMETER, 1)}
    seen |= {flags_after_requires_grad_(x, True) for x in kinds}
    assert seen == set(kinds)
    assert Flags(False, False, False) not in kinds
