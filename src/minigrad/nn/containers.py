"""Modules that hold other modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, overload

from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


class Sequential(Module):
    """A chain of modules. Each one takes the result of the one before it.

    Args:
        *modules: The modules in order, or one dictionary of them. Its keys become their names.

    >>> network = minigrad.nn.Sequential(minigrad.nn.Linear(2, 4), minigrad.nn.ReLU())
    >>> network(minigrad.ones(3, 2)).shape
    (3, 4)
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            named: Iterable[tuple[str, Any]] = modules[0].items()
        else:
            named = ((str(number), module) for number, module in enumerate(modules))
        for name, module in named:
            self.add_module(name, _checked(module, self))

    def forward(self, input: Any) -> Any:
        """Hand the input through all modules.

        >>> minigrad.nn.Sequential(minigrad.nn.ReLU(), minigrad.nn.Flatten())(minigrad.ones(2, 3, 4)).shape
        (2, 12)
        """
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module: Module) -> Sequential:
        """Add a module at the end.

        >>> minigrad.nn.Sequential(minigrad.nn.Linear(2, 4)).append(minigrad.nn.ReLU())
        Sequential(
          (0): Linear(in_features=2, out_features=4, bias=True)
          (1): ReLU()
        )
        """
        self.add_module(_next_name(self), _checked(module, self))
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return Sequential(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[_in_range(index, self)]


class ModuleList(Module):
    """A list of modules, which are registered. A plain list would hide their parameters from training.

    Args:
        modules: The modules.

    >>> layers = minigrad.nn.ModuleList([minigrad.nn.Linear(2, 4), minigrad.nn.Linear(4, 1)])
    >>> len(layers), len(list(layers.parameters()))
    (2, 4)
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end.

        >>> layers = minigrad.nn.ModuleList().append(minigrad.nn.Linear(2, 4))
        >>> layers[0]
        Linear(in_features=2, out_features=4, bias=True)
        """
        self.add_module(_next_name(self), _checked(module, self))
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return ModuleList(list(self._modules.values())[index])
        return list(self._modules.values())[_in_range(index, self)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, list(self._modules)[_in_range(index, self)], _checked(module, self))


class ModuleDict(Module):
    """Modules by name, which are registered.

    Args:
        modules: A dictionary of modules, or pairs of a name and a module.

    >>> heads = minigrad.nn.ModuleDict({"small": minigrad.nn.Linear(4, 1)})
    >>> heads["wide"] = minigrad.nn.Linear(4, 8)
    >>> list(heads.keys()), "wide" in heads
    (['small', 'wide'], True)
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> None:
        super().__init__()
        self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, or put them in the place of those of the same names."""
        for name, module in modules.items() if isinstance(modules, Mapping) else modules:
            self[name] = module

    def keys(self) -> Iterable[str]:
        """Return the names, in order."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """Return the modules, in order."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Return pairs of a name and a module, in order."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Take a module out, and return it."""
        module = self[key]
        del self[key]
        return module

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def __getitem__(self, key: str) -> Module:
        if key not in self._modules:
            raise KeyError(f"ModuleDict has no module {key!r}; it has {', '.join(self._modules) or 'none'}")
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        if key not in self._modules and hasattr(type(self), str(key)):
            raise KeyError(f"ModuleDict: a module cannot be called {key!r}, as that is a method")
        self.add_module(key, _checked(module, self))

    def __delitem__(self, key: str) -> None:
        delattr(self, key)


class ParameterList(Module):
    """A list of parameters, which are registered; tensors become parameters.

    Args:
        values: The parameters.

    >>> scales = minigrad.nn.ParameterList([minigrad.ones(2), minigrad.ones(3)])
    >>> len(scales), [name for name, _ in scales.named_parameters()]
    (2, ['0', '1'])
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.add_parameter(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int) -> Parameter:
        if not -len(self) <= index < len(self):
            raise IndexError(f"ParameterList has {len(self)} parameters, there is no number {index}")
        return list(self._parameters.values())[index]

    def __setitem__(self, index: int, value: Any) -> None:
        name = str(range(len(self))[index])
        setattr(self, name, value if isinstance(value, Parameter) else Parameter(value))


def _checked(module: object, container: Module) -> Module:
    if not isinstance(module, Module):
        kind = module.__name__ if isinstance(module, type) else type(module).__name__
        call = f"; write {kind}(...), which makes one" if isinstance(module, type) else ""
        raise TypeError(f"{type(container).__name__} holds modules, and {kind} is none{call}")
    return module


def _next_name(container: Module) -> str:
    number = len(container._modules)
    while str(number) in container._modules:
        number += 1
    return str(number)


def _in_range(index: int, container: Sequential | ModuleList) -> int:
    if not -len(container) <= index < len(container):
        raise IndexError(f"{type(container).__name__} has {len(container)} modules, there is no number {index}")
    return index
