"""The base of all optimizers: groups of parameters with their settings, and the state of each parameter."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from minigrad.machine.missing import missing
from minigrad.tensors import Tensor
from minigrad.tensors.inplace import refuse_from_outside

Group = dict[str, Any]
Parameters = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]

_WITHOUT_EFFECT = ("foreach", "fused", "capturable")
_made: set[frozenset[str]] = set()
"""The settings of each kind of optimizer that has been made."""
_REFUSED = {
    "amsgrad": "leave it out, or use RMSprop or Adagrad",
    "differentiable": "a step is not recorded: write it out with tensors to differentiate through it",
}


class Optimizer:
    """Changes parameters by their gradients.

    Args:
        params: The parameters, pairs of a name and a parameter, or dictionaries, each with ``"params"`` and settings
            for them.
        defaults: The settings of groups that do not have their own.

    Attributes:
        param_groups: The groups: dictionaries of settings, with the list of parameters under ``"params"``, and their
            names, if they have any, under ``"param_names"``. A dictionary that was given is the group itself.
        state: For each parameter, the optimizer's memory of it: a dictionary, empty at first.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
    >>> optimizer.param_groups[0]["lr"]
    0.1
    """

    def __init__(self, params: Parameters, defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        _made.add(frozenset(self.defaults))
        self.param_groups: list[Group] = []
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        if isinstance(params, Tensor):
            raise TypeError(f"{type(self).__name__}: params is one Tensor; give a list, [tensor]")
        listed = _listed(params, type(self).__name__)
        for group in listed if isinstance(listed[0], dict) else [{"params": listed}]:
            self.add_param_group(group)

    if not TYPE_CHECKING:  # names that are not there are errors of mypy's

        def __getattr__(self, name: str) -> Any:
            raise missing("minigrad.optim.Optimizer", name, self)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with settings of their own.

        Args:
            param_group: The parameters, or pairs of a name and a parameter, under ``"params"``, settings that differ
                from the defaults, and anything else, such as ``"name"``. The defaults are filled in.

        Raises:
            TypeError: If it is no dictionary, or a parameter is no Tensor.
            ValueError: If a parameter is no leaf, is in another group already, or a setting is misspelt, another
                optimizer's, or out of range; and if some parameters have names and others have none. Nothing is
                changed then.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=0.1)
        >>> optimizer.add_param_group({"params": [minigrad.zeros(3, requires_grad=True)], "lr": 0.01})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.1, 0.01]
        """
        name = type(self).__name__
        if not isinstance(param_group, dict):
            raise TypeError(f"{name}: a group of parameters is a dictionary, got a {type(param_group).__name__}")
        settings = {**self.defaults, **param_group, **_parameters_of(param_group, name)}
        known = {id(p) for other in self.param_groups for p in other["params"]}
        for p in settings["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"{name} trains tensors, got a {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError(f"{name} trains leaves, and the tensor of shape {tuple(p.shape)} is a result")
            if id(p) in known:
                raise ValueError(f"{name}: the parameter of shape {tuple(p.shape)} is listed twice")
            known.add(id(p))
        if any(("param_names" in settings) != ("param_names" in other) for other in self.param_groups):
            raise ValueError(f"{name}: some groups have names of parameters, and others have none; name all or none")
        self._check_names(param_group)
        self._check(settings)
        param_group.update(settings)
        self.param_groups.append(param_group)

    def _check_names(self, group: Group) -> None:
        """Refuse what must be a mistake among a group's keys: a setting misspelt, or one of another optimizer.

        A group that was made by another optimizer has all of its settings, and is taken.
        """
        for key in group.keys() - self.defaults.keys() - {"params", "param_names"}:
            others = [settings for settings in _settings_of_all(Optimizer) if key in settings]
            meant = get_close_matches(str(key), self.defaults, n=1, cutoff=0.85)
            made = any(key in settings and settings <= group.keys() for settings in _made)
            if (others or meant) and not made:
                raise ValueError(f"{type(self).__name__} has no setting {key}; it has {', '.join(self.defaults)}")

    def _check(self, group: Group) -> None:
        """Refuse settings that are out of range."""
        for setting in ("lr", "weight_decay"):
            if setting in group:
                self._check_range(group, setting, 0.0)
        for setting, advice in _REFUSED.items():
            if group.get(setting):
                raise ValueError(f"{type(self).__name__}: torch's {setting} is not in minigrad; {advice}")

    def _check_range(self, group: Group, setting: str, least: float, below: float | None = None) -> None:
        value = group[setting]
        if isinstance(value, Tensor):
            raise TypeError(f"{type(self).__name__}: {setting} is a Tensor; give a number, such as {setting}.item()")
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
        first = next((p for group in self.param_groups for p in group["params"]), None)
        refuse_from_outside(first, "step()")
        loss = None if closure is None else closure()
        for group in self.param_groups:
            self._update_all([p for p in group["params"] if p._grad is not None], group)
        return loss

    def _update_all(self, params: list[Tensor], group: Group) -> None:
        """Change the parameters of a group that have a gradient."""
        upwards = group.get("maximize")
        for p in params:
            grad = cast(Tensor, p.grad)
            self._update(p, -grad.detach() if upwards else grad, group)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        """Change one parameter."""
        raise TypeError(f"{type(self).__name__} does not define how it updates a parameter")

    def state_dict(self) -> dict[str, Any]:
        """Return settings and state, with parameters numbered in the order of the groups. Tensors share memory."""
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
        state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
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


def _parameters_of(group: Group, optimizer: str) -> dict[str, Any]:
    """Return a group's parameters as a list, and their names, if they are given as pairs."""
    params = group["params"]
    if isinstance(params, set | frozenset):
        raise TypeError(f"{optimizer}: a set has no order, by which parameters are numbered in a state; give a list")
    listed = [params] if isinstance(params, Tensor) else list(params)
    names = [p[0] for p in listed if isinstance(p, tuple)]
    if not names:
        return {"params": listed}
    if len(names) != len(listed):
        raise ValueError(f"{optimizer}: {len(names)} of {len(listed)} parameters have names; name all or none")
    return {"params": [p[1] for p in listed], "param_names": names}


def _settings_of_all(base: type[Optimizer]) -> list[frozenset[str]]:
    """Return the settings of each of the library's optimizers."""
    kinds = [kind for kind in base.__subclasses__() if kind.__module__.startswith("minigrad.")]
    return [_settings_of(kind) for kind in kinds] + [found for kind in kinds for found in _settings_of_all(kind)]


def _settings_of(kind: Callable[..., Optimizer]) -> frozenset[str]:
    return frozenset(inspect.signature(kind).parameters) - {"params", *_REFUSED, *_WITHOUT_EFFECT}


def _listed(params: object, optimizer: str) -> list[Any]:
    """Return an optimizer's parameters or groups as a list.

    Raises:
        TypeError: If it is nothing to go through, such as a module.
        ValueError: If there is nothing in it.
    """
    if hasattr(params, "parameters"):
        raise TypeError(f"{optimizer}: params is a {type(params).__name__}; give its parameters, model.parameters()")
    if isinstance(params, set | frozenset) or not isinstance(params, Iterable):
        raise TypeError(f"{optimizer}: params is {params!r}; give tensors to train, such as model.parameters()")
    listed = list(params)
    if not listed:
        raise ValueError(
            f"{optimizer}: there are no parameters to train; is an iterator used up, or are layers in a plain list, "
            "where a Module does not see them? nn.ModuleList registers them"
        )
    return listed
