"""The tree of modules that hold tensors: the `Module` of the first lesson, and a library's other methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from minigrad import autodiff
from minigrad import module as plain
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor

__all__ = ["Hook", "LoadReport", "Module"]

_Self = TypeVar("_Self", bound="Module")
_T = TypeVar("_T")


class LoadReport(NamedTuple):
    """The paths that `Module.load_state_dict` missed, on either side.

    Attributes:
        missing_keys: Names that the module has and the state has not.
        unexpected_keys: Names that the state has and the module has not.

    >>> layer = minigrad.nn.Linear(2, 1)
    >>> layer.load_state_dict({"weight": minigrad.zeros(1, 2)}, strict=False).missing_keys
    ['bias']
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"LoadReport(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module(plain.Module):
    """A part of a network: computes an output from parameters of its own and of the modules inside it.

    Assigning a `Parameter` or a `Module` to an attribute registers it by that name; `register_buffer` registers a
    tensor that is saved with the module but not trained. `train`, `eval`, `named_parameters` and `parameters` run the
    methods of `minigrad.module.Module`, which a student may have written.

    Attributes:
        training: Whether this node is in training mode (as opposed to evaluation mode).

    >>> class Twice(minigrad.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = minigrad.nn.Linear(3, 3)
    ...
    ...     def forward(self, input):
    ...         return self.layer(self.layer(input))
    ...
    >>> Twice()(minigrad.ones(5, 3)).shape
    (5, 3)
    """

    _modules: dict[str, Module]  # type: ignore[assignment]  # a tree of tensors holds no modules of Scalars
    _parameters: dict[str, Parameter]  # type: ignore[assignment]
    _buffers: dict[str, Tensor]

    def __init__(self) -> None:
        # First, and through __dict__: setting an attribute looks them up.
        self.__dict__.update(_buffers={}, _unsaved=set())
        super().__init__()

    def __setattr__(self, name: str, value: object) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}.__init__ must call super().__init__() before it sets {name!r}")
        registry = self._registry_for(name, value)
        for other in (self._parameters, self._modules, self._buffers):
            if other is not registry:
                other.pop(name, None)
        if registry is None:
            self.__dict__.pop(name, None)
            object.__setattr__(self, name, value)  # so that a property keeps its setter
        else:
            registry[name] = value  # in its old place, if it has one: Sequential goes by the order
            self.__dict__[name] = value  # where Python finds it without asking __getattr__

    def _registry_for(self, name: str, value: object) -> dict[str, Any] | None:
        """Return the registry that a value belongs to, or None for an ordinary attribute."""
        if isinstance(value, Parameter):
            return self._parameters
        if isinstance(value, Module):
            return self._modules
        if isinstance(value, plain.Module | plain.Parameter):
            raise TypeError(
                f"{type(self).__name__}.{name}: a {type(value).__module__}.{type(value).__name__} holds Scalars, and "
                "cannot be part of a module of tensors; use minigrad.nn"
            )
        if isinstance(value, Tensor) and name in self._parameters:
            raise TypeError(
                f"{type(self).__name__}.{name} is a parameter, and a {type(value).__name__} is none: assign "
                "nn.Parameter(tensor), or copy the values under no_grad()"
            )
        return self._buffers if isinstance(value, Tensor) and name in self._buffers else None

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._modules, self._buffers):
            registry.pop(name, None)
        object.__delattr__(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output: a module is called like a function. Hooks see what goes in and comes out."""
        hooks = self.__dict__.get("_hooks")
        if not hooks:
            return self.forward(*args, **kwargs)
        for _, hook in [pair for pair in hooks.values() if pair[0] == "before"]:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        output = self.forward(*args, **kwargs)
        for _, hook in [pair for pair in hooks.values() if pair[0] == "behind"]:
            changed = hook(self, args, output)
            output = output if changed is None else changed
        return output

    def register_forward_hook(self, hook: Callable[[Any, Any, Any], Any]) -> Hook:
        """Call a function with the module, its arguments and its output after each call.

        Args:
            hook: What it returns, if it is not None, takes the place of the output.

        Returns:
            A handle with ``remove()``.

        >>> layer, shapes = minigrad.nn.Linear(2, 1), []
        >>> handle = layer.register_forward_hook(lambda module, args, output: shapes.append(output.shape))
        >>> _ = layer(minigrad.ones(5, 2))
        >>> handle.remove()
        >>> shapes
        [(5, 1)]
        """
        return Hook(self, "behind", hook)

    def register_forward_pre_hook(self, hook: Callable[[Any, Any], Any]) -> Hook:
        """Call a function with the module and its arguments before each call.

        Args:
            hook: What it returns, if it is not None, takes the place of the arguments.

        Returns:
            A handle with ``remove()``.

        >>> layer = minigrad.nn.Identity()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: args[0] * 2.0)
        >>> layer(minigrad.ones(2))
        tensor([2., 2.])
        """
        return Hook(self, "before", hook)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Register a parameter under a name. None notes that there is none, as for a layer without bias.

        >>> layer = minigrad.nn.Linear(2, 1, bias=False)
        >>> layer.bias is None, [name for name, _ in layer.named_parameters()]
        (True, ['weight'])
        """
        self._check_name(name)
        setattr(self, name, parameter)

    def add_parameter(self, name: str, value: object) -> Parameter:  # type: ignore[override]
        """Register a parameter under a name made at run time, such as ``"weight_0"``.

        >>> network = minigrad.nn.Module()
        >>> weight = network.add_parameter("weight_0", minigrad.zeros(2))
        >>> [name for name, _ in network.named_parameters()]
        ['weight_0']
        """
        parameter = value if isinstance(value, Parameter) else Parameter(value)
        self.register_parameter(name, parameter)
        return parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the module's state and is not trained.

        Args:
            name: The attribute.
            tensor: The buffer. None notes that there is none.
            persistent: Whether `state_dict` holds it.

        >>> network = minigrad.nn.Module()
        >>> network.register_buffer("mean", minigrad.zeros(2))
        >>> list(network.state_dict()), list(network.parameters())
        (['mean'], [])
        """
        self._check_name(name)
        setattr(self, name, tensor)
        if tensor is not None:
            self._buffers[name] = tensor
        (self._unsaved.discard if persistent else self._unsaved.add)(name)

    def add_module(self, name: str, module: Module) -> None:
        """Register a child under a name made at run time.

        >>> network = minigrad.nn.Module()
        >>> network.add_module("layer0", minigrad.nn.ReLU())
        >>> network.layer0
        ReLU()
        """
        self._check_name(name)
        setattr(self, name, module)

    def _check_name(self, name: object) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise ValueError(f"{type(self).__name__}: {name!r} cannot name a part: a name is not empty and has no '.'")

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the direct children with their names.

        >>> network = minigrad.nn.Sequential(minigrad.nn.Linear(2, 4), minigrad.nn.ReLU())
        >>> [name for name, _ in network.named_children()]
        ['0', '1']
        """
        yield from _once(self._modules.items())

    def children(self) -> Iterator[Module]:
        """Yield the direct children.

        >>> list(minigrad.nn.Sequential(minigrad.nn.ReLU(), minigrad.nn.Tanh()).children())
        [ReLU(), Tanh()]
        """
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Yield this module and all its descendants with their paths, each once, parents before children.

        >>> inner = minigrad.nn.Sequential(minigrad.nn.ReLU())
        >>> [name for name, _ in minigrad.nn.Sequential(inner).named_modules()]
        ['', '0', '0.0']
        """
        return _once(self._paths(prefix))

    def _paths(self, prefix: str) -> Iterator[tuple[str, Module]]:
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            yield path, module
            inside = f"{path}." if path else ""
            stack += [(inside + name, child) for name, child in reversed(module._modules.items())]

    def modules(self) -> Iterator[Module]:  # type: ignore[override]  # there, the children alone
        """Yield this module and all its descendants, each once, parents before children.

        >>> inner = minigrad.nn.Sequential(minigrad.nn.ReLU())
        >>> len(list(minigrad.nn.Sequential(inner).modules()))
        3
        """
        return (module for _, module in self.named_modules())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:  # type: ignore[override]  # PyTorch's iterator
        """Yield all parameters with their paths, such as ``"layer1.weight"``, each once, own ones first.

        >>> network = minigrad.nn.Sequential(minigrad.nn.Linear(2, 4), minigrad.nn.ReLU())
        >>> [name for name, _ in network.named_parameters()]
        ['0.weight', '0.bias']
        """
        return _once(self._as_plain(deep=True).named_parameters())  # type: ignore[arg-type]

    def parameters(self) -> Iterator[Parameter]:  # type: ignore[override]
        """Yield all parameters, each once, in the order of `named_parameters`.

        >>> [parameter.shape for parameter in minigrad.nn.Linear(2, 4).parameters()]
        [(4, 2), (4,)]
        """
        return (parameter for _, parameter in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their paths, each once.

        >>> [name for name, _ in minigrad.nn.BatchNorm1d(2).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return _once((name, buffer) for name, _, buffer, _ in self._state() if not isinstance(buffer, Parameter))

    def buffers(self) -> Iterator[Tensor]:
        """Yield all buffers, each once.

        >>> list(minigrad.nn.Linear(2, 4).buffers())
        []
        """
        return (buffer for _, buffer in self.named_buffers())

    def _state(self) -> Iterator[tuple[str, Module, Tensor, bool]]:
        """Yield path, owner and value of every parameter and buffer, and whether it is saved."""
        for path, module in self._paths(""):
            inside = f"{path}." if path else ""
            for registry in (module._parameters, module._buffers):
                for name, tensor in registry.items():
                    yield inside + name, module, tensor, name not in module._unsaved

    def _as_plain(self, deep: bool = False) -> plain.Module:
        """Return this node as the first lesson knows it, where `modules()` gives the children alone.

        Args:
            deep: Whether its descendants are shown in that way, too. Otherwise the children are themselves.
        """
        node = plain.Module.__new__(plain.Module)
        children = {name: child._as_plain(deep) if deep else child for name, child in self._modules.items()}
        node.__dict__.update(_modules=children, _parameters=self._parameters, training=self.training)
        return node

    def train(self: _Self, mode: bool = True) -> _Self:  # type: ignore[override]
        """Put this module and all its descendants into training mode, or with mode=False into evaluation mode.

        >>> layer = minigrad.nn.Dropout()
        >>> layer.train(False).training
        False
        """
        node = self._as_plain()
        if mode:
            node.train()
        else:
            node.eval()
        self.training = node.training
        return self

    def eval(self: _Self) -> _Self:  # type: ignore[override]
        """Put this module and all its descendants into evaluation mode.

        >>> network = minigrad.nn.Sequential(minigrad.nn.Dropout())
        >>> network.eval()[0].training
        False
        """
        return self.train(False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient of every parameter, or with set_to_none=False fill it with zeros.

        >>> layer = minigrad.nn.Linear(2, 1)
        >>> layer(minigrad.ones(1, 2)).sum().backward()
        >>> layer.zero_grad()
        >>> layer.weight.grad is None
        True
        """
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.detach().zero_()

    def requires_grad_(self: _Self, requires_grad: bool = True) -> _Self:
        """Set for every parameter whether training computes its gradient. False freezes the module.

        >>> layer = minigrad.nn.Linear(2, 1).requires_grad_(False)
        >>> layer.weight.requires_grad
        False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def apply(self: _Self, fn: Callable[[Module], object]) -> _Self:
        """Call fn on every descendant, then on this module, for example to initialise weights.

        >>> def set_to_zero(module):
        ...     if isinstance(module, minigrad.nn.Linear):
        ...         minigrad.nn.init.zeros_(module.weight)
        ...
        >>> minigrad.nn.Linear(2, 1).apply(set_to_zero).weight.tolist()
        [[0.0, 0.0]]
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self: _Self, *args: object, **kwargs: object) -> _Self:
        """Move all parameters and buffers to a device, or give the floating ones another dtype.

        The arguments are those of `Tensor.to`. Parameters stay the same objects, so that an optimizer keeps them.

        >>> minigrad.nn.Linear(2, 1).to(minigrad.float64).weight.dtype
        dtype('float64')
        """
        with autodiff.no_grad():
            for each in self.modules():
                for registry in (each._parameters, each._buffers):
                    for tensor in registry.values():
                        _move(tensor, args, kwargs)
        return self

    def double(self: _Self) -> _Self:
        """Give all floating parameters and buffers dtype float64.

        >>> minigrad.nn.Linear(2, 1).double().weight.dtype
        dtype('float64')
        """
        return self.to("float64")

    def float(self: _Self) -> _Self:
        """Give all floating parameters and buffers dtype float32.

        >>> minigrad.nn.Linear(2, 1).double().float().weight.dtype
        dtype('float32')
        """
        return self.to("float32")

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return all parameters and saved buffers by path, detached, sharing memory with the module.

        >>> {path: tensor.shape for path, tensor in minigrad.nn.Linear(2, 1).state_dict().items()}
        {'weight': (1, 2), 'bias': (1,)}
        """
        return {prefix + path: tensor.detach() for path, _, tensor, saved in self._state() if saved}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> LoadReport:
        """Copy values into parameters and buffers, converted to their dtype and device.

        Args:
            state_dict: Tensors by path, as `state_dict` returns them.
            strict: Whether names that are missing on either side are an error.

        Raises:
            ValueError: If names or shapes do not match. Nothing is changed then.

        >>> old, new = minigrad.nn.Linear(2, 1), minigrad.nn.Linear(2, 1)
        >>> report = new.load_state_dict(old.state_dict())
        >>> new.weight.equal(old.weight), report.missing_keys
        (True, [])
        """
        own = {path: tensor for path, _, tensor, saved in self._state() if saved}
        report = LoadReport([n for n in own if n not in state_dict], [n for n in state_dict if n not in own])
        problems = _mismatches(own, state_dict, report if strict else LoadReport([], []))
        if problems:
            raise ValueError(f"{type(self).__name__}.load_state_dict: {'; '.join(problems)}")
        with autodiff.no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return report

    def extra_repr(self) -> str:
        """Return the text between the parentheses of a printed module. Every subclass writes its own.

        >>> minigrad.nn.Linear(2, 1).extra_repr()
        'in_features=2, out_features=1, bias=True'
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): {child!r}" for name, child in self._modules.items()]
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "\n".join(filter(None, [extra, *lines])).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {body}\n)"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._modules, *self._buffers})


class Hook:
    """A function that a module calls, until `remove`.

    Args:
        module: The module.
        when: "before" or "behind" its forward.
        function: The function.
    """

    def __init__(self, module: Module, when: str, function: Callable[..., Any]) -> None:
        self._hooks: dict[Hook, Any] = module.__dict__.setdefault("_hooks", {})
        self._hooks[self] = (when, function)

    def remove(self) -> None:
        """Call the function no more."""
        self._hooks.pop(self, None)


def _once(named: Iterable[tuple[str, _T]]) -> Iterator[tuple[str, _T]]:
    """Yield each object under the first of its names."""
    yielded: set[int] = set()
    for name, value in named:
        if id(value) not in yielded:
            yielded.add(id(value))
            yield name, value


def _mismatches(own: Mapping[str, Tensor], given: Mapping[str, Any], names: LoadReport) -> list[str]:
    """Raise an error that names the mismatches of a state."""
    problems = []
    if names.missing_keys:
        problems.append(f"the state lacks {', '.join(names.missing_keys)}")
    if names.unexpected_keys:
        problems.append(f"the module has no {', '.join(names.unexpected_keys)}")
    for name, tensor in own.items():
        if name not in given:
            continue
        if not isinstance(given[name], Tensor):
            problems.append(f"{name} is a {type(given[name]).__name__}, not a Tensor")
        elif tuple(given[name].shape) != tuple(tensor.shape):
            problems.append(f"{name} has shape {tuple(given[name].shape)} in the state, {tuple(tensor.shape)} here")
    return problems


def _move(tensor: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Give a tensor, which stays the same object, an array on another device or of another dtype."""
    dtypes = [x for x in (*args, kwargs.get("dtype")) if _is_floating(x)]
    if dtypes and tensor.dtype.kind != "f":
        return
    for part in (tensor, tensor.grad):
        if part is not None:
            part._array = part.detach().to(*args, **kwargs)._array


def _is_floating(x: Any) -> bool:
    try:
        return x is not None and np.dtype(x).kind == "f"
    except TypeError:  # a device
        return False
