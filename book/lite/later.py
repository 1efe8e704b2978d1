"""Packages that are loaded when a module of theirs is imported, wherever that is done. It runs in the site's Python.

Pyodide looks at the imports of a cell alone, before it runs. The library imports NumPy, Matplotlib and widgets in the
functions that need them, and a lesson's first cells call none of these.
"""

from __future__ import annotations

import importlib
import io
import json
import site
import sys
import zipfile
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

__all__ = ["Later", "begin"]


class Later(MetaPathFinder):
    """Finds a module that no other finder has found by loading its package.

    Args:
        packages: Packages by name, as in `pyodide-lock.json`.
        loaded: Has an attribute for each package that is there, as `pyodide.loadedPackages`, and gets more.
        bring: Returns what a file of the site holds; None if it does not come.
        folder: Where packages are installed.
    """

    def __init__(
        self, packages: dict[str, Any], loaded: Any, bring: Callable[[str], bytes | None], folder: str
    ) -> None:
        self.packages = {name: each for name, each in packages.items() if each["package_type"] == "package"}
        self.loaded, self.bring, self.folder = loaded, bring, folder
        self.package_of = {module: name for name, each in self.packages.items() for module in each["imports"]}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module is, once its package is there; None if no package has it."""
        package = self.package_of.get(name)
        if package is None or hasattr(self.loaded, package):
            return None
        self._load(package)
        return PathFinder.find_spec(name, path)

    def _load(self, package: str) -> None:
        """Load a package; those that it depends on come when it imports them."""
        file = self.packages[package]["file_name"]
        if (content := self.bring(file)) is None:
            raise ImportError(f"{package} is not there: the site does not send {file}; is the network there?")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(self.folder)
        setattr(self.loaded, package, "default channel")  # as Pyodide says of its own
        importlib.invalidate_caches()


def begin(packages: str, loaded: Any, bring: Callable[[str], Any]) -> list[str]:
    """Find modules of packages that are not there yet, from now on.

    Args:
        packages: The text of `pyodide-lock.json`.
        loaded: As for `Later`.
        bring: Returns a JavaScript buffer with what a file of the site holds; None if it does not come.

    Returns:
        The files of packages that the library may ask for.
    """

    def content(file: str) -> bytes | None:
        return None if (found := bring(file)) is None else found.to_bytes()

    later = Later(json.loads(packages)["packages"], loaded, content, site.getsitepackages()[0])
    sys.meta_path.append(later)
    return [later.packages[package]["file_name"] for package in later.packages if not hasattr(loaded, package)]
