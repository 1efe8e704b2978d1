"""Trees: order and structure of leaves, custom nodes, and where two trees differ."""

import collections
import dataclasses
from typing import NamedTuple

import pytest

import minigrad as mg
from minigrad.transforms import (
    grad,
    jvp,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
    value_and_grad,
    vmap,
)


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass(frozen=True)
class Layer:
    weight: object
    bias: object
    name: str = dataclasses.field(default="layer", metadata={"static": True})

    def __post_init__(self):
        assert hasattr(self.weight, "shape") or isinstance(self.weight, float)


TREES = {
    "dict": ({"b": 1.0, "a": 2.0}, [2.0, 1.0]),
    "nested": ({"x": [1.0, (2.0, {"z": 3.0, "y": 4.0})]}, [1.0, 2.0, 4.0, 3.0]),
    "None": ([None, 1.0, {"a": None}], [1.0]),
    "empty": ({"a": [], "b": ()}, []),
    "leaf": (5.0, [5.0]),
    "named tuple": (Pair(1.0, Pair(2.0, 3.0)), [1.0, 2.0, 3.0]),
    "dataclass": (Layer(1.0, [2.0]), [1.0, 2.0]),
    "ordered": (collections.OrderedDict([("b", 1.0), ("a", 2.0)]), [1.0, 2.0]),
    "default": (collections.defaultdict(list, {"b": 1.0, "a": 2.0}), [2.0, 1.0]),
}


@pytest.mark.parametrize(("tree", "leaves"), TREES.values(), ids=TREES)
def test_leaves_come_in_order_and_go_back(tree, leaves):
    """Dicts by sorted keys, as in JAX; the same tree comes back."""
    found, structure = tree_flatten(tree)
    assert found == leaves == tree_leaves(tree)
    again = tree_unflatten(structure, found)
    assert again == tree
    assert type(again) is type(tree)
    assert repr(again) == repr(tree), "a dict keeps the order in which its keys were put in"
    assert tree_structure(again) == structure
    assert structure.num_leaves == len(leaves)
    assert tree_map(lambda x: x, tree) == tree


def test_the_order_of_keys_makes_no_other_structure():
    """Two dicts of the same keys fit together; the first one gives the order."""
    first, second = {"b": 1.0, "a": 2.0}, {"a": 10.0, "b": 20.0}
    assert tree_structure(first) == tree_structure(second)
    assert hash(tree_structure(first)) == hash(tree_structure(second))
    assert list(tree_map(lambda x, y: x + y, first, second).items()) == [("b", 21.0), ("a", 12.0)]


def test_structures_tell_containers_apart():
    """A list is no tuple, and keys, classes and static fields count."""
    trees = [[1.0, 2.0], (1.0, 2.0), Pair(1.0, 2.0), {"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}, [1.0, [2.0]]]
    trees += [Layer(1.0, 2.0), Layer(1.0, 2.0, name="other"), collections.OrderedDict(a=1.0, b=2.0)]
    structures = [tree_structure(tree) for tree in trees]
    for n, structure in enumerate(structures):
        assert [structure == other for other in structures] == [n == m for m in range(len(trees))]
    assert len(set(map(str, structures))) == len(structures)


def test_is_leaf_stops_early():
    """A container may be a leaf."""
    tree = {"a": (1, 2), "b": None}
    assert tree_leaves(tree, is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2)]
    assert tree_leaves(tree, is_leaf=lambda x: x is None) == [1, 2, None]
    assert tree_map(sum, tree, is_leaf=lambda x: isinstance(x, tuple)) == {"a": 3, "b": None}


def test_the_first_tree_of_tree_map_gives_the_structure():
    """Where it has a leaf the others may have trees."""
    assert tree_map(lambda x, y: (x, y), [1, 2], [[3, 4], {"a": 5}]) == [(1, [3, 4]), (2, {"a": 5})]


def test_mismatches_name_the_place():
    """By the path of keys and places."""
    a, b = {"w": [1.0, 2.0], "b": 3.0}, {"w": [1.0, 2.0, 3.0], "b": 3.0}
    with pytest.raises(
        ValueError, match=r"tree_map: tree 2\['w'\] is \[\*, \*, \*\], and the first tree has \[\*, \*\] there"
    ):
        tree_map(lambda x, y: x, a, b)
    with pytest.raises(ValueError, match=r"tree_map: tree 3 is \*, and the first tree has"):
        tree_map(lambda *x: x, a, a, 1.0)
    with pytest.raises(ValueError, match=r"tree_unflatten: 1 leaves for a structure of 3"):
        tree_unflatten(tree_structure(a), [1.0])
    with pytest.raises(TypeError, match=r"keys of int, str cannot be sorted"):
        tree_leaves({"a": 1, 2: 3})


class Interval:
    def __init__(self, low, high, label):
        self.low, self.high, self.label = low, high, label


register_pytree_node(Interval, lambda x: ([x.low, x.high], x.label), lambda label, ends: Interval(*ends, label))


def test_custom_nodes_go_through_every_transform():
    """Their gradient is such a node."""
    x = Interval(mg.tensor(1.0), mg.tensor(3.0), "x")
    slopes = grad(lambda x: x.high**2 - x.low)(x)
    assert (type(slopes), slopes.low.item(), slopes.high.item(), slopes.label) == (Interval, -1.0, 6.0, "x")
    rows = Interval(mg.arange(3).float(), mg.ones(3), "rows")
    assert vmap(lambda x: Interval(x.high, x.low, "out"))(rows).high.tolist() == [0.0, 1.0, 2.0]
    assert vmap(lambda x: x.low, in_axes=(Interval(0, None, "rows"),))(rows).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="Interval is a container of trees already"):
        register_pytree_node(Interval, tuple, list)
    halved = type("Halved", (), {})
    register_pytree_node(halved, lambda x: 3, lambda _, __: halved())
    with pytest.raises(TypeError, match="flatten_func of Halved returned int; it must return a pair: the children"):
        tree_leaves([halved()])
    third = type("Third", (), {})
    register_pytree_node(third, lambda x: (3, None), lambda _, __: third())
    with pytest.raises(TypeError, match="flatten_func of Third returned int as the children; give a tuple of them"):
        tree_leaves([third()])


@pytest.mark.parametrize("kind", [dict, Pair, Layer, list, tuple])
def test_gradients_have_the_form_of_the_arguments(kind):
    """Containers of every kind, with leaves in place and None kept."""
    make = {dict: lambda a, b: {"weight": a, "bias": b}, list: lambda a, b: [a, b], tuple: lambda a, b: (a, b)}
    make = make.get(kind, kind)
    tree = {"layer": make(mg.ones(2), mg.tensor(3.0)), "none": None}
    leaves = lambda tree: tree_leaves(tree["layer"])  # noqa: E731
    value, slopes = value_and_grad(lambda tree: (leaves(tree)[0] * leaves(tree)[1]).sum())(tree)
    assert value.item() == 6.0
    assert tree_structure(slopes) == tree_structure(tree)
    assert sorted(x.sum().item() for x in tree_leaves(slopes)) == [2.0, 6.0]
    assert tree_structure(jvp(lambda x: x, (tree,), (tree,))[1]) == tree_structure(tree)
