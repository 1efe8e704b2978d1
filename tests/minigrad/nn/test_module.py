"""The tree of modules: registering, walking, modes, state, printing."""

import copy
import pickle

import numpy as np
import pytest

import minigrad as mg
from minigrad import exercises, module, nn, optim
from minigrad.scalar import Scalar


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(mg.tensor([2.0]))
        self.body = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 1)))
        self.register_buffer("seen", mg.tensor([0.0]))
        self.register_buffer("scratch", mg.tensor([0.0]), persistent=False)
        self.note = "text"

    def forward(self, x):
        return self.body(x) * self.scale


NAMES = ["scale", "body.0.weight", "body.0.bias", "body.2.0.weight", "body.2.0.bias"]


def test_parameters_are_found_by_path():
    """Parameters of all levels are listed with their paths, own ones first."""
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert next(net.parameters()) is net.scale


def test_modules_and_children():
    """named_modules goes through the whole tree from the top, children through one level."""
    net = Net()
    assert [name for name, _ in net.named_modules()] == ["", "body", "body.0", "body.1", "body.2", "body.2.0"]
    assert next(net.modules()) is net
    assert [name for name, _ in net.named_children()] == ["body"]
    assert list(net.children()) == [net.body]
    assert [name for name, _ in net.named_buffers()] == ["seen", "scratch"]


def test_shared_parts_are_listed_once_and_saved_twice():
    """A layer used in two places is trained once; its state stands under both names."""
    layer = nn.Linear(2, 2)
    net = nn.Sequential(layer, nn.ReLU(), layer)
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias"]
    assert len(list(net.modules())) == 3
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    tied = nn.Linear(2, 2, bias=False)
    tied.weight = layer.weight
    assert len(list(nn.Sequential(layer, tied).parameters())) == 2


def test_modes_reach_everything():
    """train and eval change the whole tree and return the module."""
    net = Net()
    assert net.eval() is net
    assert not any(part.training for part in net.modules())
    assert net.train() is net
    assert all(part.training for part in net.modules())
    net.train(False)
    assert not net.body[2][0].training


def test_a_child_may_refuse_the_mode():
    """A child with its own train is asked by it, as in PyTorch."""

    class Frozen(nn.Linear):
        def train(self, mode=True):
            return super().train(False)

    net = nn.Sequential(Frozen(1, 1), nn.ReLU())
    net.train()
    assert [part.training for part in net] == [False, True]


def test_the_students_module_does_the_work():
    """With an answer to the first lesson's Module installed, its methods list parameters and change modes."""
    calls = []

    class Module:
        def train(self):
            calls.append("train")
            self.training = True
            for child in self.modules():
                child.train()

        def eval(self):
            calls.append("eval")
            self.training = False
            for child in self.modules():
                child.eval()

        def named_parameters(self):
            calls.append("named")
            found = list(self._parameters.items())
            for name, child in self._modules.items():
                found += [(f"{name}.{n}", p) for n, p in child.named_parameters()]
            return found

        def parameters(self):
            return [p for _, p in self.named_parameters()]

    theirs = {name: value for name, value in vars(module.Module).items() if name not in vars(Module)}
    student = type("Module", (), {**theirs, **{k: v for k, v in vars(Module).items() if k[0] != "_"}})
    net = Net()
    with exercises.install({"module.Module": student}):
        net.eval()
        modes = [part.training for part in net.modules()]
        names = [name for name, _ in net.named_parameters()]
        assert net.train().training
    assert (names, any(modes)) == (NAMES, False)
    assert {"train", "eval", "named"} == set(calls)


def test_assigning_registers():
    """An attribute is registered by what is assigned to it, and moves to another registry with another value."""
    net = nn.Module()
    net.x = nn.Parameter(mg.zeros(1))
    net.x = nn.Linear(1, 1)
    assert (list(net._parameters), list(net._modules)) == ([], ["x"])
    net.x = 3
    assert (list(net._modules), net.x) == ([], 3)
    net.x = nn.Linear(1, 1)
    del net.x
    assert list(net.parameters()) == []
    with pytest.raises(AttributeError, match="Module has no attribute 'x'"):
        _ = net.x


def test_a_replaced_layer_keeps_its_place():
    """A layer of a Sequential that is replaced by name stays where it was in the order."""
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    setattr(net, "0", nn.Linear(1, 5))
    assert [type(part).__name__ for part in net] == ["Linear", "ReLU"]
    assert net[0].out_features == 5


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda net: setattr(net, "scale", mg.zeros(1)), TypeError, "scale is a parameter, and a Tensor is none"),
        (lambda net: setattr(net, "old", module.Parameter(Scalar(1.0))), TypeError, "holds Scalars"),
        (lambda net: net.register_parameter("a.b", None), ValueError, "'a.b' cannot name a part"),
        (lambda net: net.register_buffer("", None), ValueError, "'' cannot name a part"),
        (lambda net: nn.Sequential(nn.ReLU), TypeError, r"ReLU is none; write ReLU\(...\)"),
        (lambda net: nn.ModuleList([1]), TypeError, "int is none"),
        (lambda net: net.body[5], IndexError, "has 3 modules, there is no number 5"),
        (lambda net: nn.Module()(1), TypeError, r"does not define forward\(\)"),
    ],
)
def test_what_is_refused(act, error, words):
    """What would go unnoticed into a module is refused in one sentence."""
    with pytest.raises(error, match=words):
        act(Net())


def test_init_must_be_called_first():
    """A subclass that forgets super().__init__() is told so."""

    class Forgetful(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"must call super\(\).__init__\(\) before it sets 'layer'"):
        Forgetful()


def test_state_goes_round(tmp_path):
    """A state that is saved, loaded from the file and put into another network makes it compute the same."""
    net, other = Net(), Net()
    net.seen.fill_(5.0)
    mg.save(net.state_dict(), tmp_path / "net")
    report = other.load_state_dict(mg.load(tmp_path / "net"))
    assert report == ([], [])
    x = mg.randn(4, 2)
    assert net(x).tolist() == other(x).tolist()
    assert other.seen.item() == 5.0
    assert "scratch" not in net.state_dict()


def test_state_shares_memory():
    """A state shows later changes of the module, as in PyTorch, and has no history."""
    net = Net()
    state = net.state_dict()
    with mg.no_grad():
        net.scale.fill_(7.0)
    assert state["scale"].item() == 7.0
    assert not state["scale"].requires_grad


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state.pop("scale"), "the state lacks scale"),
        (lambda state: state.update(other=mg.zeros(1)), "the module has no other"),
        (lambda state: state.update(scale=mg.zeros(3)), r"scale has shape \(3,\) in the state, \(1,\) here"),
        (lambda state: state.update(scale=1.0), "scale is a float"),
    ],
)
def test_states_that_do_not_fit(change, words):
    """A state that does not fit is refused, and nothing is changed."""
    net, other = Net(), Net()
    state = {name: value.clone() for name, value in other.state_dict().items()}
    change(state)
    before = net.body[0].weight.tolist()
    with pytest.raises(ValueError, match=words):
        net.load_state_dict(state)
    assert net.body[0].weight.tolist() == before


def test_a_state_may_be_taken_in_part():
    """With strict=False what fits is loaded, and the rest reported."""
    net = Net()
    report = net.load_state_dict({"scale": mg.tensor([9.0]), "other": mg.zeros(1)}, strict=False)
    assert net.scale.item() == 9.0
    assert (report.unexpected_keys, "seen" in report.missing_keys) == (["other"], True)


def test_to_another_type():
    """double changes floating parameters and buffers where they are, and leaves whole numbers alone."""
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    weight = net[0].weight
    net.double()
    assert net[0].weight is weight
    assert optimizer.param_groups[0]["params"][0] is weight
    kinds = {name: str(value.dtype) for name, value in net.state_dict().items()}
    assert {kind for name, kind in kinds.items() if "tracked" not in name} == {"float64"}
    assert kinds["1.num_batches_tracked"] == "int64"
    assert str(net.float()[0].weight.dtype) == "float32"
    assert net.to("cpu") is net


def test_apply_goes_from_the_leaves():
    """apply calls a function on children before their parents."""
    seen = []
    Net().apply(lambda part: seen.append(type(part).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Sequential", "Net"]


def test_freezing():
    """requires_grad_(False) freezes all parameters; zero_grad forgets their gradients."""
    net = Net()
    net(mg.ones(1, 2)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert all(not p.grad.numpy().any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


def test_a_result_is_no_parameter():
    """What is computed from a parameter is an ordinary tensor."""
    p = nn.Parameter(mg.tensor([1.0]))
    assert type(p * 2.0) is mg.Tensor
    assert type(p.detach()) is mg.Tensor
    assert repr(p).startswith("Parameter containing:\ntensor([1.")


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_a_copy_is_independent(twin):
    """A copied network computes the same, with parameters of its own."""
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    other = twin(net)
    assert isinstance(other[0].weight, nn.Parameter)
    x = mg.randn(3, 2)
    assert net(x).tolist() == other(x).tolist()
    with mg.no_grad():
        other[0].weight.zero_()
    assert net[0].weight.detach().numpy().any()
    assert next(other.parameters()) is other[0].weight


def test_module_list():
    """A ModuleList registers, takes indices and slices, and is changed in place."""
    layers = nn.ModuleList([nn.Linear(1, n) for n in (1, 2)])
    layers.append(nn.Linear(1, 3))
    layers[0] = nn.Linear(1, 9)
    assert [layer.out_features for layer in layers] == [9, 2, 3]
    assert [layer.out_features for layer in layers[1:]] == [2, 3]
    assert (len(layers), layers[-1].out_features, len(list(layers.parameters()))) == (3, 3, 6)


def test_sequential():
    """A Sequential takes names, slices and further modules."""
    net = nn.Sequential({"first": nn.Linear(1, 2), "second": nn.ReLU()})
    net.append(nn.Linear(2, 1))
    assert list(net._modules) == ["first", "second", "2"]
    assert len(net[:2]) == 2
    x = mg.ones(1, 1)
    assert net(x).tolist() == net[2](net[:2](x)).tolist()


def test_printing():
    """A network is printed as a tree, with each module's settings."""
    assert repr(Net()) == (
        "Net(\n  (body): Sequential(\n    (0): Linear(in_features=2, out_features=3, bias=True)\n    (1): ReLU()\n"
        "    (2): Sequential(\n      (0): Linear(in_features=3, out_features=1, bias=True)\n    )\n  )\n)"
    )


def test_initialisation_follows_the_seed():
    """The same seed makes the same network."""

    def made(seed):
        mg.manual_seed(seed)
        return np.concatenate([p.detach().numpy().ravel() for p in Net().parameters()]).tolist()

    assert made(1) == made(1)
    assert made(1) != made(2)
