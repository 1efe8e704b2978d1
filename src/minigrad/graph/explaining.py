"""Sentences about a call of a jitted function: why it would be traced again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.graph.capturing import Captured
from minigrad.graph.forms import Call
from minigrad.graph.program import Var
from minigrad.transforms.trees import unlike


def differences(call: Call, known: Call, paths: Sequence[str]) -> list[str]:
    """Return what a call has that another one had not.

    Args:
        call: The form of the call.
        known: That of the other one.
        paths: The path of each leaf of the call.
    """
    (given, named), (given_before, named_before) = call.structure.children, known.structure.children
    if len(given.children) != len(given_before.children):
        count, of_old = len(given.children), len(given_before.children)
        return [f"it is called with {count} positional arguments, and was called with {of_old}"]
    if named.rest != named_before.rest:
        names = [", ".join(each.rest) or "none" for each in (named, named_before)]
        return [f"the keyword arguments are {names[0]}, and were {names[1]}"]
    keys = [*range(len(given.children)), *named.rest]
    before = [*given_before.children, *named_before.children]
    for key, new, old in zip(keys, (*given.children, *named.children), before, strict=True):
        if new != old:
            return [f"{unlike(new, old, f'argument {key}').replace(': ', ' is ', 1).replace(' and ', ', and was ')}"]
    if call.orders != known.orders:
        orders = next((new, old) for new, old in zip(call.orders, known.orders, strict=True) if new != old)
        keys = [", ".join(map(repr, order)) for order in orders]
        return [f"a dictionary has its keys in the order {keys[0]}, and had them in the order {keys[1]}"]
    pairs = zip(paths, call.specs, known.specs, strict=True)
    found = [f"{path} is {_shown(new)}, and was {_shown(old)}" for path, new, old in pairs if new != old]
    if call.device != known.device:
        found.append(f"the tensors are on {call.device}, and were on {known.device}")
    if call.float_type != known.float_type:
        found.append(f"the default type of floats is {call.float_type}, and was {known.float_type}")
    if call.state[0] != known.state[0]:
        found.append(f"the backend is {call.state[0]!r}, and was {known.state[0]!r}")
    elif call.state != known.state:
        found.append("other answers stand in the library than before")
    return found


def _shown(spec: Any) -> str:
    if spec[0] == "object":
        return f"an object of {spec[1].__name__}"
    return Var(*spec[1:]).type if spec[0] == "tensor" else repr(_thawed(spec[1]))


def _thawed(value: Any) -> Any:
    """Return the value that `frozen` has made hashable."""
    kind, content = value
    if kind in ("tuple", "list"):
        return tuple(map(_thawed, content))
    return float.fromhex(content) if kind is float else content


def captured_differences(now: Captured, known: Captured) -> list[str]:
    """Return what a function captures now that is not what it has captured before.

    >>> from minigrad.graph.capturing import Captured
    >>> from minigrad.graph.explaining import captured_differences
    >>> settings, fun = 2.0, lambda x: x * settings
    >>> known = Captured(fun)
    >>> settings = 5.0
    >>> captured_differences(Captured(fun), known)
    ['settings is 5.0, and was 2.0']
    """
    pairs = [
        (path, now.leaves.get(place), known.leaves.get(place))
        for place, (path, _) in {**known.leaves, **now.leaves}.items()
    ]
    found = [f"{path} is {_held(new)}, and was {_held(old)}" for path, new, old in pairs if new != old]
    return found or ["a tensor whose elements the function looks at has changed, or what the function itself changes"]


def _held(leaf: tuple[str, Any] | None) -> str:
    """Return in words what a function captures in a place."""
    if leaf is None:
        return "not there"
    _, what = leaf
    kind, *rest = what
    if kind in ("tensor", "value"):
        return _shown(what)
    if kind == "array":
        return f"an array {rest[0]} of certain elements"
    if kind == "container":
        return f"a {rest[0].__name__} of {rest[1]} items"
    return {"function": "a function", "object": f"of type {getattr(rest[0], '__name__', '')}"}.get(kind, "other values")
