"""Write what type checkers read of names that are made when the library runs.

That is src/minigrad/__init__.pyi, of what is imported when it is first used, and the stubs in src/minigrad/elementwise,
of what its table gives.

Usage: python scripts/types_of_names.py
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import minigrad
from minigrad import elementwise, functions, nn
from minigrad.elementwise.entry import OPS
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor

HEAD = '''"""What the table gives {}, for type checkers alone: written by scripts/types_of_names.py."""

{}from minigrad.tensors import Tensor
'''
MORE = """from typing import Any

from minigrad.functions import Elementwise
from minigrad.scalar import Scalar
"""


def stubs() -> Iterator[tuple[Path, str]]:
    """Yield each file and its text."""
    yield Path(minigrad.__file__).with_suffix(".pyi"), "\n".join(top_level()) + "\n"
    for name, lines in {"": derived, "_functions": derived_functions, "_modules": derived_modules}.items():
        yield Path(elementwise.__file__).with_name(f"derived{name}.pyi"), "\n".join(lines())


def top_level() -> Iterator[str]:
    """Yield what ``import minigrad`` gives: modules, names, types of numbers, and methods of tensors as functions."""
    yield '"""What `import minigrad` gives, for type checkers alone: written by scripts/types_of_names.py."""\n'
    yield "import builtins\nfrom typing import Any\n\nimport numpy as np\n"
    modules = [name for name in minigrad.__all__ if isinstance(getattr(minigrad, name), ModuleType)]
    for name in sorted({*modules, *minigrad._lazy_modules}):
        yield f"from minigrad import {name} as {name}"
    names = {name: minigrad._lazy_names.get(name) for name in minigrad.__all__ if name not in modules}
    names = {
        name: place or getattr(minigrad, name).__module__.removeprefix("minigrad.") for name, place in names.items()
    }
    for name, place in sorted((names | minigrad._lazy_names).items()):
        yield f"from minigrad.{place} import {name} as {name}"
    for name, place in minigrad._moved_modules.items():
        package, _, module = place.rpartition(".")
        yield f"from minigrad.{package} import {module}" + (f"\n{name} = {module}" if name != module else f" as {name}")
    yield "from minigrad.tensors.devices import Device\n"
    yield "device = Device"
    yield "__version__: str"
    for name, dtype in minigrad._dtypes.items():
        yield f"{name}: np.dtype[np.{dtype}]" if dtype != "bool" else f"{name}: np.dtype[np.bool_]"
    for name, value in minigrad._constants.items():
        yield f"{name}: {'None' if value is None else 'builtins.float'}"
    for name in sorted(minigrad._methods):
        yield f"{name} = Tensor.{name}"
    yield "\ndef load_ipython_extension(shell: Any) -> None: ..."


def derived() -> Iterator[str]:
    """Yield the classes and functions of `minigrad.functions`, then the methods of `Scalar` and `Tensor`."""
    yield HEAD.format("`minigrad.functions`, Scalar and Tensor", MORE)
    for op in OPS.values():
        if not op.written:
            yield from documented(f"class {op.function}(Elementwise):", getattr(functions, op.function))
    for op in OPS.values():
        if op.generic:
            inputs = ", ".join(f"{name}: Any" for name in op.inputs)
            yield from documented(f"def {op.generic}({inputs}) -> Any:", getattr(functions, op.generic))
    yield "class OfScalars:"
    for op in OPS.values():
        if op.method and op.of_numbers:
            yield from documented(f"    def {op.method}(self) -> Scalar:", getattr(Scalar, op.method))
    yield "class OfTensors:"
    for op in OPS.values():
        for name in [f"{op.method}{end}" for end in ("", "_")[: 1 + op.in_place] if op.method]:
            yield from documented(f"    def {name}(self) -> Tensor:", getattr(Tensor, name))


def derived_functions() -> Iterator[str]:
    """Yield the functions of `minigrad.nn.functional`."""
    yield HEAD.format("`minigrad.nn.functional`", "")
    for op in OPS.values():
        if op.module:
            yield from documented(f"def {op.method}(input: Tensor) -> Tensor:", getattr(nn.functional, op.method))


def derived_modules() -> Iterator[str]:
    """Yield the modules of `minigrad.nn`."""
    yield HEAD.format("`minigrad.nn`", "from minigrad.nn.module import Module\n")
    for op in OPS.values():
        if op.module:
            yield from documented(f"class {op.module}(Module):", getattr(nn, op.module))
            yield "    def forward(self, input: Tensor) -> Tensor: ...\n"


def documented(head: str, value: Callable[..., Any]) -> Iterator[str]:
    """Yield the first line of a definition, and the docstring that the library gives it."""
    text = (value.__doc__ or "").rstrip()
    quoted = f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'
    yield head
    yield indent(f"{quoted}\n", " " * (len(head) - len(head.lstrip()) + 4))


if __name__ == "__main__":
    for place, text in stubs():
        place.write_text(text, encoding="utf-8")
