"""The base of all optimizers: groups of parameters with their settings, and the state of each parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from minigrad.tensors import Tensor
from minigrad.tensors.inplace import refuse_from_outside

__all__ = ["Optimizer"]

Group = dict[str, Any]


class Optimizer:
    """Changes parameters by their gradients.

    Args:
        params: The parameters, or dictionaries, each with ``"params"`` and settings for them.
        defaults: The settings of groups that do not have their own.

    Attributes:
        param_groups: The groups: dictionaries of settings, with the list of parameters under ``"params"``.
        state: For each parameter, the optimizer's memory of it.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
    >>> optimizer.param_groups[0]["lr"]
    0.1
    """

    def __init__(self, params: Iterable[Tensor] | Iterable[Group], defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        if isinstance(params, Tensor):
            raise TypeError(f"{type(self).__name__}: params is one Tensor; give a list, [tensor]")
        listed = _listed(params, type(self).__name__)
        for group in listed if isinstance(listed[0], dict) else [{"params": listed}]:
            self.add_param_group(group)

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Add parameters with settings of their own.

        Args:
            group: The parameters under ``"params"``, and settings that differ from the defaults.

        Raises:
            TypeError: If a parameter is no Tensor.
            ValueError: If a parameter is no leaf, is in another group already, or a setting is unknown or out of range.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
        >>> optimizer.add_param_group({"params": [minigrad.zeros(3, requires_grad=True)], "lr": 0.01})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.01]
        """
        name = type(self).__name__
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        unknown = [key for key in group if key not in self.defaults and key != "params"]
        if unknown:
            raise ValueError(f"{name} has no setting {', '.join(unknown)}; it has {', '.join(self.defaults)}")
        known = {id(p) for other in self.param_groups for p in other["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"{name} trains tensors, got a {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError(f"{name} trains leaves, and the tensor of shape {tuple(p.shape)} is a result")
            if id(p) in known:
                raise ValueError(f"{name}: the parameter of shape {tuple(p.shape)} is listed twice")
            known.add(id(p))
        settings = {**self.defaults, **group, "params": params}
        self._check(settings)
        self.param_groups.append(settings)

    def _check(self, group: Group) -> None:
        """Refuse settings that are out of range."""
        self._check_range(group, "lr", 0.0)
        self._check_range(group, "weight_decay", 0.0)

    def _check_range(self, group: Group, setting: str, least: float, below: float | None = None) -> None:
        value = group[setting]
        if not value >= least or (below is not None and not value < below):
            top = "" if below is None else f" and below {below:g}"
            raise ValueError(f"{type(self).__name__}: {setting} is {value}; it must be at least {least:g}{top}")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or with set_to_none=False fill them with zeros.

        >>> weight = minigrad.tensor([1.0], requires_grad=True)
        >>> (weight * 3.0).sum().backward()
        >>> minigrad.optim.SGD([weight]).zero_grad()
        >>> weight.grad is None
        True
        """
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p._grad is None:
                    p._grad = None
                else:
                    p.grad.detach().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Args:
            closure: Called first, if given, to compute the loss and its gradients anew.

        Returns:
            What closure returned.

        >>> weight = minigrad.tensor([1.0], requires_grad=True)
        >>> weight.grad = minigrad.tensor([2.0])
        >>> minigrad.optim.SGD([weight], lr=0.25).step()
        >>> weight.detach()
        tensor([0.5])
        """
        refuse_from_outside(self.param_groups[0]["params"][0], "step()")
        loss = None if closure is None else closure()
        for group in self.param_groups:
            self._update_all([p for p in group["params"] if p._grad is not None], group)
        return loss

    def _update_all(self, params: list[Tensor], group: Group) -> None:
        """Change the parameters of a group that have a gradient."""
        for p in params:
            self._update(p, cast(Tensor, p.grad), group)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        """Change one parameter."""
        raise TypeError(f"{type(self).__name__} does not define how it updates a parameter")

    def state_dict(self) -> dict[str, Any]:
        """Return settings and state, with parameters numbered in the order of the groups. Tensors share memory.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
        >>> optimizer.state_dict()["param_groups"][0]["params"]
        [0]
        """
        numbers = {id(p): number for number, p in enumerate(self._all())}
        groups = [{**group, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        return {"state": {numbers[id(p)]: dict(state) for p, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over settings and state, copied.

        Raises:
            ValueError: If groups, their sizes or the shapes of the state do not match. Nothing is changed then.

        >>> old = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
        >>> new = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.5)
        >>> new.load_state_dict(old.state_dict())
        >>> new.param_groups[0]["lr"]
        0.1
        """
        name, groups = type(self).__name__, state_dict["param_groups"]
        sizes, own = [len(g["params"]) for g in groups], [len(g["params"]) for g in self.param_groups]
        if sizes != own:
            raise ValueError(f"{name}.load_state_dict: the groups have {sizes} parameters, here they have {own}")
        params = dict(zip((int(n) for g in groups for n in g["params"]), self._all(), strict=True))
        state: dict[Tensor, dict[str, Any]] = {}
        for number, values in state_dict["state"].items():
            p = params[int(number)]
            state[p] = {key: _like(value, p, f"{name}.load_state_dict: {key}") for key, value in values.items()}
        for group, loaded in zip(self.param_groups, groups, strict=True):
            group.update({key: value for key, value in loaded.items() if key != "params"})
        self.state = state

    def _all(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {value}" for key, value in sorted(group.items()) if key != "params"]
        return "\n".join([*lines, ")"])


def _like(value: object, p: Tensor, what: str) -> Any:
    """Return a copy of a value of the state, on the parameter's device and in its dtype where it has its shape."""
    if not isinstance(value, Tensor):
        return value
    if tuple(value.shape) != tuple(p.shape):
        raise ValueError(f"{what} has shape {tuple(value.shape)}, its parameter {tuple(p.shape)}")
    return value.detach().to(p.device, p.dtype).clone()


def _listed(params: object, optimizer: str) -> list[Any]:
    """Return an optimizer's parameters or groups as a list.

    Raises:
        TypeError: If it is nothing to go through, such as a module.
        ValueError: If there is nothing in it.
    """
    if hasattr(params, "parameters"):
        raise TypeError(f"{optimizer}: params is a {type(params).__name__}; give its parameters, model.parameters()")
    if not isinstance(params, Iterable):
        raise TypeError(f"{optimizer}: params is {params!r}; give tensors to train, such as model.parameters()")
    listed = list(params)
    if not listed:
        raise ValueError(
            f"{optimizer}: there are no parameters to train; is an iterator used up, or are layers in a plain list, "
            "where a Module does not see them? nn.ModuleList registers them"
        )
    return listed
