"""Hidden tests of trees of parameters."""

import functools

import pytest

from autograder import expect

tree = functools.partial(pytest.mark.exercise, "trees.tree_map")

ORDER = "trees.tree_flatten: 'A dict's children stand in the order of its sorted keys'"


@tree(group="flatten", because=ORDER)
def test_order_of_leaves(student):
    """A dict's leaves stand in the order of its sorted keys, whatever was put in first."""

    def observe(mg):
        first = mg.trees.tree_flatten({"b": 1.0, "a": {"z": 2.0, "y": [3.0, 4.0]}})
        second = mg.trees.tree_flatten({"a": {"y": [3.0, 4.0], "z": 2.0}, "b": 1.0})
        return [list(first[0]), list(second[0]), first[1] == second[1]]

    expect(
        student(observe),
        [[3.0, 4.0, 2.0, 1.0], [3.0, 4.0, 2.0, 1.0], True],
        hint="sorted(tree) gives the keys of a dict in order",
        misconception="order-of-insertion",
    )


@tree(group="flatten", because="trees.tree_flatten: 'None is a container without children: it has no leaves.'")
def test_none_has_no_leaves(student):
    """None is part of the structure, and no leaf."""

    def observe(mg):
        leaves, structure = mg.trees.tree_flatten([None, 1.0, {"bias": None}])
        same = structure == mg.trees.tree_flatten([None, 2.0, {"bias": None}])[1]
        other = structure == mg.trees.tree_flatten([3.0, 2.0, {"bias": None}])[1]
        return [list(leaves), same, other]

    expect(
        student(observe),
        [[1.0], True, False],
        hint="Structure(type(None)), and an empty list of leaves",
        misconception="none-is-a-leaf",
        when={((1.0,), True, True): ("none-looks-like-a-leaf", "the structure of None is Structure(type(None))")},
    )


@tree(
    group="flatten",
    because="trees.tree_flatten: 'Dicts, lists, tuples and None, inside each other; everything else is a leaf.'",
)
def test_containers_inside_containers(student):
    """Each container has its kind and its keys, and a string or a number is a leaf."""

    def observe(mg):
        def listed(part):
            kind = "leaf" if part.kind is None else part.kind.__name__
            return [kind, list(part.keys), [listed(child) for child in part.children]]

        leaves, structure = mg.trees.tree_flatten(([1.0, "word"], (), {"k": (2.0,)}))
        make, leaf = mg.trees.Structure, mg.trees.LEAF
        of_dict = make(dict, ("k",), (make(tuple, (0,), (leaf,)),))
        by_hand = make(tuple, (0, 1, 2), (make(list, (0, 1), (leaf, leaf)), make(tuple), of_dict))
        return [list(leaves), listed(structure), structure == by_hand]

    leaf = ["leaf", [], []]
    expect(
        student(observe),
        [
            [1.0, "word", 2.0],
            [
                "tuple",
                [0, 1, 2],
                [["list", [0, 1], [leaf, leaf]], ["tuple", [], []], ["dict", ["k"], [["tuple", [0], [leaf]]]]],
            ],
            True,
        ],
        hint="take each child apart in the same way",
        misconception="tuples-are-leaves",
    )


@tree(group="round_trip", because="trees.tree_unflatten: 'Put a tree together: the opposite of `tree_flatten`.'")
def test_there_and_back(student):
    """Put together, a tree has its containers again, of the same kinds."""

    def observe(mg):
        given = {"b": [1.0, (2.0, None)], "a": ({"x": 3.0}, [])}
        _, structure = mg.trees.tree_flatten(given)
        found = mg.trees.tree_unflatten(structure, (10.0, 20.0, 30.0))
        kinds = [type(found["b"]).__name__, type(found["b"][1]).__name__, type(found["a"]).__name__]
        return [found["a"][0]["x"], found["b"][0], found["b"][1][0], found["b"][1][1], kinds, len(found["a"][1])]

    expect(
        student(observe),
        [10.0, 20.0, 30.0, None, ["list", "tuple", "tuple"], 0],
        hint="each leaf takes the next one of the list; a tuple becomes a tuple again",
        misconception="tuples-become-lists",
    )


@tree(group="round_trip", because="trees.tree_unflatten: 'If there are too few leaves, or too many.'")
def test_number_of_leaves(student):
    """Too few leaves are a ValueError, and so are too many."""

    def observe(mg):
        _, structure = mg.trees.tree_flatten([1.0, (2.0, 3.0)])
        seen = []
        for leaves in ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0]):
            try:
                mg.trees.tree_unflatten(structure, leaves)
                seen.append("nothing")
            except Exception as error:
                seen.append(type(error).__name__)
        return seen

    expect(
        student(observe),
        ["ValueError", "ValueError"],
        hint="are there leaves left when the tree is done?",
        misconception="left-over-leaves",
        when={
            ("IndexError", "ValueError"): ("pop-from-empty-list", "say it by a ValueError of your own"),
        },
    )


@tree(group="map", because="trees.tree_map: 'and with the leaves at the same place of further trees'")
def test_several_trees(student):
    """The function gets the leaves of one place from all trees."""

    def observe(mg):
        a = {"w": [1.0, 2.0], "b": (3.0, None)}
        b = {"b": (30.0, None), "w": [10.0, 20.0]}
        found = mg.trees.tree_map(lambda x, y, z: x + y * z, a, b, a)
        return [found["w"], list(found["b"]), mg.trees.tree_map(lambda x: -x, a)["w"]]

    expect(
        student(observe),
        [[11.0, 42.0], [93.0, None], [-1.0, -2.0]],
        hint="take every tree apart, and call f with one leaf of each",
        misconception="first-two-trees-only",
    )


@tree(group="map", because="trees.tree_map: 'If a further tree has another structure.'")
def test_mismatched_skeletons(student):
    """Trees of other structures are refused, also those with as many leaves."""

    def observe(mg):
        first, seen = {"w": 1.0, "b": 2.0}, []
        for other in ({"w": 1.0, "c": 2.0}, [1.0, 2.0], {"w": 1.0}, {"w": 1.0, "b": [2.0]}):
            try:
                mg.trees.tree_map(lambda x, y: x + y, first, other)
                seen.append("nothing")
            except Exception as error:
                seen.append(type(error).__name__)
        return seen

    expect(
        student(observe),
        ["ValueError"] * 4,
        hint="compare structures with ==, not numbers of leaves",
        misconception="leaves-counted",
    )
