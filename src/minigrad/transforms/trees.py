"""Trees: containers inside containers, whose leaves are tensors, Scalars, numbers or anything else.

Containers are dicts (whose leaves come in the order of the sorted keys), lists, tuples, named tuples, dataclasses,
None, which has no leaves, and what `register_pytree_node` adds. Names and order of leaves are JAX's.

Source: https://docs.jax.dev/en/latest/pytrees.html
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

IsLeaf = Callable[[Any], bool] | None


class _Kind(NamedTuple):
    """How a class of containers is taken apart and put together.

    Attributes:
        take_apart: Returns the children, what else the container holds, and how a path names each child.
        put_together: Makes a container from what else it holds and its children.
    """

    take_apart: Callable[[Any], tuple[Sequence[Any], Any, Sequence[str]]]
    put_together: Callable[[Any, Sequence[Any]], Any]


@dataclasses.dataclass(frozen=True)
class PyTreeDef:
    """The structure of a tree, without its leaves. Two structures are equal if their trees differ in leaves only.

    Attributes:
        kind: The class of the container; None for a leaf.
        rest: What the container holds beside its children: keys, a name, settings.
        children: The structures of the children.
        names: How a path names each child, as in ``['weight']`` or ``[0]``.

    >>> minigrad.transforms.tree_structure({"b": 1.0, "a": [2.0, None]})
    PyTreeDef({'b': *, 'a': [*, None]})
    """

    kind: type | None = None
    rest: Any = None
    children: tuple[PyTreeDef, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def num_leaves(self) -> int:
        """The number of leaves.

        >>> minigrad.transforms.tree_structure([1.0, (2.0, None)]).num_leaves
        2
        """
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree of this structure with the leaves, see `tree_unflatten`."""
        return tree_unflatten(self, leaves)

    def __repr__(self) -> str:
        return f"PyTreeDef({_shown(self)})"


LEAF = PyTreeDef()


class _Asterisk:
    """A leaf in a printed structure."""

    def __repr__(self) -> str:
        return "*"


def _shown(structure: PyTreeDef) -> str:
    return repr(structure.unflatten([_Asterisk()] * structure.num_leaves))


# --- the kinds of containers --------------------------------------------------------------------------------


def _places(children: Sequence[Any]) -> list[str]:
    return [f"[{place}]" for place in range(len(children))]


class _Keys(tuple[Any, ...]):
    """The sorted keys of a dict. In its `order` they stand as they do in the dict, which makes no other structure."""

    order: tuple[Any, ...]

    def with_values(self, values: Sequence[Any]) -> dict[Any, Any]:
        """Return a dict of the original order, given the values in the order of the sorted keys."""
        found = dict(zip(self, values, strict=True))
        return found if self.order == self else {key: found[key] for key in self.order}


def _of_mapping(
    keys: Callable[[Any], tuple[Any, ...]], rest: Callable[[Any, Any], Any]
) -> Callable[[Any], tuple[Sequence[Any], Any, Sequence[str]]]:
    def take_apart(mapping: Any) -> tuple[Sequence[Any], Any, Sequence[str]]:
        order = keys(mapping)
        return [mapping[key] for key in order], rest(mapping, order), [f"[{key!r}]" for key in order]

    return take_apart


def _sorted_keys(mapping: Any) -> _Keys:
    try:
        keys = _Keys(sorted(mapping))
        keys.order = tuple(mapping)
        return keys
    except TypeError:
        kinds = ", ".join(sorted({type(key).__name__ for key in mapping}))
        raise TypeError(
            f"tree: the leaves of a dict stand in the order of its sorted keys, but keys of {kinds} cannot be sorted; "
            "use keys of one type"
        ) from None


_KINDS: dict[type, _Kind] = {
    type(None): _Kind(lambda _: ((), None, ()), lambda _, __: None),
    list: _Kind(lambda x: (x, None, _places(x)), lambda _, children: list(children)),
    tuple: _Kind(lambda x: (x, None, _places(x)), lambda _, children: tuple(children)),
    dict: _Kind(_of_mapping(_sorted_keys, lambda _, keys: keys), lambda keys, children: keys.with_values(children)),
    OrderedDict: _Kind(
        _of_mapping(tuple, lambda _, keys: keys), lambda keys, children: OrderedDict(zip(keys, children, strict=True))
    ),
    defaultdict: _Kind(
        _of_mapping(_sorted_keys, lambda x, keys: (x.default_factory, keys)),
        lambda rest, children: defaultdict(rest[0], rest[1].with_values(children)),
    ),
}


def _of_named_tuple(x: Any) -> tuple[Sequence[Any], Any, Sequence[str]]:
    return x, type(x), [f".{field}" for field in x._fields]


_NAMED_TUPLE = _Kind(_of_named_tuple, lambda kind, children: kind(*children))


def _fields(x: Any, static: bool) -> list[str]:
    return [each.name for each in dataclasses.fields(x) if bool(each.metadata.get("static")) is static]


def _of_dataclass(x: Any) -> tuple[Sequence[Any], Any, Sequence[str]]:
    names = _fields(x, static=False)
    fixed = tuple((name, getattr(x, name)) for name in _fields(x, static=True))
    return [getattr(x, name) for name in names], (type(x), tuple(names), fixed), [f".{name}" for name in names]


def _dataclass_with(rest: Any, children: Sequence[Any]) -> Any:
    kind, names, fixed = rest
    made = object.__new__(kind)  # not kind(...), which may check its arguments: leaves may be anything here
    for name, value in (*zip(names, children, strict=True), *fixed):
        object.__setattr__(made, name, value)
    return made


_DATACLASS = _Kind(_of_dataclass, _dataclass_with)


def register_pytree_node(
    nodetype: type, flatten_func: Callable[[Any], tuple[Iterable[Any], Any]], unflatten_func: Callable[[Any, Any], Any]
) -> None:
    """Make a class a container of trees.

    Args:
        nodetype: The class. Its subclasses are registered by themselves.
        flatten_func: Returns an object's children, and what else it holds, which must be comparable by ``==``.
        unflatten_func: Makes an object from what else it holds and the tuple of its children.

    Raises:
        ValueError: If the class is a container already.

    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    ...
    >>> minigrad.transforms.register_pytree_node(
    ...     Interval, lambda x: ((x.low, x.high), None), lambda _, ends: Interval(*ends)
    ... )
    >>> minigrad.transforms.tree_leaves([Interval(1.0, 2.0), 3.0])
    [1.0, 2.0, 3.0]
    """
    if nodetype in _KINDS:
        raise ValueError(f"register_pytree_node: {nodetype.__name__} is a container of trees already")

    def take_apart(x: Any) -> tuple[Sequence[Any], Any, Sequence[str]]:
        parts: Any = flatten_func(x)
        if not isinstance(parts, tuple | list) or len(parts) != 2:
            raise TypeError(
                f"tree: flatten_func of {nodetype.__name__} returned {type(parts).__name__}; it must return a pair: "
                "the children, and what else the object holds"
            )
        children, rest = parts
        if not isinstance(children, Iterable):
            raise TypeError(
                f"tree: flatten_func of {nodetype.__name__} returned {type(children).__name__} as the children; give a "
                "tuple of them"
            )
        children = tuple(children)
        return children, rest, _places(children)

    _KINDS[nodetype] = _Kind(take_apart, lambda rest, children: unflatten_func(rest, tuple(children)))


def _kind_of(x: Any) -> _Kind | None:
    """Return how a container is taken apart; None for a leaf."""
    kind = _KINDS.get(type(x))
    if kind is not None:
        return kind
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return _NAMED_TUPLE
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return _DATACLASS
    return None


def _put_together(structure: PyTreeDef, children: Sequence[Any]) -> Any:
    kind = _KINDS.get(structure.kind) if structure.kind is not None else None
    if kind is None:
        kind = _NAMED_TUPLE if isinstance(structure.rest, type) else _DATACLASS
    return kind.put_together(structure.rest, children)


# --- taking apart and putting together ----------------------------------------------------------------------


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return the leaves of a tree in order, and its structure.

    Args:
        tree: Any tree. An object that is no container is a tree of one leaf.
        is_leaf: Says of a container whether it is to be taken as a leaf.

    >>> leaves, structure = minigrad.transforms.tree_flatten({"b": 1.0, "a": (2.0, 3.0)})
    >>> leaves
    [2.0, 3.0, 1.0]
    >>> structure
    PyTreeDef({'b': *, 'a': (*, *)})
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


def _flatten(tree: Any, is_leaf: IsLeaf, leaves: list[Any]) -> PyTreeDef:
    kind = None if is_leaf is not None and is_leaf(tree) else _kind_of(tree)
    if kind is None:
        leaves.append(tree)
        return LEAF
    children, rest, names = kind.take_apart(tree)
    below = tuple([_flatten(child, is_leaf, leaves) for child in children])
    return PyTreeDef(type(tree), rest, below, tuple(names))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Return the tree that has a structure and leaves.

    Raises:
        ValueError: If the number of leaves is not that of the structure.

    >>> structure = minigrad.transforms.tree_structure({"a": 0, "b": [0, 0]})
    >>> minigrad.transforms.tree_unflatten(structure, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    given = list(leaves)
    if len(given) != treedef.num_leaves:
        raise ValueError(
            f"tree_unflatten: {len(given)} leaves for a structure of {treedef.num_leaves}; give as many as "
            f"{treedef} has"
        )
    return _unflatten(treedef, iter(given))


def _unflatten(structure: PyTreeDef, leaves: Any) -> Any:
    if structure.kind is None:
        return next(leaves)
    return _put_together(structure, [_unflatten(child, leaves) for child in structure.children])


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves of a tree in order.

    >>> minigrad.transforms.tree_leaves({"b": 1.0, "a": (2.0, None)})
    [2.0, 1.0]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Return the structure of a tree.

    >>> minigrad.transforms.tree_structure((1.0, [2.0])) == minigrad.transforms.tree_structure((5.0, [None]))
    False
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the tree of a function's results for each leaf.

    Args:
        f: Called with a leaf of the tree, and with what stands in its place in each other tree.
        tree: Gives the structure.
        *rest: Trees of this structure; where the first has a leaf they may have whole trees.
        is_leaf: Says of a container whether it is to be taken as a leaf.

    Raises:
        ValueError: If the structures do not match. The message names the place.

    >>> weights, slopes = {"w": 1.0, "b": 0.5}, {"w": 0.1, "b": 0.2}
    >>> minigrad.transforms.tree_map(lambda x, d: x - 0.5 * d, weights, slopes)
    {'w': 0.95, 'b': 0.4}
    """
    leaves, structure = tree_flatten(tree, is_leaf)
    columns = [leaves]
    for number, other in enumerate(rest, start=2):
        column: list[Any] = []
        _take_like(structure, other, "", f"tree_map: tree {number}", column)
        columns.append(column)
    return tree_unflatten(structure, [f(*row) for row in zip(*columns, strict=True)])


def _take_like(structure: PyTreeDef, tree: Any, path: str, name: str, found: list[Any]) -> None:
    """Collect what a tree has where a structure has its leaves."""
    if structure.kind is None:
        found.append(tree)
        return
    below, own = _one_level(tree)
    if (own.kind, own.rest, len(below)) != (structure.kind, structure.rest, len(structure.children)):
        raise ValueError(f"{name}{path} is {_shown(own)}, and the first tree has {_shown(structure)} there; {_ADVICE}")
    for child, each, label in zip(structure.children, below, structure.names, strict=True):
        _take_like(child, each, path + label, name, found)


_ADVICE = "both must have the same structure"


def _one_level(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """Return a container's own children, and its structure with them as leaves."""
    return tree_flatten(tree, is_leaf=lambda x: x is not tree)


# --- paths, prefixes and differences: for errors and for in_axes --------------------------------------------


def leaves_by_path(tree: Any, root: str) -> list[tuple[str, Any]]:
    """Return the leaves of a tree with their paths.

    >>> from minigrad.transforms.trees import leaves_by_path
    >>> leaves_by_path({"layers": [1.0, 2.0]}, "params")
    [("params['layers'][0]", 1.0), ("params['layers'][1]", 2.0)]
    """
    leaves, structure = tree_flatten(tree)
    return list(zip(_paths(structure, root), leaves, strict=True))


def _paths(structure: PyTreeDef, path: str) -> list[str]:
    if structure.kind is None:
        return [path]
    parts = zip(structure.children, structure.names, strict=True)
    return [below for child, name in parts for below in _paths(child, path + name)]


def spread(prefix: Any, tree: Any, name: str, of: str) -> list[Any]:
    """Return one value for each leaf of a tree, from a tree of values that may end sooner.

    Args:
        prefix: A value for the whole tree, or a container like it of values for its parts. None is a value.
        tree: The tree.
        name: The argument's name in messages, such as "vmap: in_axes".
        of: What the tree is, such as "the arguments".

    Raises:
        ValueError: If the prefix does not fit the tree. The message names the place.

    >>> from minigrad.transforms.trees import spread
    >>> spread((0, None), (1.0, {"w": 2.0, "b": 3.0}), "in_axes", "the arguments")
    [0, None, None]
    """
    found: list[Any] = []
    _spread(prefix, tree, "", name, of, found)
    return found


def _spread(prefix: Any, tree: Any, path: str, name: str, of: str, found: list[Any]) -> None:
    if prefix is None or _kind_of(prefix) is None:
        found += [prefix] * len(tree_leaves(tree))
        return
    parts, structure = _one_level(prefix)
    below, own = _one_level(tree)
    if (own.kind, own.rest, len(below)) != (structure.kind, structure.rest, len(parts)):
        raise ValueError(
            f"{name}{path} is {prefix!r}, but {of} have {_shown(own)} there; give one value for all of it, or a "
            "container of the same form"
        )
    for each, child, label in zip(parts, below, structure.names, strict=True):
        _spread(each, child, path + label, name, of, found)


def orders_of(structure: PyTreeDef) -> tuple[tuple[Any, ...], ...]:
    """Return the keys of each dict in a tree, in its own order. Two trees of one structure may differ in that.

    >>> from minigrad.transforms.trees import orders_of, tree_structure
    >>> orders_of(tree_structure([{"b": 1.0, "a": 2.0}, {}]))
    (('b', 'a'), ())
    """
    keys = structure.rest[1] if structure.kind is defaultdict else structure.rest
    own = (keys.order,) if isinstance(keys, _Keys) else ()
    return own + tuple([order for child in structure.children for order in orders_of(child)])


def unlike(first: PyTreeDef, second: PyTreeDef, path: str = "") -> str:
    """Return the path to the first place in which two structures differ, and what stands there; "" if nowhere."""
    own = (first.kind, first.rest, len(first.children))
    if own != (second.kind, second.rest, len(second.children)):
        return f"{path or 'the root'}: {_shown(first)} and {_shown(second)}"
    for a, b, name in zip(first.children, second.children, first.names, strict=True):
        found = unlike(a, b, path + name)
        if found:
            return found
    return ""
