"""Runs a snippet of PyTorch with PyTorch, and with minigrad by changed imports, and compares what both leave behind.

Both get the same random numbers: PyTorch draws minigrad's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from pytorch import torch

import minigrad

__all__ = ["FOLDER", "difference", "draw_minigrads_numbers", "names_of", "with_minigrad"]

FOLDER = Path(__file__).with_name("snippets")

# Where minigrad has a module that PyTorch has elsewhere.
MODULES = {"torch.utils.data": "minigrad.data"}
IMPORT = re.compile(r"^(from|import) (torch[\w.]*)(.*)$", re.MULTILINE)


def with_minigrad(text: str) -> str:
    """Return a snippet whose imports name minigrad."""

    def changed(match: re.Match[str]) -> str:
        word, module, rest = match.groups()
        ours = MODULES.get(module, module.replace("torch", "minigrad", 1))
        return f"{word} {ours}{' as torch' if match[0] == 'import torch' else rest}"

    return IMPORT.sub(changed, text)


def names_of(text: str) -> dict[str, Any]:
    """Run a snippet, and return its names with what can be compared: no functions, classes or modules."""
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(text, "snippet", "exec"), names)
    return {name: value for name, value in names.items() if not name.startswith("__") and _comparable(value)}


def _comparable(value: Any) -> bool:
    if isinstance(value, str):  # not devices, which are texts here
        return type(value) is str
    return isinstance(value, Mapping | Sequence | int | float | np.ndarray | np.generic) or _is_tensor(value)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, minigrad.Tensor | torch.Tensor)


def difference(theirs: Any, ours: Any, name: str = "") -> str | None:
    """Return what differs between PyTorch's value and minigrad's, or None."""
    if _is_tensor(theirs):
        return _of_tensors(theirs, ours, name)
    if isinstance(theirs, Mapping):
        if {*theirs} != {*ours}:  # trees of minigrad are sorted by name
            return f"{name}: {list(ours)}, PyTorch has {list(theirs)}"
        return _first(difference(theirs[key], ours[key], f"{name}[{key!r}]") for key in theirs)
    if isinstance(theirs, Sequence) and not isinstance(theirs, str):
        if len(theirs) != len(ours):
            return f"{name}: {len(ours)} values, PyTorch has {len(theirs)}"
        pairs = zip(theirs, ours, strict=True)
        return _first(difference(a, b, f"{name}[{n}]") for n, (a, b) in enumerate(pairs))
    if isinstance(theirs, float):
        same = isinstance(ours, float) and math.isclose(theirs, ours, rel_tol=1e-4, abs_tol=1e-6)
    elif isinstance(theirs, np.ndarray | np.generic):
        same = np.asarray(ours).dtype == theirs.dtype and np.allclose(theirs, ours)
    elif isinstance(theirs, int | str):
        same = isinstance(ours, type(theirs) if theirs.__class__ is not bool else int) and theirs == ours
    else:
        same = not _comparable(theirs)
    return None if same else f"{name}: {ours!r}, PyTorch has {theirs!r}"


def _first(found: Any) -> str | None:
    return next(filter(None, found), None)


def _of_tensors(theirs: Any, ours: Any, name: str) -> str | None:
    if not isinstance(ours, minigrad.Tensor):
        return f"{name}: {ours!r}, PyTorch has a tensor"
    a, b = theirs.detach().numpy(), ours.detach().numpy()
    for what, x, y in (("type", a.dtype, b.dtype), ("shape", a.shape, b.shape)):
        if x != y:
            return f"{name}: {what} {y}, PyTorch's is {x}"
    if theirs.requires_grad != ours.requires_grad:
        return f"{name}: requires_grad {ours.requires_grad}, PyTorch's is {theirs.requires_grad}"
    if not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
        return f"{name}: {ours}, PyTorch has {theirs}"
    return None


def draw_minigrads_numbers(patch: Callable[[Any, str, Any], None]) -> None:
    """Let PyTorch's random functions, and so its layers' first weights, draw minigrad's numbers.

    Args:
        patch: Replaces an attribute for the length of a test, such as `pytest.MonkeyPatch.setattr`.
    """

    def like(made: Any) -> Any:
        return torch.from_numpy(made.numpy())

    def fill(draw: Callable[..., Any]) -> Callable[..., Any]:
        def filled(x: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
            with torch.no_grad():
                return x.copy_(like(draw(a, b, tuple(x.shape))))

        return filled

    stream, tensors = minigrad.manual_seed(0), torch.Tensor  # or the test is skipped here
    for name in ("torch._dynamo", "torch.utils.data"):  # the first puts its own functions in some of these places
        import_module(name)
    patch(import_module("torch"), "manual_seed", minigrad.manual_seed)
    patch(import_module("torch"), "Generator", minigrad.Generator)
    for name in ("rand", "randn", "randint", "randperm", "randn_like", "rand_like"):
        patch(import_module("torch"), name, _drawn(name))
    patch(import_module("torch.utils.data.dataset"), "randperm", _drawn("randperm"))
    patch(tensors, "uniform_", fill(stream.uniform))
    patch(tensors, "normal_", fill(stream.normal))


def _drawn(name: str) -> Callable[..., Any]:
    ours = getattr(minigrad, name)

    def draw(*args: Any, **options: Any) -> Any:
        options = {key: value for key, value in options.items() if key not in ("device", "layout", "pin_memory")}
        args = tuple(minigrad.from_numpy(x.detach().numpy()) if isinstance(x, torch.Tensor) else x for x in args)
        if options.get("dtype") is not None:
            options["dtype"] = str(options["dtype"]).removeprefix("torch.")
        return torch.from_numpy(ours(*args, **options).numpy())

    return draw
