"""Visible tests of the tree of modules."""

from __future__ import annotations

from typing import Any

from minigrad.checks.expectation import expect
from minigrad.checks.runner import visible
from minigrad.module import Module, Parameter

SECTION = "00 'A tree of modules'"


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
def modes_reach_everything(student: Any) -> None:
    """Eval and train reach the module, its children and their children."""
    nodes = _tree()
    nodes[0].eval()
    hint = "set the module's own mode, then call the same method of each child"
    expect([node.training for node in nodes], [False, False, False], hint=hint)
    nodes[0].train()
    expect([node.training for node in nodes], [True, True, True], hint=hint)


@visible("module.Module", SECTION)
def own_names(student: Any) -> None:
    """A module without children lists its own parameters under their names."""
    leaf = Module()
    leaf.a = Parameter(1.0)
    leaf.b = Parameter(2.0)
    seen = [(name, parameter.value) for name, parameter in leaf.named_parameters()]
    expect(seen, [("a", 1.0), ("b", 2.0)], hint="self._parameters is a dictionary of names and parameters")


@visible("module.Module", SECTION)
def names_are_paths(student: Any) -> None:
    """A descendant's parameter is listed under its path, after the module's own."""
    root = _tree()[0]
    seen = [name for name, _ in root.named_parameters()]
    when = {
        ("bias", "weight", "scale"): "put the child's name and a dot before each of the child's names",
        ("bias", "layer.weight"): "the grandchild is missing: ask each child for its named_parameters()",
        ("bias",): "the children are missing: self._modules is a dictionary of names and modules",
    }
    expect(
        seen, ["bias", "layer.weight", "layer.part.scale"], hint="own parameters first, then child by child", when=when
    )


@visible("module.Module", SECTION)
def parameters_without_names(student: Any) -> None:
    """Parameters lists the same parameters, without the names."""
    root = _tree()[0]
    seen = [parameter.value for parameter in root.parameters()]
    expect(seen, [1.0, 2.0, 3.0], hint="named_parameters has them all, each with its name")
    same = next(iter(root.parameters())) is root.bias
    expect(same, True, hint="return the Parameter objects, not their values")
