"""`functional_call`: a module as a function of its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from minigrad.layout import type_name
from minigrad.nn.module import Module
from minigrad.tensors import Tensor


def functional_call(module: Module, parameters: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
    """Call a module with other tensors in place of its parameters and buffers, and leave it as it was.

    So a module is a function of a tree, which `minigrad.transforms` can differentiate and map.

    Args:
        module: The module. It keeps its own parameters, which get no gradients.
        parameters: Tensors by path, ``{"0.weight": ...}`` as from `named_parameters`, or a tree of dicts,
            ``{"0": {"weight": ...}}``. What is left out stays the module's own.
        *args: The arguments of the module. A single tuple holds all of them, as in PyTorch.
        **kwargs: Its arguments by name.

    Returns:
        What the module returns.

    Raises:
        ValueError: If the module has nothing under a path, or a tensor of another shape there.
        TypeError: If something is no tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html

    >>> layer, x = minigrad.nn.Linear(2, 1, bias=False), minigrad.tensor([[1.0, 2.0]])
    >>> weights = {"weight": minigrad.tensor([[3.0, 4.0]])}
    >>> minigrad.nn.functional_call(layer, weights, x)
    tensor([[11.]])
    >>> minigrad.transforms.grad(lambda w: minigrad.nn.functional_call(layer, w, x).sum())(weights)
    {'weight': tensor([[1., 2.]])}
    """
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    with _replaced(module, _by_path(parameters, "")):
        return module(*args, **kwargs)


def _by_path(tree: Any, path: str) -> dict[str, Tensor]:
    """Return the tensors of a tree of dicts by path."""
    if isinstance(tree, Tensor):
        return {path: tree}
    if not isinstance(tree, Mapping):
        place = f"at {path!r}" if path else "as parameters"
        raise TypeError(
            f"functional_call: {type_name(tree)} {place}; give a dict of tensors by path, or a tree of dicts"
        )
    found: dict[str, Tensor] = {}
    for name, value in tree.items():
        found |= _by_path(value, f"{path}.{name}" if path else str(name))
    return found


class _Place(NamedTuple):
    """The place of a parameter or a buffer in a module."""

    registry: dict[str, Any]
    name: str
    owner: Module

    def put(self, tensor: Tensor) -> None:
        """Hold another tensor there; not by assignment, which asks for a Parameter."""
        self.registry[self.name] = self.owner.__dict__[self.name] = tensor


@contextmanager
def _replaced(module: Module, tensors: Mapping[str, Tensor]) -> Iterator[None]:
    """Let tensors stand in a module's places for a while; one that several parts share, in all of them."""
    places = {path: place for path, place, _ in _places(module)}
    own = {path: tensor for path, _, tensor in _places(module)}
    for path, tensor in tensors.items():
        if path not in own:
            have = ", ".join(own) or "none"
            raise ValueError(f"functional_call: {type(module).__name__} has no parameter {path!r}; it has {have}")
        if tuple(own[path].shape) != tuple(tensor.shape):
            raise ValueError(
                f"functional_call: {path!r} has shape {tuple(tensor.shape)}, but the module's has "
                f"{tuple(own[path].shape)}; they must be the same"
            )
    instead = {id(own[path]): tensor for path, tensor in tensors.items()}
    try:
        for path, tensor in own.items():
            if id(tensor) in instead:
                places[path].put(instead[id(tensor)])
        yield
    finally:
        for path, tensor in own.items():
            places[path].put(tensor)


def _places(module: Module) -> Iterator[tuple[str, _Place, Tensor]]:
    """Yield path, place and value of every parameter and buffer, shared ones in each of their places."""
    for path, owner in module.named_modules():
        for registry in (owner._parameters, owner._buffers):
            for name, tensor in registry.items():
                if tensor is not None:
                    yield (f"{path}.{name}" if path else name), _Place(registry, name, owner), tensor
