"""Modules beside PyTorch's: walks, hooks of both passes, states, moves, and names that are not there."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg
from minigrad.backward import specification, walk

LIBRARIES = [mg, torch]


def network(m):
    """Return a network with a part in two places, a parameter in two modules, and buffers."""

    class Net(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = m.nn.Linear(2, 2)
            self.again = m.nn.Sequential(self.first, m.nn.BatchNorm1d(2))
            self.tied = m.nn.Linear(2, 2, bias=False)
            self.tied.weight = self.first.weight
            self.scale = m.nn.Parameter(m.ones(2))
            self.register_buffer("seen", m.zeros(1))
            self.register_buffer("scratch", m.zeros(1), persistent=False)

        def forward(self, x, *, factor=1.0):
            return self.tied(self.again(x)) * self.scale * factor

    net = Net()
    weights = np.random.default_rng(0)
    with m.no_grad():
        for parameter in net.parameters():
            parameter.copy_(m.tensor(weights.normal(size=tuple(parameter.shape))))
    return net


def names(pairs):
    return [name for name, _ in pairs]


WALKS = {
    "parameters": lambda net: names(net.named_parameters()),
    "parameters behind a prefix": lambda net: names(net.named_parameters("outer")),
    "parameters by keyword": lambda net: names(net.named_parameters(prefix="a.b", recurse=True)),
    "own parameters": lambda net: names(net.named_parameters(recurse=False)),
    "own parameters behind a prefix": lambda net: names(net.named_parameters("p", False)),
    "all paths of parameters": lambda net: names(net.named_parameters(remove_duplicate=False)),
    "how many": lambda net: [len(list(net.parameters())), len(list(net.parameters(recurse=False)))],
    "modules": lambda net: names(net.named_modules()),
    "modules behind a prefix": lambda net: names(net.named_modules(prefix="outer")),
    "all paths of modules": lambda net: names(net.named_modules(remove_duplicate=False)),
    "modules that are known": lambda net: names(net.named_modules({net.again})),
    "what is noted": lambda net: (lambda memo: [len(list(net.named_modules(memo))), len(memo)])(set()),
    "all of them": lambda net: [len(list(net.modules())), len(list(net.modules(remove_duplicate=False)))],
    "buffers": lambda net: names(net.named_buffers()),
    "buffers behind a prefix": lambda net: names(net.named_buffers("outer", remove_duplicate=False)),
    "own buffers": lambda net: names(net.named_buffers(recurse=False)),
    "how many buffers": lambda net: [len(list(net.buffers())), len(list(net.buffers(False)))],
    "a part": lambda net: [net.get_submodule("again.0") is net.first, net.get_submodule("") is net],
    "a parameter": lambda net: net.get_parameter("again.0.weight") is net.first.weight,
    "a buffer": lambda net: net.get_buffer("again.1.running_mean") is net.again[1].running_mean,
    "a state": lambda net: list(net.state_dict(prefix="model.")),
    "a state with variables": lambda net: net.state_dict(keep_vars=True)["scale"] is net.scale,
    "a state in a dictionary": lambda net: (lambda there: net.state_dict(destination=there) is there)({}),
    "a part replaced": lambda net: (net.set_submodule("again.0", net.tied), names(net.named_parameters()))[1],
    "a part added": lambda net: (net.set_submodule("again.2", net.tied), names(net.named_modules()))[1],
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_walks_are_those_of_pytorch(walk):
    """Names come in PyTorch's order, and the same objects stand behind them."""
    ours, theirs = (walk(network(m)) for m in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize(
    "ask",
    [
        lambda net: net.get_submodule("again.7"),
        lambda net: net.get_submodule("scale"),
        lambda net: net.get_submodule("again..0"),
        lambda net: net.get_parameter("again.0.wieght"),
        lambda net: net.get_parameter("seen"),
        lambda net: net.get_buffer("scale"),
        lambda net: net.set_submodule("nowhere.0", net.tied),
        lambda net: net.set_submodule("again.7", net.tied, strict=True),
        lambda net: net.frist,
    ],
)
def test_paths_that_lead_nowhere_are_refused_as_by_pytorch(ask):
    """An AttributeError, in both."""
    for m in LIBRARIES:
        with pytest.raises(AttributeError):
            ask(network(m))


def test_a_path_that_leads_nowhere_says_where_it_ends():
    """The error names the module that lacks the name, and the names that it has."""
    words = r"there is no module 'again.7.x': 'again' is a Sequential without '7'; its modules are '0', '1'"
    with pytest.raises(AttributeError, match=words):
        network(mg).get_submodule("again.7.x")
    with pytest.raises(
        AttributeError, match="no buffer 'mean': Net is one without 'mean'; its buffers are 'seen', 'sc"
    ):
        network(mg).get_buffer("mean")


def test_a_name_made_at_run_time_may_be_asked_by_hand():
    """Networks of many levels write ``self.__setattr__(f"level_{i}", ...)``, and ask ``__getattr__`` likewise."""
    for m in LIBRARIES:
        net = network(m)
        net.__setattr__("level_1", m.nn.Linear(2, 2))
        net.register_buffer("level_2", m.ones(1))
        net.__setattr__("level_3", m.nn.Parameter(m.ones(1)))
        for name in ("level_1", "level_2", "level_3"):
            assert net.__getattr__(name) is getattr(net, name)
        with pytest.raises(AttributeError):
            net.__getattr__("level_4")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("frist", "Net has no attribute 'frist'; did you mean 'first'?"),
        ("parameter", "Net has no attribute 'parameter'; did you mean 'parameters' or 'get_parameter'?"),
        ("zzz", "Net has no attribute 'zzz'"),
        ("_frist", "Net has no attribute '_frist'"),
        (
            "get_extra_state",
            'torch\'s get_extra_state is not in minigrad: see "What is left out" in docs/library/pytorch.md',
        ),
        ("type", "torch's type is not in minigrad; use module.to(dtype)"),
    ],
)
def test_a_name_that_is_not_there_gets_one_sentence(name, words):
    """It names near ones, or what stands for a name of PyTorch; Python adds no guess of its own."""
    with pytest.raises(AttributeError) as caught:
        getattr(network(mg), name)
    assert str(caught.value) == words
    assert not hasattr(network(mg), name)


def test_a_property_that_fails_keeps_its_error():
    """What a property lacks is named, not the property."""

    class Net(mg.nn.Module):
        @property
        def size(self):
            return self.wieght

    with pytest.raises(AttributeError, match="no attribute 'wieght'"):
        _ = Net().size
    assert not hasattr(pickle.loads(pickle.dumps(mg.nn.ReLU())), "size")

    class Forgetful(mg.nn.Module):
        def __init__(self):
            pass

    with pytest.raises(AttributeError, match="Forgetful has no attribute 'wieght'"):
        _ = Forgetful().wieght


# --- hooks ------------------------------------------------------------------------------------------------------


def plain(x):
    """Return tensors inside tuples and dictionaries as lists of numbers."""
    if isinstance(x, tuple | list):
        return [plain(part) for part in x]
    if isinstance(x, dict):
        return {key: plain(part) for key, part in x.items()}
    return plain(x.tolist()) if hasattr(x, "detach") else float(f"{x:.5g}") if isinstance(x, float) else x


def parts(m):
    """Return modules, by name, with a function that makes their arguments."""

    class Two(m.nn.Module):
        def forward(self, x, y, count=1):
            return x * y * count, "between", y.exp()

    class Constant(m.nn.Module):
        def forward(self, x):
            return m.ones(2), x

    class Pair(m.nn.Module):
        def forward(self, pair, *, factor):
            return pair[0] * factor

    a = m.tensor([0.5, -1.5], requires_grad=True)
    b = m.tensor([2.0, 3.0], requires_grad=True)
    layer = m.nn.Linear(2, 2)
    with m.no_grad():
        layer.weight.copy_(m.tensor([[1.0, 2.0], [-3.0, 4.0]]))
        layer.bias.copy_(m.tensor([0.5, 0.25]))
    return {
        "identity": (m.nn.Identity(), (a * 2.0,), {}, [a]),
        "a leaf": (m.nn.Tanh(), (a,), {}, [a]),
        "layer": (layer, (a * 2.0,), {}, [a, layer.weight]),
        "an input without gradient": (layer, (m.tensor([1.0, 2.0]),), {}, [layer.weight]),
        "two inputs and outputs": (Two(), (a * 1.0, b), {"count": 3}, [a, b]),
        "one of two wants a gradient": (Two(), (a, b.detach(), 2), {}, [a]),
        "twice the same": (Two(), (a, a), {}, [a]),
        "an output without history": (Constant(), (a,), {}, [a]),
        "a tensor in a list": (Pair(), ([a, b],), {"factor": 2.0}, [a]),
    }


PARTS = list(parts(mg))
USES = {
    "all outputs": lambda outputs: sum((x * x).sum() for x in outputs),
    "the last output": lambda outputs: ([x for x in outputs if x.requires_grad][-1] ** 3).sum(),
}


def backward_hooks(m, name, use, register, twice=False):
    """Return what the hooks see, and the gradients of what is trained."""
    module, args, kwargs, leaves = parts(m)[name]
    seen = []
    handles = register(m, module, seen)
    output = module(*args, **kwargs)
    outputs = [x for x in (output if isinstance(output, tuple) else (output,)) if hasattr(x, "sum")]
    loss = use(outputs)
    for again in range(1 + twice):
        loss.backward(retain_graph=not again and twice)
    for handle in handles:
        handle.remove()
    return plain([seen, [x.grad for x in leaves]])


def watch(m, module, seen):
    return [
        module.register_full_backward_hook(lambda _, inputs, outputs: seen.append(("behind", inputs, outputs))),
        module.register_full_backward_pre_hook(lambda _, outputs: seen.append(("before", outputs))),
    ]


def scaled(gradients, factor):
    return tuple(None if x is None else x * factor for x in gradients)


def change(m, module, seen):
    """Multiply gradients by numbers that tell who came first."""
    return [
        *watch(m, module, seen),
        module.register_full_backward_pre_hook(lambda _, outputs: scaled(outputs, 10.0)),
        module.register_full_backward_hook(lambda _, inputs, outputs: scaled(inputs, 3.0)),
        module.register_full_backward_hook(lambda _, inputs, outputs: seen.append(("first", inputs, outputs)), True),
        module.register_full_backward_pre_hook(lambda _, outputs: seen.append(("first", outputs)), prepend=True),
        *watch(m, module, seen),
    ]


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("register", [watch, change])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.filterwarnings("ignore:Full backward hook is firing when gradients:UserWarning")
def test_hooks_of_backward_are_those_of_pytorch(name, use, register, twice):
    """Hooks see PyTorch's gradients in its order, and what they return goes on as there, at each pass."""
    ours, theirs = (backward_hooks(m, name, USES[use], register, twice) for m in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("name", PARTS)
def test_hooks_of_backward_in_the_specification(name, monkeypatch):
    """The pass that students read gives hooks what the quick one gives them."""
    quick = backward_hooks(mg, name, USES["all outputs"], change, twice=True)
    monkeypatch.setitem(walk.ways, "back", specification.run)
    assert backward_hooks(mg, name, USES["all outputs"], change, twice=True) == quick


def test_hooks_of_backward_on_the_device():
    """Gradients of a module on the device are given to hooks where they are."""
    layer, seen = mg.nn.Linear(2, 1).cuda(), []
    layer.register_full_backward_hook(lambda _, inputs, outputs: seen.append((inputs[0].device, outputs[0].tolist())))
    x = mg.ones(1, 2).to("cuda").requires_grad_()
    layer(x * 1.0).sum().backward()
    assert seen == [("cuda", [[1.0]])]
    assert x.grad.cpu().equal(layer.weight.detach().cpu())


def test_hooks_of_backward_are_differentiated_again():
    """With create_graph a hook's change is part of the gradient's own graph, through which the hook sees again."""
    found = []
    for m in LIBRARIES:
        x = m.tensor([2.0], requires_grad=True)
        part, seen = m.nn.Identity(), []
        part.register_full_backward_hook(lambda _, inputs, outputs, x=x: (inputs[0] * x,))
        part.register_full_backward_hook(lambda *given, seen=seen: seen.append(plain(given[1:])))
        (slope,) = m.autograd.grad((part(x * 1.0) ** 3).sum(), x, create_graph=True)
        (second,) = m.autograd.grad(slope.sum(), x)
        found.append([slope.item(), second.item(), seen])
    assert found[0] == found[1]
    assert found[0][:2] == [24.0, 60.0]  # 3 x**2 * x; its x changed gives 12, and its 3 x**2 gives 24, times x


def test_hooks_of_backward_change_no_value_and_no_other_gradient():
    """The gradient of an input that is used elsewhere, too, is complete; the hook sees this module's part alone."""
    for m in LIBRARIES:
        x = m.tensor([1.0, 2.0], requires_grad=True)
        part, seen = m.nn.ReLU(), []
        part.register_full_backward_hook(lambda _, inputs, outputs, seen=seen: seen.append(plain(inputs)))
        y = part(x) * 2.0 + part(x * 3.0) + x * 5.0
        y.sum().backward()
        assert (plain(y), plain(x.grad), sorted(seen)) == ([10.0, 20.0], [10.0, 10.0], [[[1.0, 1.0]], [[2.0, 2.0]]])


def test_an_output_may_be_changed_in_place_and_an_input_may_not():
    """A change of the output is recorded, where PyTorch refuses it; one of the input inside is refused by both."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    part, seen = mg.nn.Tanh(), []
    part.register_full_backward_hook(lambda _, inputs, outputs: seen.append(plain(outputs)))
    y = part(x)
    y *= x
    y.sum().backward()
    tanh = np.tanh([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), tanh + np.array([1.0, 2.0]) * (1 - tanh**2), rtol=1e-5)
    assert seen == [[[1.0, 2.0]]]

    for m, error in ((mg, mg.errors.GraphError), (torch, RuntimeError)):

        class Changes(m.nn.Module):
            def forward(self, x):
                x *= 2.0
                return x

        module, x = Changes(), m.ones(2, requires_grad=True)
        module.register_full_backward_hook(lambda *_: None)
        with pytest.raises(error):
            module(x * 1.0)


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        (lambda _, inputs, outputs: (), r"gradients of shapes \[\] for inputs whose gradients have shapes \[\(2,\)\]"),
        (lambda _, inputs, outputs: inputs[0].sum(), r"shapes \[\(\)\] for inputs"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(hook, words):
    """A hook that returns too few gradients or other shapes is named, with both shapes."""
    part, x = mg.nn.ReLU(), mg.ones(2, requires_grad=True)
    part.register_full_backward_hook(hook)
    with pytest.raises(ValueError, match=words):
        part(x).sum().backward()
    assert x.grad is None


def test_an_output_that_hooks_cannot_see_is_refused():
    """A dictionary's gradients would go by unseen."""

    class Named(mg.nn.Module):
        def forward(self, x):
            return {"y": x}

    module = Named()
    module.register_full_backward_hook(lambda *_: None)
    with pytest.raises(TypeError, match="Named: hooks of backward need a module that returns a tensor or a tuple"):
        module(mg.ones(2, requires_grad=True))


def test_hooks_of_backward_do_nothing_without_recording():
    """Under no_grad a module with hooks computes what it computed."""
    for m in LIBRARIES:
        part = m.nn.ReLU()
        part.register_full_backward_hook(lambda *_: 1 / 0)
        with m.no_grad():
            y = part(m.ones(2, requires_grad=True))
        assert not y.requires_grad


def test_hooks_of_backward_under_transformations():
    """They are called in gradients and compiled programs, and refused in words where no single gradient comes by."""
    part = mg.nn.Tanh()
    part.register_full_backward_hook(lambda _, inputs, outputs: (inputs[0] * 10.0,))

    def loss(x):
        return part(x * 1.0).sum()

    grad, jit, vmap, jvp = mg.transforms.grad, mg.jit, mg.transforms.vmap, mg.transforms.jvp
    x = mg.tensor([0.5, 1.0])
    wanted = 10.0 * (1.0 - np.tanh(x.numpy()) ** 2)
    for slope in (grad(loss), jit(grad(loss)), grad(jit(loss))):
        np.testing.assert_allclose(slope(x).numpy(), wanted, rtol=1e-5)
    with pytest.raises(mg.errors.BatchingError, match="see no batch of gradients"):
        vmap(grad(loss))(mg.ones(2, 2))
    with pytest.raises(mg.errors.FunctionError, match="are not called in forward mode"):
        jvp(loss, (x,), (x,))


def forward_hooks(m, fails=False):
    """Return what forward's hooks see, with all their options, and the result."""

    class Net(m.nn.Module):
        def forward(self, x, factor=1.0):
            seen.append(("forward", x, factor))
            if fails:
                raise KeyError("on purpose")
            return x * factor

    net, seen = Net(), []

    def note(name, answer=None):
        def hook(module, *given):
            seen.append((name, *given))
            return answer(*given) if answer else None

        return hook

    net.register_forward_pre_hook(note("second", lambda args: args[0] + 1.0))
    net.register_forward_pre_hook(note("first"), prepend=True)
    net.register_forward_pre_hook(
        note("third", lambda args, kwargs: (args, {"factor": kwargs["factor"] * 2.0})), with_kwargs=True
    )
    net.register_forward_pre_hook(note("fourth"), with_kwargs=True)
    net.register_forward_hook(note("second behind", lambda args, output: output + 100.0))
    net.register_forward_hook(note("first behind"), prepend=True, with_kwargs=True)
    net.register_forward_hook(
        note("third behind", lambda args, kwargs, output: output), with_kwargs=True, always_call=True
    )
    with net.register_forward_hook(note("gone")):
        pass
    try:
        result = net(m.tensor([1.0]), factor=3.0)
    except KeyError as error:
        result = str(error)
    return plain([seen, result])


@pytest.mark.parametrize("fails", [False, True])
def test_hooks_of_forward_are_those_of_pytorch(fails):
    """Order, arguments by name, and what is called where forward fails."""
    ours, theirs = (forward_hooks(m, fails) for m in LIBRARIES)
    assert ours == theirs


def test_a_hook_behind_a_failure_hides_it_from_nobody():
    """The error of forward goes on; that of the hook becomes a warning, as in PyTorch."""
    for m in LIBRARIES:
        module = m.nn.Linear(2, 1)
        module.register_forward_hook(lambda *_: 1 / 0, always_call=True)
        with pytest.warns(UserWarning, match="always_call=True"), pytest.raises(TypeError):
            module("text")
    wrong = mg.nn.ReLU()
    wrong.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(TypeError, match="must return None, or a tuple of all arguments and a dictionary"):
        wrong(mg.ones(1))


# --- states and moves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("assign", [False, True])
def test_a_state_of_another_type_is_copied_or_assigned_as_in_pytorch(assign):
    """Types, requires_grad and identity of parameters and buffers behind a load."""
    found = []
    for m in LIBRARIES:
        net, other = network(m), network(m)
        other.double()
        other.seen += 4.0
        net.first.weight.requires_grad_(False)
        old = dict(net.named_parameters(remove_duplicate=False))
        state = other.state_dict()
        net.load_state_dict(state, assign=assign)
        new = dict(net.named_parameters(remove_duplicate=False))
        found.append([(n, str(p.dtype).split(".")[-1], p.requires_grad, p is old[n]) for n, p in new.items()])
        found[-1] += [type(p) is m.nn.Parameter for p in new.values()]
        found[-1] += [(n, str(b.dtype).split(".")[-1], plain(b)) for n, b in net.named_buffers()]
        found[-1] += [net.seen is state["seen"], net.tied.weight is net.first.weight]
    assert found[0] == found[1]


def test_a_state_that_fails_in_the_middle_leaves_nothing_half_loaded():
    """What PyTorch loads before it meets the misfit, minigrad does not, whatever fails."""

    class Broken(dict):
        def __getitem__(self, name):
            if name == "tied.weight":
                raise OSError("the disk is gone")
            return super().__getitem__(name)

    net, other = network(mg), network(mg)
    with mg.no_grad():
        for parameter in other.parameters():
            parameter += 1.0
    before = plain(net.state_dict())
    misfit = other.state_dict() | {"tied.weight": mg.zeros(3)}
    for state, error in ((Broken(other.state_dict()), OSError), (misfit, ValueError)):
        for assign in (False, True):
            with pytest.raises(error):
                net.load_state_dict(state, assign=assign)
            assert plain(net.state_dict()) == before


def test_copies_ask_for_gradients_as_their_originals():
    """A deep copy of a module, or of tensors, keeps classes, requires_grad and what is shared, and no gradients."""
    found = []
    for m in LIBRARIES:
        net = network(m)
        net.first.bias.requires_grad_(False)
        net(m.ones(3, 2)).sum().backward()
        twin = copy.deepcopy(net)
        pairs = zip(net.named_parameters(), twin.named_parameters(), strict=True)
        found.append([(a, q.requires_grad, type(q) is type(p), q is p, plain(q.grad)) for (a, p), (_, q) in pairs])
        found[-1].append(twin.tied.weight is twin.first.weight)
        tensors = [m.ones(1), m.ones(1, requires_grad=True), m.nn.Parameter(m.ones(()), requires_grad=False)]
        found[-1] += [
            (type(x) is type(y), y.requires_grad) for x, y in zip(tensors, copy.deepcopy(tensors), strict=True)
        ]
    assert found[0] == found[1]


MOVES = {
    "a type": lambda m, net: net.to(m.float64),
    "a type by name": lambda m, net: net.to(dtype=m.float64),
    "a device": lambda m, net: net.to("cpu"),
    "both": lambda m, net: net.to("cpu", m.float64),
    "a tensor": lambda m, net: net.to(m.zeros(1, dtype=m.float64)),
    "the CPU": lambda m, net: net.cpu(),
    "double": lambda m, net: net.double(),
    "there and back": lambda m, net: net.double().float(),
    "nothing": lambda m, net: net.to(device=None),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_moves_are_those_of_pytorch(move):
    """Types of parameters, gradients and buffers; parameters stay the same objects, shared ones shared."""
    found = []
    for m in LIBRARIES:
        net = network(m)
        net(m.ones(3, 2)).sum().backward()
        old = list(net.parameters())
        assert move(m, net) is net
        kinds = [(str(p.dtype).split(".")[-1], str(p.grad.dtype).split(".")[-1]) for p in net.parameters()]
        same = [a is b for a, b in zip(old, net.parameters(), strict=True)]
        found.append([kinds, same, [str(b.dtype).split(".")[-1] for b in net.buffers()]])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_a_module_of_whole_numbers_is_refused(dtype):
    """As by PyTorch, and nothing is changed."""
    for m in LIBRARIES:
        net = network(m)
        for move in (
            lambda m, net: net.to(getattr(m, dtype)),
            lambda m, net: net.to(m.ones(1, dtype=getattr(m, dtype))),
        ):
            with pytest.raises(TypeError, match="floating"):
                move(m, net)
        assert "float32" in str(net.scale.dtype)


def test_moves_to_the_device_and_back():
    """`cuda`, with PyTorch's ways to name a device, moves everything, gradients too; another device is refused."""
    net = network(mg)
    net(mg.ones(3, 2)).sum().backward()
    before = plain(net.state_dict())
    with pytest.raises(ValueError, match="there is no device 'tpu'"):
        net.cuda("tpu")
    for move in (net.cuda, lambda: net.cuda(0), lambda: net.cuda("cuda:0")):
        assert move() is net
        assert {x.device for x in (*net.state_dict().values(), *(p.grad for p in net.parameters()))} == {"cuda"}
    net.cpu()
    assert {x.device for x in (*net.state_dict().values(), *(p.grad for p in net.parameters()))} == {"cpu"}
    assert plain(net.state_dict()) == before


def test_methods_take_pytorchs_arguments():
    """Every public method that both have takes each of PyTorch's arguments by its name, in its order."""
    other_names = {"register_parameter": {"param": "parameter"}}
    for name in dir(mg.nn.Module):
        theirs = getattr(torch.nn.Module, name, None)
        if name.startswith("_") or not inspect.isfunction(theirs) or name in ("forward", "to"):
            continue
        wanted = [p for p in inspect.signature(theirs).parameters.values() if p.kind is not p.VAR_POSITIONAL]
        taken = [other_names.get(name, {}).get(p.name, p.name) for p in wanted]
        assert list(inspect.signature(getattr(mg.nn.Module, name)).parameters)[: len(taken)] == taken, name
