"""Hidden tests of the tree of modules."""

import itertools

import pytest

from autograder import expect

MODES = "lesson 00, 'A tree of modules': train and eval reach this node and all its descendants"


@pytest.mark.exercise("module.Module", group="modes", because=MODES)
def test_modes_reach_the_children(student):
    """Train and eval change a module and each of its children."""

    def observe(mg):
        root, first, second = mg.module.Module(), mg.module.Module(), mg.module.Module()
        root.first, root.second = first, second
        root.eval()
        off = [root.training, first.training, second.training]
        root.train()
        return [off, [root.training, first.training, second.training]]

    expect(
        student(observe),
        [[False] * 3, [True] * 3],
        hint="after setting its own mode, a module asks its children to do the same",
        misconception="mode-stays-at-the-top",
    )


@pytest.mark.exercise("module.Module", group="modes", because=MODES)
def test_modes_reach_the_grandchildren(student):
    """Train and eval reach every level below a module."""

    def observe(mg, depth):
        chain = [mg.module.Module() for _ in range(depth)]
        for parent, child in itertools.pairwise(chain):
            parent.inside = child
        chain[0].eval()
        off = [node.training for node in chain[2:]]
        chain[0].train()
        return [off, [node.training for node in chain[2:]]]

    expect(
        student(observe, 5),
        [[False] * 3, [True] * 3],
        hint="call the child's own train(), which calls its children's; setting child.training reaches one level only",
        misconception="mode-reaches-one-level",
    )


@pytest.mark.exercise(
    "module.Module",
    group="modes",
    because="module.Module.eval: 'Put this node and all its descendants into evaluation mode.'",
)
def test_modes_are_set_not_switched(student):
    """Eval twice is still evaluation mode, and train reaches a child that was set apart."""

    def observe(mg):
        root, child = mg.module.Module(), mg.module.Module()
        root.child = child
        root.eval()
        root.eval()
        off = root.training
        child.train()
        root.train()
        return [off, child.training]

    expect(
        student(observe),
        [False, True],
        hint="eval means training = False, whatever it was before",
        misconception="mode-is-toggled",
    )


@pytest.mark.exercise("module.Module", group="modes", because=MODES)
def test_modes_reach_the_module_itself(student):
    """Train and eval change the module that they are called on, also where it has no children."""

    def observe(mg):
        leaf = mg.module.Module()
        leaf.eval()
        off = leaf.training
        leaf.train()
        return [off, leaf.training]

    expect(
        student(observe),
        [False, True],
        hint="the module's own mode comes first, then its children's",
        misconception="mode-skips-the-module",
    )


@pytest.mark.exercise(
    "module.Module",
    group="names",
    because="module.Module.named_parameters: 'The name of a descendant's parameter is its path'",
)
def test_names_are_paths(student):
    """The weight of the child layer1 is called layer1.weight."""

    def observe(mg):
        root = mg.module.Module()
        for child in ("layer1", "layer2"):
            layer = mg.module.Module()
            layer.weight = mg.module.Parameter(1.0)
            setattr(root, child, layer)
        return [name for name, _ in root.named_parameters()]

    expect(
        student(observe),
        ["layer1.weight", "layer2.weight"],
        hint="put the child's name and a dot in front of each of its names",
        misconception="names-lose-their-path",
        when={
            ("weight.layer1", "weight.layer2"): (
                "names-are-turned-round",
                "a path goes from the top down: the child's name first, then the parameter's",
            )
        },
    )


@pytest.mark.exercise(
    "module.Module",
    group="names",
    because="module.Module.named_parameters: 'all parameters of this node and its descendants'",
)
def test_names_of_every_level(student):
    """A parameter three levels down has a path of four names."""

    def observe(mg):
        root, middle, leaf, deep = (mg.module.Module() for _ in range(4))
        root.a, middle.b, leaf.c = middle, leaf, deep
        deep.weight = mg.module.Parameter(3.0)
        leaf.bias = mg.module.Parameter(2.0)
        return sorted(name for name, _ in root.named_parameters())

    expect(
        student(observe),
        ["a.b.bias", "a.b.c.weight"],
        hint="ask each child for its named_parameters(), not for its _parameters: then the child asks its own children",
        misconception="names-reach-one-level",
    )


@pytest.mark.exercise("module.Module", group="names", because="module.Module.named_parameters: 'own parameters first'")
def test_own_parameters_come_first(student):
    """A module's own parameters stand before those of its children, in the order of their making."""

    def observe(mg):
        root, child = mg.module.Module(), mg.module.Module()
        root.child = child
        child.weight = mg.module.Parameter(1.0)
        root.scale = mg.module.Parameter(2.0)
        root.bias = mg.module.Parameter(3.0)
        return [name.rpartition(".")[2] for name, _ in root.named_parameters()]

    expect(
        student(observe),
        ["scale", "bias", "weight"],
        hint="begin with self._parameters, then go through the children",
        misconception="children-come-first",
    )


@pytest.mark.exercise(
    "module.Module",
    group="names",
    because="lesson 00, 'A tree of modules': the name is the attribute under which the parameter hangs, not parameter.name",
)
def test_names_are_attributes(student):
    """The name of a parameter is that of the attribute, whatever the parameter itself is called."""

    def observe(mg):
        root = mg.module.Module()
        root.weight = mg.module.Parameter(1.0, name="w")
        root.bias = mg.module.Parameter(2.0)
        return [[name, parameter.value] for name, parameter in root.named_parameters()]

    expect(
        student(observe),
        [["weight", 1.0], ["bias", 2.0]],
        hint="parameter.name is only for printing, and may be None; the keys of self._parameters are the names",
        misconception="names-from-the-parameter",
    )


@pytest.mark.exercise(
    "module.Module", group="names", because="lesson 00, 'A tree of modules': asking for parameters changes nothing"
)
def test_asking_changes_nothing(student):
    """Asking for the parameters leaves the module as it was."""

    def observe(mg):
        root, child = mg.module.Module(), mg.module.Module()
        root.child = child
        child.weight = mg.module.Parameter(1.0)
        root.bias = mg.module.Parameter(2.0)
        first = len(list(root.named_parameters()))
        return [first, len(list(root.named_parameters())), list(root._parameters), list(child._parameters)]

    expect(
        student(observe),
        [2, 2, ["bias"], ["weight"]],
        hint="collect into a new list; self._parameters is the module's own register",
        misconception="register-is-changed",
    )


@pytest.mark.exercise(
    "module.Module",
    group="parameters",
    because="module.Module.parameters: 'all parameters of this node and its descendants'",
)
def test_parameters_of_the_whole_tree(student):
    """Parameters are those of the module and of everything below it."""

    def observe(mg):
        root, child = mg.module.Module(), mg.module.Module()
        root.child = child
        child.weight = mg.module.Parameter(1.0)
        root.bias = mg.module.Parameter(2.0)
        return sorted(getattr(parameter, "value", parameter) for parameter in root.parameters())

    expect(
        student(observe),
        [1.0, 2.0],
        hint="Parameter objects without their names, of the whole tree: the module's own _parameters are only a part",
        misconception="parameters-of-the-top-only",
    )


@pytest.mark.exercise("module.Module", group="parameters", because="module.Module.parameters: 'Return all parameters'")
def test_parameters_are_the_parameters_themselves(student):
    """Parameters returns the Parameter objects, which training can update, not their values or names."""

    def observe(mg):
        root = mg.module.Module()
        root.weight = mg.module.Parameter(1.0)
        return [parameter is root.weight for parameter in root.parameters()]

    expect(
        student(observe),
        [True],
        hint="training calls parameter.update(...): it needs the objects",
        misconception="parameters-are-values",
    )


@pytest.mark.exercise(
    "module.Module",
    group="parameters",
    because="module.Module.parameters: 'all parameters ..., in the order of `named_parameters`'",
)
def test_equal_names_and_values_are_kept(student):
    """Two layers that look alike have all their parameters listed, in the order of named_parameters."""

    def observe(mg):
        root = mg.module.Module()
        for child in ("layer1", "layer2", "layer3"):
            layer = mg.module.Module()
            layer.weight, layer.bias = mg.module.Parameter(1.0), mg.module.Parameter(0.0)
            setattr(root, child, layer)
        return [getattr(parameter, "value", parameter) for parameter in root.parameters()]

    expect(
        student(observe),
        [1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
        hint="a dictionary keeps one entry for each key: without its path, the name 'weight' is the key of every layer's weight",
        misconception="parameters-lost-by-name",
    )
