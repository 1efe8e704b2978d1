"""Modules: a tree of parts, each with its parameters, that can be trained or evaluated as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Module", "Parameter"]


class Parameter:
    """A value that training may change.

    Args:
        value: The value, usually a `Scalar`; it is asked to require gradients where it can.
        name: A name for printing.

    >>> weight = minigrad.module.Parameter(minigrad.Scalar(2.0), name="weight")
    >>> weight.value.data, weight.name
    (2.0, 'weight')
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.name = name
        self.update(value)

    def update(self, value: Any) -> None:
        """Replace the value.

        >>> weight = minigrad.module.Parameter(minigrad.Scalar(2.0))
        >>> weight.update(minigrad.Scalar(5.0))
        >>> weight.value.data
        5.0
        """
        self.value = value
        if hasattr(value, "requires_grad_"):
            value.requires_grad_(True)
            if self.name:
                value.name = self.name

    def __repr__(self) -> str:
        return f"Parameter({self.value!r})"


class Module:
    """A node in a tree of modules.

    Assigning a `Module` or a `Parameter` to an attribute registers it as a child of
    this node, by that name.

    Attributes:
        training: Whether this node is in training mode (as opposed to evaluation mode).
    """

    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]
    training: bool

    def __init__(self) -> None:
        # Through __dict__, because our own __setattr__ below looks these two up.
        self.__dict__["_modules"] = {}
        self.__dict__["_parameters"] = {}
        self.training = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_modules" not in self.__dict__:
            init = f"{type(self).__name__}.__init__"
            message = f"{init} must call super().__init__() before it sets {name!r}"
            raise AttributeError(message)
        for registry in (self._modules, self._parameters):
            registry.pop(name, None)
        self.__dict__.pop(name, None)
        if isinstance(value, Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            super().__setattr__(name, value)  # so that a property keeps its setter

    def __getattr__(self, name: str) -> Any:
        # Called only when the ordinary look-up in __dict__ has failed.
        for registry in ("_parameters", "_modules"):
            if name in self.__dict__.get(registry, {}):
                return self.__dict__[registry][name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output: a module is called like a function."""
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output; every subclass writes its own."""
        name = type(self).__name__
        raise TypeError(f"{name} does not define forward(), so it cannot be called")

    def add_parameter(self, name: str, value: Any) -> Parameter:
        """Register a parameter under a name made at run time, like ``"weight_0"``."""
        parameter = Parameter(value, name)
        self._parameters[name] = parameter
        return parameter

    def modules(self) -> Sequence[Module]:
        """Return the direct children."""
        return list(self._modules.values())

    def train(self) -> None:
        """Put this node and all its descendants into training mode."""
        ### BEGIN SOLUTION
        self.training = True
        for module in self.modules():
            module.train()
        ### END SOLUTION

    def eval(self) -> None:
        """Put this node and all its descendants into evaluation mode."""
        ### BEGIN SOLUTION
        self.training = False
        for module in self.modules():
            module.eval()
        ### END SOLUTION

    def named_parameters(self) -> Sequence[tuple[str, Parameter]]:
        """Return all parameters of this node and its descendants with their names.

        Returns:
            Pairs of name and parameter, own parameters first. The name of a
            descendant's parameter is its path: the weight of child ``layer1`` is
            ``"layer1.weight"``.
        """
        ### BEGIN SOLUTION
        named = list(self._parameters.items())
        for child, module in self._modules.items():
            named += [(f"{child}.{name}", parameter) for name, parameter in module.named_parameters()]
        return named
        ### END SOLUTION

    def parameters(self) -> Sequence[Parameter]:
        """Return all parameters from here down, in the order of `named_parameters`."""
        ### BEGIN SOLUTION
        return [parameter for _, parameter in self.named_parameters()]
        ### END SOLUTION

    def zero_grad(self) -> None:
        """Forget every parameter's gradient: the next backward pass starts afresh."""
        for parameter in self.parameters():
            parameter.value.grad = None

    def __repr__(self) -> str:
        nested = [(name, repr(child)) for name, child in self._modules.items()]
        lines = [f"  ({name}): " + text.replace("\n", "\n  ") for name, text in nested]
        head = f"{type(self).__name__}("
        return "\n".join([head, *lines, ")"]) if lines else head + ")"
