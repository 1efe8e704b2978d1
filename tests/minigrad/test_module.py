"""Module: a tree of parts with names, modes and parameters."""

import copy
import pickle

import pytest

from minigrad import Scalar
from minigrad.module import Module, Parameter


class Leaf(Module):
    """One parameter."""

    def __init__(self, value=1.0):
        super().__init__()
        self.weight = Parameter(Scalar(value))


class Tree(Module):
    """Own parameters around two children, the second with a child of its own."""

    def __init__(self):
        super().__init__()
        self.first = Parameter(Scalar(1.0))
        self.left = Leaf(2.0)
        self.right = Module()
        self.right.deep = Leaf(3.0)
        self.last = Parameter(Scalar(4.0))
        self.note = "no parameter"


def test_named_parameters_are_paths_own_ones_first():
    """Own parameters come first; a descendant's name is its path."""
    tree = Tree()
    named = [(name, p.value.data) for name, p in tree.named_parameters()]
    assert named == [("first", 1.0), ("last", 4.0), ("left.weight", 2.0), ("right.deep.weight", 3.0)]
    assert [p.value.data for p in tree.parameters()] == [1.0, 4.0, 2.0, 3.0]
    assert Module().named_parameters() == []


def test_train_and_eval_reach_every_descendant():
    """A node's mode is set with that of all nodes below, and of none above."""
    tree = Tree()
    nodes = [tree, tree.left, tree.right, tree.right.deep]
    assert [node.training for node in nodes] == [True] * 4
    tree.eval()
    assert [node.training for node in nodes] == [False] * 4
    tree.right.train()
    assert [node.training for node in nodes] == [False, False, True, True]


def test_attributes_are_registered_by_their_kind():
    """Parameters and modules are children; everything else is an ordinary attribute."""
    tree = Tree()
    assert [type(m) for m in tree.modules()] == [Leaf, Module]
    assert tree.note == "no parameter"
    assert "note" in vars(tree)
    assert "first" not in vars(tree)
    assert isinstance(tree.first, Parameter)


def test_an_attribute_that_changes_its_kind_is_not_registered_twice():
    """A name belongs to the last object that was assigned to it."""
    tree = Tree()
    tree.left = Parameter(Scalar(9.0))
    tree.first = 5
    tree.note = Leaf(7.0)
    assert [name for name, _ in tree.named_parameters()] == ["last", "left", "right.deep.weight", "note.weight"]
    assert tree.first == 5


def test_a_missing_attribute_is_named():
    """The error has the class and the attribute."""
    with pytest.raises(AttributeError, match="Tree has no attribute 'weigth'"):
        _ = Tree().weigth


def test_a_forgotten_super_init_is_explained():
    """Without super().__init__() the first assignment says what is missing."""

    class Forgetful(Module):
        """Does not call super().__init__()."""

        def __init__(self):
            self.weight = Parameter(Scalar(1.0))

    with pytest.raises(
        AttributeError, match=r"Forgetful.__init__ must call super\(\).__init__\(\) before it sets 'weight'"
    ):
        Forgetful()


def test_properties_keep_their_setters():
    """An attribute that the class manages is set through the class."""

    class Doubled(Module):
        """Has a property."""

        @property
        def value(self):
            """Half of what is stored."""
            return self.stored / 2

        @value.setter
        def value(self, new):
            self.stored = 2 * new

    module = Doubled()
    module.value = 21
    assert (module.value, module.stored) == (21, 42)


def test_calling_a_module_runs_forward():
    """module(...) is module.forward(...); a class without forward says so."""

    class Sum(Module):
        """Adds."""

        def forward(self, *values, start=0):
            """Return the sum."""
            return sum(values, start)

    assert Sum()(1, 2, start=10) == 13
    with pytest.raises(TypeError, match=r"Tree does not define forward\(\), so it cannot be called"):
        Tree()(1)


def test_parameters_ask_for_gradients_and_pass_their_name_on():
    """A Scalar in a Parameter is a variable, by the parameter's name; other values are kept as they are."""
    parameter = Parameter(Scalar(1.0, requires_grad=False), name="w")
    assert parameter.value.requires_grad
    assert parameter.value.name == "w"
    parameter.update(Scalar(2.0))
    assert (parameter.value.data, parameter.value.name) == (2.0, "w")
    assert Parameter(3.0).value == 3.0
    assert repr(parameter) == "Parameter(Scalar(2.0))"


def test_add_parameter_registers_by_a_name_made_at_run_time():
    """The name is the parameter's name in the tree."""
    module = Module()
    parameter = module.add_parameter("weight_0", Scalar(1.0))
    assert module.named_parameters() == [("weight_0", parameter)]
    assert module.weight_0 is parameter


def test_zero_grad_forgets_all_gradients():
    """Every parameter of the tree has no gradient afterwards."""
    tree = Tree()
    sum((p.value * p.value for p in tree.parameters()), Scalar(0.0)).backward()
    assert [p.value.grad for p in tree.parameters()] == [2.0, 8.0, 4.0, 6.0]
    tree.zero_grad()
    assert [p.value.grad for p in tree.parameters()] == [None] * 4


def test_copies_have_parameters_of_their_own():
    """A deep copy and a pickle are equal trees that share nothing."""
    leaf = Leaf(2.0)
    for twin in (copy.deepcopy(leaf), pickle.loads(pickle.dumps(leaf))):
        twin.weight.update(Scalar(5.0))
        assert (leaf.weight.value.data, twin.weight.value.data) == (2.0, 5.0)
        assert [name for name, _ in twin.named_parameters()] == ["weight"]


def test_repr_draws_the_tree():
    """Children are indented below their parent."""
    assert repr(Tree()) == "Tree(\n  (left): Leaf()\n  (right): Module(\n    (deep): Leaf()\n  )\n)"
