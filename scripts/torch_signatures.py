"""Read PyTorch's signatures: those of functions in C stand in stub files, overload by overload."""

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path

Parameter = inspect.Parameter
# Where the stubs of a place are: a file beside torch's own, and the class in it.
STUBS = {
    "torch": (("_C/_VariableFunctions.pyi", ""), ("_C/__init__.pyi", "")),
    "torch.Tensor": (("_C/__init__.pyi", "TensorBase"),),
    "torch.nn.functional": (("nn/functional.pyi", ""), ("_C/_nn.pyi", ""), ("_C/_VariableFunctions.pyi", "")),
}


def written(arguments: ast.arguments) -> inspect.Signature:
    """Return a signature as it is written in a stub; a default is its text."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found = [
        Parameter(x.arg, Parameter.POSITIONAL_OR_KEYWORD, default=_value(d))
        for x, d in zip(plain, defaults, strict=True)
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    found += [
        Parameter(x.arg, Parameter.KEYWORD_ONLY, default=_value(d))
        for x, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    required = [i for i, x in enumerate(found) if x.default is Parameter.empty]
    # A stub may have a default before a parameter without one, which Python's own class refuses.
    last = max((i for i in required if found[i].kind is Parameter.POSITIONAL_OR_KEYWORD), default=-1)
    return inspect.Signature(
        [
            x.replace(default=Parameter.empty) if i < last and x.kind is not Parameter.KEYWORD_ONLY else x
            for i, x in enumerate(found)
        ]
    )


def _value(node: ast.expr | None) -> object:
    if node is None:
        return Parameter.empty
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


@cache
def stub(file: str, within: str) -> dict[str, list[inspect.Signature]]:
    """Return the signatures in a stub file, or of a class in it, by name."""
    root = Path(importlib.import_module("torch").__file__).parent
    body = ast.parse((root / file).read_text(encoding="utf-8")).body
    if within:
        body = next(x for x in body if isinstance(x, ast.ClassDef) and x.name == within).body
    found: dict[str, list[inspect.Signature]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(written(node.args))
    return found


def signatures(place: str, owner: object, name: str) -> list[inspect.Signature]:
    """Return what a function, method or class of a place takes, one signature for each overload."""
    value = getattr(owner, name)
    if inspect.isfunction(value):
        own = inspect.signature(value)
        if all(x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD) for x in own.parameters.values()):
            return [own]
    for file, within in STUBS.get(place, ()):
        if not isinstance(value, type) and name in stub(file, within):
            return stub(file, within)[name]
    try:
        return [inspect.signature(value)]
    except (TypeError, ValueError):
        return []
