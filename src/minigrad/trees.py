"""Trees of parameters, to be read: containers inside containers, taken apart and put together again.

Containers are dicts, lists, tuples and None; everything else is a leaf. `minigrad.transforms` has the same functions
for named tuples, dataclasses and classes of your own as well, by JAX's interface.

Source: https://docs.jax.dev/en/latest/pytrees.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["LEAF", "Structure", "tree_flatten", "tree_map", "tree_unflatten"]


@dataclass(frozen=True)
class Structure:
    """The form of a tree, without its leaves. Two structures are equal if their trees differ in leaves only.

    Attributes:
        kind: The container: dict, list, tuple or ``type(None)``; None for a leaf.
        keys: The keys of a dict, sorted; the places in a list or a tuple, from 0.
        children: The structure of what stands at each key.

    >>> minigrad.trees.tree_flatten({"b": 1.0, "a": [2.0, None]})[1].keys
    ('a', 'b')
    """

    kind: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Structure, ...] = ()


LEAF = Structure()
"""The structure of a leaf."""


def tree_flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Take a tree apart.

    Args:
        tree: Dicts, lists, tuples and None, inside each other; everything else is a
            leaf.

    Returns:
        The leaves, from left to right, and the structure. A dict's children stand in
        the order of its sorted keys, whatever the order was in which they were put in.
        None is a container without children: it has no leaves.
    """
    ### BEGIN SOLUTION
    if tree is None:
        return [], Structure(type(None))
    if not isinstance(tree, dict | list | tuple):
        return [tree], LEAF
    keys = sorted(tree) if isinstance(tree, dict) else range(len(tree))
    gathered: list[Any] = []
    children: list[Structure] = []
    for key in keys:
        more, child = tree_flatten(tree[key])
        gathered += more
        children.append(child)
    return gathered, Structure(type(tree), tuple(keys), tuple(children))
    ### END SOLUTION


def tree_unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """Put a tree together: the opposite of `tree_flatten`.

    Args:
        structure: The form.
        leaves: As many leaves as it has, from left to right.

    Returns:
        The tree.

    Raises:
        ValueError: If there are too few leaves, or too many.
    """
    ### BEGIN SOLUTION
    waiting = list(leaves)[::-1]

    def put_together(part: Structure) -> Any:
        if part == LEAF:
            if not waiting:
                raise ValueError(f"tree_unflatten: {len(leaves)} leaves are too few for this structure")
            return waiting.pop()
        children = [put_together(child) for child in part.children]
        if part.kind is dict:
            return dict(zip(part.keys, children, strict=True))
        return None if part.kind is type(None) else tuple(children) if part.kind is tuple else children

    tree = put_together(structure)
    if waiting:
        raise ValueError(f"tree_unflatten: {len(leaves)} leaves are {len(waiting)} too many for this structure")
    return tree
    ### END SOLUTION


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Call a function for each place of a tree.

    It is called with the leaf there, and with the leaves at the same place of further
    trees.

    Args:
        f: A function of as many leaves as there are trees.
        tree: A tree.
        *rest: Further trees of the same structure.

    Returns:
        A tree of the same structure, with what f returned as leaves.

    Raises:
        ValueError: If a further tree has another structure.
    """
    ### BEGIN SOLUTION
    first, form = tree_flatten(tree)
    lists = [first]
    for other in rest:
        more, its_form = tree_flatten(other)
        if its_form != form:
            raise ValueError("tree_map: the structures differ; all trees must have the same containers and keys")
        lists.append(more)
    return tree_unflatten(form, [f(*each) for each in zip(*lists, strict=True)])
    ### END SOLUTION
