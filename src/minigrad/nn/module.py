"""The tree of modules that hold tensors: the `Module` of the first lesson, and a library's other methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from minigrad import autodiff
from minigrad import module as plain
from minigrad.machine.missing import left_out, missing
from minigrad.nn.hooks import Hook, call_with_hooks
from minigrad.nn.parameter import Parameter
from minigrad.nn.states import LoadReport, in_place_of, mismatches
from minigrad.tensors import Tensor
from minigrad.tensors.inplace import refuse_from_outside

_Self = TypeVar("_Self", bound="Module")
_T = TypeVar("_T")


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

    if not TYPE_CHECKING:  # of `minigrad.module`, for mypy

        def __getattr__(self, name: str) -> Any:
            if name in self.__dict__:  # asked by hand: module.__getattr__("layer_1")
                return self.__dict__[name]
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property that has failed: with its own error
            if name.startswith("_"):
                return super().__getattr__(name)
            if f"minigrad.nn.Module.{name}" in left_out():
                raise missing("minigrad.nn.Module", name, self)
            near = get_close_matches(name, [n for n in dir(self) if n[0] != "_"], n=2)
            meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{meant}")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._modules, self._buffers):
            registry.pop(name, None)
        object.__delattr__(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output: a module is called like a function. Hooks see what goes in and comes out."""
        hooks = self.__dict__.get("_hooks")
        if not hooks:
            return self.forward(*args, **kwargs)
        return call_with_hooks(self, tuple(hooks), args, kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Hook:
        """Call a function with the module, its arguments and its output after each call.

        Args:
            hook: What it returns, if it is not None, takes the place of the output.
            prepend: Whether to call it before the hooks that are there.
            with_kwargs: Whether to give it the arguments by name, too, in front of the output.
            always_call: Whether to call it also where forward fails, with None for the output.

        Returns:
            A handle with ``remove()``.

        >>> layer, shapes = minigrad.nn.Linear(2, 1), []
        >>> handle = layer.register_forward_hook(lambda module, args, output: shapes.append(output.shape))
        >>> _ = layer(minigrad.ones(5, 2))
        >>> handle.remove()
        >>> shapes
        [(5, 1)]
        """
        return Hook(self, "behind", hook, prepend, with_kwargs, always_call)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Hook:
        """Call a function with the module and its arguments before each call.

        Args:
            hook: What it returns, if it is not None, takes the place of the arguments.
            prepend: Whether to call it before the hooks that are there.
            with_kwargs: Whether to give it the arguments by name, too. It then returns None, or both.

        Returns:
            A handle with ``remove()``.

        >>> layer = minigrad.nn.Identity()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: args[0] * 2.0)
        >>> layer(minigrad.ones(2))
        tensor([2., 2.])
        """
        return Hook(self, "before", hook, prepend, with_kwargs)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Hook:
        """Call a function with the gradients of inputs and outputs, when a backward pass has come through a call.

        Args:
            hook: Takes the module, a tuple of the gradients of its inputs and one of those of its outputs, with None
                for what has none. What it returns, if it is not None, takes the place of the inputs' gradients.
                Arguments by name are not among the inputs, nor are tensors inside lists.
            prepend: Whether to call it before the hooks that are there.

        Returns:
            A handle with ``remove()``.

        >>> layer = minigrad.nn.Linear(2, 1)
        >>> handle = layer.register_full_backward_hook(lambda module, inputs, outputs: print(outputs))
        >>> layer(minigrad.ones(1, 2)).sum().backward()
        (tensor([[1.]]),)
        """
        return Hook(self, "behind backward", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Hook:
        """Call a function with the gradients of the outputs, before a backward pass goes through a call.

        Args:
            hook: Takes the module and a tuple of the gradients of its outputs. What it returns, if it is not None,
                takes their place.
            prepend: Whether to call it before the hooks that are there.

        Returns:
            A handle with ``remove()``.

        >>> layer, x = minigrad.nn.Identity(), minigrad.ones(2, requires_grad=True)
        >>> handle = layer.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 10.0,))
        >>> layer(x).sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        return Hook(self, "before backward", hook, prepend)

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

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all its descendants with their paths, parents before children.

        Args:
            memo: Modules to leave out, with what is in them; those that are yielded are added.
            prefix: The path of this module.
            remove_duplicate: Whether a module that has several paths is yielded once, by the first of them.

        >>> inner = minigrad.nn.Sequential(minigrad.nn.ReLU())
        >>> [name for name, _ in minigrad.nn.Sequential(inner).named_modules()]
        ['', '0', '0.0']
        """
        return self._paths(prefix, (set() if memo is None else memo) if remove_duplicate else None)

    def _paths(self, prefix: str = "", memo: set[Module] | None = None) -> Iterator[tuple[str, Module]]:
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if memo is not None:
                if module in memo:
                    continue
                memo.add(module)
            yield path, module
            stack += [(_path(path, name), child) for name, child in reversed(module._modules.items())]

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:  # type: ignore[override]  # there, children
        """Yield this module and all its descendants, each once unless told otherwise, parents before children.

        >>> inner = minigrad.nn.Sequential(minigrad.nn.ReLU())
        >>> len(list(minigrad.nn.Sequential(inner).modules()))
        3
        """
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_parameters(  # type: ignore[override]  # PyTorch's iterator
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with their paths, such as ``"layer1.weight"``, own ones first.

        Args:
            prefix: The path of this module.
            recurse: Whether to yield those of its descendants, too.
            remove_duplicate: Whether a parameter that has several paths is yielded once, by the first of them.

        >>> network = minigrad.nn.Sequential(minigrad.nn.Linear(2, 4), minigrad.nn.ReLU())
        >>> [name for name, _ in network.named_parameters()]
        ['0.weight', '0.bias']
        """
        inside: Any = self._as_plain(deep=True).named_parameters() if recurse else self._parameters.items()
        named = ((_path(prefix, name), parameter) for name, parameter in inside)
        return _once(named) if remove_duplicate else named

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:  # type: ignore[override]
        """Yield all parameters, each once, in the order of `named_parameters`; or this module's own alone.

        >>> [parameter.shape for parameter in minigrad.nn.Linear(2, 4).parameters()]
        [(4, 2), (4,)]
        """
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their paths; the arguments are those of `named_parameters`.

        >>> [name for name, _ in minigrad.nn.BatchNorm1d(2).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        parts = self._paths(prefix) if recurse else [(prefix, self)]
        named = ((_path(path, name), buffer) for path, part in parts for name, buffer in part._buffers.items())
        return _once(named) if remove_duplicate else named

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers, each once; or this module's own alone."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module at a path; an empty path is that of this module.

        Raises:
            AttributeError: If there is none.

        >>> minigrad.nn.Sequential(minigrad.nn.Sequential(minigrad.nn.ReLU())).get_submodule("0.0")
        ReLU()
        """
        module, path = self, ""
        for name in target.split(".") if target else []:
            module = _part(module._modules, "module", target, name, path, module)
            path = _path(path, name)
        return module

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a path.

        Raises:
            AttributeError: If there is none.

        >>> minigrad.nn.Sequential(minigrad.nn.Linear(2, 4)).get_parameter("0.weight").shape
        (4, 2)
        """
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        return _part(owner._parameters, "parameter", target, name, path, owner)

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a path.

        Raises:
            AttributeError: If there is none.

        >>> minigrad.nn.Sequential(minigrad.nn.BatchNorm1d(2)).get_buffer("0.running_mean").tolist()
        [0.0, 0.0]
        """
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        return _part(owner._buffers, "buffer", target, name, path, owner)

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a path, perhaps in the place of another one.

        Args:
            target: The path. Its last name alone may be new.
            module: The module.
            strict: Whether there must be a module at the path already.

        Raises:
            AttributeError: If there is no module where the path leads through, or with strict at its end.

        >>> network = minigrad.nn.Sequential(minigrad.nn.Linear(2, 4), minigrad.nn.ReLU())
        >>> network.set_submodule("1", minigrad.nn.Tanh())
        >>> network[1]
        Tanh()
        """
        if strict:
            self.get_submodule(target)
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__}.set_submodule: {target!r} is to be a module, got {module!r}")
        self.get_submodule(path).add_module(name, module)

    def _state(self, prefix: str = "") -> Iterator[tuple[str, Module, str, Tensor]]:
        """Yield path, owner, name and value of every parameter and buffer that is saved."""
        for path, module in self._paths():
            for registry in (module._parameters, module._buffers):
                for name, tensor in registry.items():
                    if name not in module._unsaved:
                        yield prefix + _path(path, name), module, name, tensor

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

    def to(self: _Self, *args: Any, **kwargs: Any) -> _Self:
        """Move all parameters and buffers to a device, or give the floating ones another dtype.

        The arguments are those of `Tensor.to`. Parameters stay the same objects, so that an optimizer keeps them.

        Raises:
            TypeError: If the dtype is none of floating numbers.

        >>> minigrad.nn.Linear(2, 1).to(minigrad.float64).weight.dtype
        dtype('float64')
        """
        # A tensor of one element tells what device and dtype are asked for, and whether there are such.
        like = Tensor(np.zeros(1, np.float32)).to(*args, **kwargs)
        if like.dtype.kind != "f":
            raise TypeError(
                f"{type(self).__name__}.to: {like.dtype} is no floating type; a module computes in float32 or float64"
            )
        has_dtype = like.dtype == Tensor(np.zeros(1, np.float64)).to(*args, **kwargs).dtype
        with autodiff.no_grad():
            for each in self.modules():
                for registry in (each._parameters, each._buffers):
                    for tensor in registry.values():
                        _move(tensor, args, kwargs, has_dtype)
        return self

    def cpu(self: _Self) -> _Self:
        """Move all parameters and buffers to the CPU.

        >>> minigrad.nn.Linear(2, 1).cpu().weight.device
        'cpu'
        """
        return self.to(device="cpu")

    def cuda(self: _Self, device: int | str | None = None) -> _Self:
        """Move all parameters and buffers to the CUDA device.

        Args:
            device: Of PyTorch: the number of a device, or its name. There is one.
        """
        return self.to(device=device if isinstance(device, str) else "cuda")

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

    def state_dict(
        self, *, destination: dict[str, Tensor] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Tensor]:
        """Return all parameters and saved buffers by path, detached, sharing memory with the module.

        Args:
            destination: A dictionary to put them into, and to return. None makes one.
            prefix: What every path begins with.
            keep_vars: Whether to return the parameters and buffers themselves.

        >>> {path: tensor.shape for path, tensor in minigrad.nn.Linear(2, 1).state_dict().items()}
        {'weight': (1, 2), 'bias': (1,)}
        """
        state = {} if destination is None else destination
        for path, _, _, tensor in self._state(prefix):
            state[path] = tensor if keep_vars else tensor.detach()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> LoadReport:
        """Copy values into parameters and buffers, converted to their dtype and device.

        Args:
            state_dict: Tensors by path, as `state_dict` returns them.
            strict: Whether names that are missing on either side are an error.
            assign: Whether the state's tensors take the places of parameters and buffers, in their own dtype and on
                their own device, instead of being copied. An optimizer that was made before keeps the old ones, and
                a parameter with several paths becomes several.

        Raises:
            ValueError: If names or shapes do not match. Nothing is changed then.

        >>> old, new = minigrad.nn.Linear(2, 1), minigrad.nn.Linear(2, 1)
        >>> report = new.load_state_dict(old.state_dict())
        >>> new.weight.equal(old.weight), report.missing_keys
        (True, [])
        """
        own = {path: tensor for path, _, _, tensor in self._state()}
        given = {path: state_dict[path] for path in own if path in state_dict}
        report = LoadReport([n for n in own if n not in given], [n for n in state_dict if n not in own])
        problems = mismatches(own, given, report if strict else LoadReport([], []))
        if problems:
            raise ValueError(f"{type(self).__name__}.load_state_dict: {'; '.join(problems)}")
        with autodiff.no_grad():
            for path, owner, name, tensor in list(self._state()):
                if path in given and assign:
                    setattr(owner, name, in_place_of(tensor, given[path]))
                elif path in given:
                    tensor.copy_(given[path])
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
        registries = (self.__dict__.get(name, ()) for name in ("_parameters", "_modules", "_buffers"))
        return sorted({*super().__dir__(), *(name for registry in registries for name in registry)})


def _path(prefix: str, name: str) -> str:
    """Return the path of a part inside a module that has a path, or none."""
    return f"{prefix}.{name}" if prefix else name


def _part(registry: Mapping[str, _T], what: str, target: str, name: str, path: str, owner: Module) -> _T:
    """Return what has a name in a module, or raise an error that says where the path ends."""
    if name in registry:
        return registry[name]
    where = f"{path!r} is a {type(owner).__name__}" if path else f"{type(owner).__name__} is one"
    have = ", ".join(map(repr, registry)) or "none"
    raise AttributeError(f"there is no {what} {target!r}: {where} without {name!r}; its {what}s are {have}")


def _once(named: Iterable[tuple[str, _T]]) -> Iterator[tuple[str, _T]]:
    """Yield each object under the first of its names."""
    yielded: set[int] = set()
    for name, value in named:
        if id(value) not in yielded:
            yielded.add(id(value))
            yield name, value


def _move(tensor: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any], has_dtype: bool) -> None:
    """Give a tensor, which stays the same object, an array on another device or of another dtype."""
    if has_dtype and tensor.dtype.kind != "f":
        return
    for part in (tensor, tensor.grad):
        if part is not None:
            refuse_from_outside(part, "to")
            part._array = part.detach().to(*args, **kwargs)._array
