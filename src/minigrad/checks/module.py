"""Visible tests of the tree of modules."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.runner import visible
from minigrad.module import Module, Parameter

SECTION = "00 'A tree of modules'"

NAMES = ("bias", "layer.weight", "layer.part.scale")
VALUES = (1.0, 2.0, 3.0)
ITEMS = "self._parameters.items() has each name with its parameter"


# The student's methods stand in the library's own class while these tests run, and are looked at there.


def _tree() -> tuple[Module, Module, Module]:
    """Return a module, its child ``layer`` and its grandchild ``layer.part``, each with a parameter."""
    root, child, grandchild = Module(), Module(), Module()
    root.bias = Parameter(1.0)
    child.weight = Parameter(2.0)
    grandchild.scale = Parameter(3.0)
    child.part = grandchild
    root.layer = child
    return root, child, grandchild


@visible("module.Module", SECTION)
def modes_reach_everything(student: SimpleNamespace) -> None:
    """Eval and train reach the module, its children and their children."""
    nodes = _tree()
    for wanted, change in ((False, nodes[0].eval), (True, nodes[0].train)):
        change()
        when = {
            (wanted, not wanted, not wanted): "its children are not reached: each of self.modules() is to do the same",
            (
                wanted,
                wanted,
                not wanted,
            ): "one level is reached: call the child's own method, which calls its children's",
            (not wanted, wanted, wanted): "the module itself is not reached: set self.training too",
        }
        hint = "set the module's own mode, then call the same method of each child"
        expect([node.training for node in nodes], [wanted] * 3, hint=hint, when=when)


@visible("module.Module", SECTION)
def own_names(student: SimpleNamespace) -> None:
    """A module without children lists its own parameters under their names."""
    leaf = Module()
    leaf.a = Parameter(1.0)
    leaf.b = Parameter(2.0)
    when = {
        ("a", "b"): "these are the names alone: pairs of name and parameter are wanted",
        ((None, 1.0), (None, 2.0)): "a Parameter's own name is for printing, and may be None: " + ITEMS,
    }
    expect(_shown(leaf.named_parameters()), [("a", 1.0), ("b", 2.0)], hint=f"a list of pairs; {ITEMS}", when=when)


@visible("module.Module", SECTION)
def names_are_paths(student: SimpleNamespace) -> None:
    """A descendant's parameter is listed under its path, after the module's own."""
    named = _shown(_tree()[0].named_parameters())
    is_listed = isinstance(named, list | tuple)
    seen = [pair[0] if isinstance(pair, tuple) and pair else pair for pair in named] if is_listed else named
    prefix = "put the child's name and a dot before each of the names that the child gives"
    when: dict[tuple[str | None, ...], str] = {
        **dict.fromkeys(itertools.permutations(NAMES), "own parameters first, then child by child"),
        ("bias", "weight", "scale"): prefix,
        ("bias", "layer.weight", "layer.scale"): "the last one hangs below layer.part: " + prefix,
        ("bias", "layer.weight", "part.scale"): "the last one hangs below layer.part: " + prefix,
        (None, "layer.None", "layer.part.None"): "a Parameter's own name is for printing, and may be None: " + ITEMS,
        ("bias", "layer.weight"): "the grandchild is missing: ask each child for its named_parameters()",
        ("bias",): "the children are missing: self._modules is a dictionary of names and modules",
    }
    expect(seen, NAMES, hint="a path is the names on the way down, with a dot between them", when=when)


@visible("module.Module", SECTION)
def parameters_without_names(student: SimpleNamespace) -> None:
    """Parameters lists the same parameters, without the names."""
    root = _tree()[0]
    listed = root.parameters()
    when = {
        NAMES: "these are the names: the other half of each pair is wanted",
        tuple(zip(NAMES, VALUES, strict=True)): "these are pairs: leave out the names",
        (1.0,): "the children's parameters are missing: named_parameters has them all",
    }
    expect(_shown(listed), VALUES, hint="named_parameters has them all, each with its name", when=when)
    is_same = next(iter(root.parameters())) is root.bias
    expect_that(
        is_same,
        "a parameter in the list is not the one of the module",
        "return the Parameter objects, not their values",
    )


def _shown(listed: object) -> Any:
    """Return a method's list with a value in the place of each parameter. Anything but a list is returned as it is."""
    if isinstance(listed, Parameter):
        return listed.value
    if isinstance(listed, tuple):
        return tuple(_shown(each) for each in listed)
    if listed is None or isinstance(listed, str | dict) or not hasattr(listed, "__iter__"):
        return listed
    return [_shown(each) for each in listed]
