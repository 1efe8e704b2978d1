"""States of modules: how they fit, and what is said where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor


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


def mismatches(own: Mapping[str, Tensor], given: Mapping[str, Any], names: LoadReport) -> list[str]:
    """Return a sentence for each mismatch of a module's own tensors and those of a state, and for names on one side."""
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


def in_place_of(old: Tensor, new: Tensor) -> Tensor:
    """Return a tensor of a state as what it takes the place of: a parameter is trained as before."""
    if not isinstance(old, Parameter):
        return new
    if not isinstance(new, Parameter):
        return Parameter(new, old.requires_grad)
    return new.requires_grad_(old.requires_grad)
